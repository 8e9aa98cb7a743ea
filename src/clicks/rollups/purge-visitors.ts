import { removeDeletedBytes } from "../../sql/deleted-bytes.ts";
import type { Sql } from "../../sql/sql.ts";

/**
 * Deletes the salts of days that are over, and the hashes of their visitors: from then on, nobody can tell who visited. The
 * hour is for clicks of the day's last minutes that are still on their way.
 */
export const visitorsKeptMs = 60 * 60_000;
/** A few milliseconds on SQLite. */
const rowsAtOnce = 5_000;

export async function forgetVisitors(sql: Sql, now: number): Promise<number> {
  const deleted = await deleteVisitors(sql, now);
  // Also if nothing was deleted: the log may have been busy after the last run.
  await removeDeletedBytes(sql);
  return deleted;
}

async function deleteVisitors({ db }: Sql, now: number): Promise<number> {
  const over = now - visitorsKeptMs;
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
