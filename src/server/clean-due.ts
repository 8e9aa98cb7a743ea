import { dayMs } from "../base/clock.ts";
import { idAt } from "../base/ids.ts";
import type { Core } from "../core.ts";
import { trashDays } from "../links/trash/trash-store.ts";
import { createFeed } from "../sql/feed.ts";
import { firstKeptMonth } from "../sql/leases.ts";
import { databaseTime } from "../sql/sql.ts";
import { type Params, statement } from "../sql/statement.ts";
import { acrossTenants, type Db } from "../sql/tenant-db.ts";

/** How long the job `clean` keeps things (`background-work.ts`). */
export const expiredLinkDays = 365;
export const feedDays = 1;
export const emailDays = 90;

/**
 * Whether the job `clean` has something to do, as far as an index knows: the serving thread asks. Sessions, devices, recorders,
 * history and workspaces have no index by their end, so the job also runs a few times a day without being asked.
 */
export async function hasToClean({ sql, clock }: Pick<Core, "sql" | "clock">): Promise<boolean> {
  const now = clock.now();
  const before = {
    links: now - expiredLinkDays * dayMs,
    month: firstKeptMonth(now),
    emails: now - emailDays * dayMs,
    email: idAt("email", now - emailDays * dayMs),
    answers: await databaseTime(sql),
    signIns: now,
    trashed: now - trashDays * dayMs,
  };
  if (await createFeed(sql).hasBefore(now - feedDays * dayMs)) return true;
  for (const old of olds) if ((await old.first(sql.db, before)) !== undefined) return true;
  return false;
}

interface Before {
  readonly links: number;
  readonly month: string;
  readonly emails: number;
  readonly email: string;
  readonly answers: number;
  readonly signIns: number;
  readonly trashed: number;
}
type Given = Params<Before>;

const olds = [
  statement((db: Db, { links }: Given) =>
    acrossTenants(db).selectFrom("links").select("id").where("expires_at", "<", links).limit(1),
  ),
  statement((db: Db, { month }: Given) => db.selectFrom("leases").select("id").where("month", "<", month).limit(1)),
  statement((db: Db, { email, emails }: Given) =>
    acrossTenants(db)
      .selectFrom("emails")
      .select("id")
      .where("id", "<", email as never)
      .where("finished_at", "<", emails)
      .limit(1),
  ),
  statement((db: Db, { answers }: Given) =>
    acrossTenants(db).selectFrom("idempotency").select("key_hash as id").where("expires_at", "<=", answers).limit(1),
  ),
  statement((db: Db, { signIns }: Given) =>
    db.selectFrom("person_tokens").select("hash as id").where("expires_at", "<=", signIns).limit(1),
  ),
  statement((db: Db, { trashed }: Given) =>
    acrossTenants(db).selectFrom("trashed_links").select("id").where("deleted_at", "<", trashed).limit(1),
  ),
];
