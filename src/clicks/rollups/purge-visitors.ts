import { removeDeletedBytes } from "../../sql/deleted-bytes.ts";
import type { Sql } from "../../sql/sql.ts";
import { type Params, statement } from "../../sql/statement.ts";
import type { Db } from "../../sql/tenant-db.ts";

/**
 * Deletes the salts of days that are over, and the hashes of their visitors: from then on, nobody can tell who visited. The
 * hour is for clicks of the day's last minutes that are still on their way.
 */
export const visitorsKeptMs = 60 * 60_000;
/** Days that ended before this are over. */
const overBefore = (now: number): number => now - visitorsKeptMs;
/** A few milliseconds on SQLite. */
const rowsAtOnce = 5_000;

/** A row of `walks`: there may be deleted bytes on the disk. */
const noteName = "deleted-visitors";

export async function forgetVisitors(sql: Sql, now: number): Promise<number> {
  const { db } = sql;
  if (!(await hasVisitorsToForget(sql, now))) return 0;
  // Before the first is deleted, so that a server that is killed in between continues after its next start.
  await db
    .insertInto("walks")
    .values({ name: noteName, position: "" })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
  const deleted = await deleteVisitors(sql, now);
  // If the log is busy, the next run tries again.
  if (await removeDeletedBytes(sql)) await db.deleteFrom("walks").where("name", "=", noteName).execute();
  return deleted;
}

/** For the serving thread: three reads, each by an index. */
export async function hasVisitorsToForget({ db }: Sql, now: number): Promise<boolean> {
  const over = overBefore(now);
  return (
    (await selectOldSalt.first(db, { over })) !== undefined ||
    (await selectOldVisitor.first(db, { over })) !== undefined ||
    (await selectNote.first(db)) !== undefined
  );
}

async function deleteVisitors({ db }: Sql, now: number): Promise<number> {
  const over = overBefore(now);
  await db
    .updateTable("click_days")
    .set({ salt: null })
    .where("salt", "is not", null)
    .where("until", "<", over)
    .execute();
  const old = () => db.selectFrom("click_visitors").where("until", "<", over);
  for (let deleted = 0; ; ) {
    const first = await old().select("until").orderBy("until").limit(1).executeTakeFirst();
    if (first === undefined) return deleted;
    const { until } = first;
    const last = await old()
      .select(["subject", "hash"])
      .where("until", "=", until)
      .orderBy("subject")
      .orderBy("hash")
      .offset(rowsAtOnce - 1)
      .limit(1)
      .executeTakeFirst();
    const some = db.deleteFrom("click_visitors").where("until", "=", until);
    const { numDeletedRows } = await (last === undefined
      ? some
      : some.where((row) =>
          row.or([
            row("subject", "<", last.subject),
            row.and([row("subject", "=", last.subject), row("hash", "<=", last.hash)]),
          ]),
        )
    ).executeTakeFirst();
    deleted += Number(numDeletedRows);
  }
}

interface Over {
  readonly over: number;
}

const selectOldSalt = statement((db: Db, { over }: Params<Over>) =>
  db.selectFrom("click_days").select("until").where("salt", "is not", null).where("until", "<", over).limit(1),
);

const selectOldVisitor = statement((db: Db, { over }: Params<Over>) =>
  db.selectFrom("click_visitors").select("until").where("until", "<", over).limit(1),
);

const selectNote = statement((db: Db) => db.selectFrom("walks").select("name").where("name", "=", noteName));
