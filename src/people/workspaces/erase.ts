import { setImmediate as letOthers } from "node:timers/promises";
import type { Clock } from "../../base/clock.ts";
import type { TenantId } from "../../base/ids.ts";
import { type Actor, recordHistory } from "../../history/history.ts";
import type { TrashStore } from "../../links/trash/trash-store.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant } from "../../sql/tenant-db.ts";
import { raiseVersions } from "../../sql/versions.ts";
import { raisedTenant } from "../../tenants/tenant-number.ts";

/**
 * Erases workspaces whose 30 days are over, in short steps that can be repeated: a run that is interrupted continues with the
 * next one, because the row of the workspace goes last.
 *
 * 1. Its files are marked as deleted. The sweep of files removes them from the storage, and then their rows; until that is
 *    done, the rest waits.
 * 2. Its links and domains. Codes on the server's own domain stay taken: nobody else may get an address that was printed once.
 * 3. Everything else of it, and the row. Its clicks have its number, which nothing leads to any more; the job that
 *    deletes old clicks finds them (`clicks/rollups/purge-tenants.ts`).
 */
export interface EraseSettings {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly trash: Pick<TrashStore, "eraseSome">;
}

const rowsAtOnce = 200;
const workspacesAtOnce = 100;
const byErasing: Actor = { kind: "job", name: "erase-workspaces" };

/** Returns how many are gone. */
export async function eraseWorkspaces(settings: EraseSettings): Promise<number> {
  const { sql, clock } = settings;
  const due = sql.db.selectFrom("tenants").select(["id", "slug"]).where("delete_at", "<=", clock.now());
  let erased = 0;
  for (const { id, slug } of await due.orderBy("delete_at").limit(workspacesAtOnce).execute()) {
    if (!(await condemnFiles(sql, id))) continue;
    await eraseLinks(settings, id);
    await eraseDomains(settings, id);
    for (const [table, key] of pagedTables) await erasePages(sql, id, table, key);
    await eraseRow(settings, id, slug);
    erased++;
  }
  return erased;
}

/** Whether none is left. */
async function condemnFiles(sql: Sql, tenant: TenantId): Promise<boolean> {
  for (;;) {
    const own = ofTenant(sql.db, tenant);
    const some = await own
      .selectFrom("files")
      .select("id")
      .where("state", "<>", "deleting")
      .limit(rowsAtOnce)
      .execute();
    if (some.length === 0) break;
    const ids = some.map(({ id }) => id);
    await own.updateTable("files").set({ state: "deleting" }).where("id", "in", ids).execute();
    await letOthers();
  }
  const left = ofTenant(sql.db, tenant).selectFrom("files").select("id").limit(1);
  return (await left.executeTakeFirst()) === undefined;
}

async function eraseLinks({ sql, clock, trash }: EraseSettings, tenant: TenantId): Promise<void> {
  for (let left = true; left; await letOthers()) {
    left = await sql.transaction(async (trx) => {
      const own = ofTenant(trx, tenant);
      const links = own.selectFrom("links").select(["id", "domain", "code"]).orderBy("id").limit(rowsAtOnce);
      const rows = await sql.forUpdate(links).execute();
      if (rows.length === 0) return false;
      await raiseVersions(sql, trx, { links: rows, state: "deleted" }, clock.now());
      const ids = rows.map(({ id }) => id);
      await own.deleteFrom("links").where("id", "in", ids).execute();
      return true;
    });
  }
  while ((await trash.eraseSome(tenant, rowsAtOnce, byErasing, clock.now())) >= rowsAtOnce) await letOthers();
}

/** There are at most a hundred. */
async function eraseDomains({ sql, clock }: EraseSettings, tenant: TenantId): Promise<void> {
  await sql.transaction(async (trx) => {
    const own = ofTenant(trx, tenant);
    const rows = await sql.forUpdate(own.selectFrom("domains").select(["host", "state"]).orderBy("host")).execute();
    const hosts = rows.filter(({ state }) => state === "verified").map(({ host }) => host);
    await raiseVersions(sql, trx, { kind: "domain", keys: hosts }, clock.now());
    await own.deleteFrom("domains").execute();
  });
}

/** What a workspace may have many of, and a column by which to take some. The rest goes with its row, or is one row. */
const pagedTables = [
  ...([
    ["emails", "id"],
    ["history", "id"],
    ["imports", "id"],
    ["api_keys", "id"],
    ["idempotency", "key_hash"],
    ["annotations", "id"],
    ["stats_shares", "id"],
    ["link_imports", "id"],
  ] as const),
  ...([
    ["suppressions", "address"],
    ["click_links", "link"],
    ["click_history", "link"],
    ["click_notices", "link"],
  ] as const),
] as const;

async function erasePages(sql: Sql, tenant: TenantId, table: string, key: string): Promise<void> {
  // All of these tables have the column; the types of one stand for all.
  const [from, column] = [table as "emails", key as "id"];
  for (;;) {
    const own = ofTenant(sql.db, tenant);
    const rows = await own.selectFrom(from).select(column).limit(rowsAtOnce).execute();
    if (rows.length === 0) return;
    const keys = rows.map((row) => row[column]);
    await own.deleteFrom(from).where(column, "in", keys).execute();
    await letOthers();
  }
}

async function eraseRow({ sql, clock }: EraseSettings, tenant: TenantId, slug: string): Promise<void> {
  await sql.transaction(async (trx) => {
    const own = ofTenant(trx, tenant);
    const members = await own.selectFrom("members").select("person_id").execute();
    const keys = members.map((row) => row.person_id);
    await raiseVersions(sql, trx, [{ kind: "session", keys }, await raisedTenant(trx, tenant)], clock.now());
    await own.deleteFrom("email_settings").execute();
    await own.deleteFrom("tenant_storage").execute();
    await trx.deleteFrom("tenants").where("id", "=", tenant).execute();
    await recordHistory(trx, clock, {
      ...{
        tenant: "",
        actor: byErasing,
        action: "workspace.erase",
        subject: { kind: "workspace", id: tenant, name: slug },
      },
    });
  });
}
