import { dayMs } from "../base/clock.ts";
import { type HistoryId, idAt, type LinkId } from "../base/ids.ts";
import type { Sql } from "../sql/sql.ts";
import { acrossTenants } from "../sql/tenant-db.ts";

/**
 * Deletes rows of the history that are too old. The rows of a link are kept while it exists or is in the trash, so that
 * undo reaches back to its creation; `links/past/link-history.ts` bounds their number.
 *
 * IDs sort by time, so old rows are at the front of the table. Rows of links that stay are passed over in each run: it goes
 * through the old rows once, in short statements.
 */
export async function purgeHistory(sql: Sql, now: number, days: number, pageRows = 500): Promise<number> {
  const end = idAt("history", now - days * dayMs);
  const invitationsEnd = idAt("history", now - Math.max(days, invitationDays) * dayMs);
  let deleted = 0;
  for (let after = "" as HistoryId; ; ) {
    const rows = await acrossTenants(sql.db)
      .selectFrom("history")
      .select(["id", "subject_kind", "subject_id"])
      .where("id", ">", after)
      .where("id", "<", end)
      .orderBy("id")
      .limit(pageRows)
      .execute();
    const kept = await keptLinks(
      sql,
      rows.flatMap(({ subject_kind, subject_id }) => (subject_kind === "link" ? [subject_id as LinkId] : [])),
    );
    const isKept = ({ id, subject_kind, subject_id }: (typeof rows)[number]) =>
      subject_kind === "link" ? kept.has(subject_id) : subject_kind === "invitation" && id >= invitationsEnd;
    const old = rows.filter((row) => !isKept(row)).map(({ id }) => id);
    if (old.length > 0) {
      const gone = await acrossTenants(sql.db).deleteFrom("history").where("id", "in", old).executeTakeFirst();
      deleted += Number(gone.numDeletedRows);
    }
    const last = rows.at(-1)?.id;
    if (last === undefined || rows.length < pageRows) return deleted;
    after = last;
  }
}

/** As long as an invitation can live: when a key is revoked, its rows say which ones were made with it. */
const invitationDays = 30;

async function keptLinks({ db }: Sql, ids: readonly LinkId[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const some = [...new Set(ids)];
  const all = acrossTenants(db);
  const live = await all.selectFrom("links").select("id").where("id", "in", some).execute();
  const trashed = await all.selectFrom("trashed_links").select("id").where("id", "in", some).execute();
  return new Set([...live, ...trashed].map(({ id }) => id));
}
