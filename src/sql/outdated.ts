import type { Clock } from "../base/clock.ts";
import type { LinkId, TenantId } from "../base/ids.ts";
import type { Sql } from "./sql.ts";
import { ofTenant, type Trx } from "./tenant-db.ts";
import { raiseVersions } from "./versions.ts";

/**
 * A change of a tenant that its links' answers depend on: its plan, its limits, its suspension. Every link of the tenant
 * needs a new version, or copies of it stay as they were for as long as they are kept. A tenant may have a million links,
 * and one transaction over all of them would hold up everybody.
 *
 * So the change and a note (`outdate`) are one transaction, and the links follow in pages. Each page raises its versions
 * and moves the note on in one transaction, and the last one removes it. Whoever finds a note goes on with it: the
 * command that made the change, and every server, which looks every ten seconds. A process that is killed leaves the
 * note where it was. Another change of the same tenant puts it back to the beginning.
 *
 * Notes are rows of `walks`, named after their tenant, with the id of the last link that is done.
 */
export interface Outdated {
  /** Whether a tenant's links wait for their new versions. */
  pending(): Promise<boolean>;
  /** Until nothing is left: of this tenant, or of all. How many links it raised. */
  finish(tenant?: TenantId): Promise<number>;
}

const prefix = "outdated:";
const afterPrefix = "outdated;"; // the next character
const pageLinks = 200;
const notesAtOnce = 1_000;

/** In the transaction of the change. */
export async function outdate(trx: Trx, tenants: readonly TenantId[]): Promise<void> {
  // In one order, so that two transactions cannot wait for each other; in parts, for a plan may have many tenants.
  const notes = tenants.toSorted().map((tenant) => ({ name: prefix + tenant, position: "" }));
  for (let at = 0; at < notes.length; at += notesAtOnce) {
    await trx
      .insertInto("walks")
      .values(notes.slice(at, at + notesAtOnce))
      .onConflict((conflict) => conflict.column("name").doUpdateSet({ position: "" }))
      .execute();
  }
}

export function createOutdated(sql: Sql, clock: Clock, page = pageLinks): Outdated {
  const notes = () =>
    sql.db.selectFrom("walks").select("name").where("name", ">", prefix).where("name", "<", afterPrefix);

  /** Nothing if nothing is left to do. */
  const raisePage = (tenant: TenantId): Promise<number | undefined> =>
    sql.transaction(async (trx) => {
      const name = prefix + tenant;
      const note = await sql
        .forUpdate(trx.selectFrom("walks").select("position").where("name", "=", name))
        .executeTakeFirst();
      if (note === undefined) return undefined;
      const rows = await ofTenant(trx, tenant)
        .selectFrom("links")
        .select(["id", "domain", "code"])
        .where("id", ">", note.position as LinkId)
        .orderBy("id")
        .limit(page)
        .execute();
      await raiseVersions(sql, trx, { links: rows }, clock.now());
      const last = rows.at(-1)?.id;
      if (last === undefined || rows.length < page) await trx.deleteFrom("walks").where("name", "=", name).execute();
      else await trx.updateTable("walks").set({ position: last }).where("name", "=", name).execute();
      return rows.length;
    });

  async function finishOne(tenant: TenantId): Promise<number> {
    for (let total = 0; ; ) {
      const count = await raisePage(tenant);
      if (count === undefined) return total;
      total += count;
    }
  }

  return {
    async pending() {
      return (await notes().limit(1).executeTakeFirst()) !== undefined;
    },

    async finish(tenant) {
      if (tenant !== undefined) return finishOne(tenant);
      for (let total = 0; ; ) {
        const note = await notes().orderBy("name").limit(1).executeTakeFirst();
        if (note === undefined) return total;
        total += await finishOne(note.name.slice(prefix.length) as TenantId);
      }
    },
  };
}
