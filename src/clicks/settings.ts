import type { Clock } from "../base/clock.ts";
import { invalid } from "../base/errors.ts";
import type { TenantId } from "../base/ids.ts";
import type { Publish } from "../cache/feed.ts";
import { type Actor, differenceOf, recordHistory } from "../history/history.ts";
import type { Sql } from "../sql/sql.ts";
import { type Db, ofTenant, type Trx } from "../sql/tenant-db.ts";
import { raiseVersions } from "../sql/versions.ts";
import { raisedTenant } from "../tenants/tenant-number.ts";
import type { Tenant } from "../tenants/tenants.ts";
import { defaultZone } from "./events/days.ts";
import { isZone } from "./reports/zones.ts";
import { eventsKeptDays } from "./rollups/kept-days.ts";

/** What a tenant decides about its clicks. */
export interface ClickSettings {
  /** IANA time zone of its days. A change begins with the next day. */
  readonly timeZone: string;
  /** Whether facts about visitors are recorded, besides the time of a click. A link can switch them off too. */
  readonly facts: boolean;
  /** For how many days single clicks are kept, if for less time than the plan allows. */
  readonly eventDays: number | null;
  /** By the plan and `eventDays`, and never less than what late clicks need; null: for good. */
  readonly eventsKeptDays: number | null;
  /** Tags with roll-ups of their own. */
  readonly tags: readonly string[];
}

export type ClickSettingsChange = {
  readonly [Name in Exclude<keyof ClickSettings, "eventsKeptDays">]?: ClickSettings[Name] | undefined;
};

export interface ClickSettingsStore {
  of(tenant: Tenant): Promise<ClickSettings>;
  change(tenant: Tenant, change: ClickSettingsChange, by: Actor): Promise<ClickSettings>;
}

/** A report on a tag without roll-ups reads events, so this limits the rows of a tenant and not what can be asked. */
export const tagsMost = 50;

export function createClickSettings(
  sql: Sql,
  clock: Pick<Clock, "now">,
  publish: Publish = () => {},
): ClickSettingsStore {
  async function read(db: Db, { id, limits }: Tenant): Promise<ClickSettings> {
    const own = ofTenant(db, id);
    const row = await own.selectFrom("click_tenants").select(["zone", "facts", "event_days"]).executeTakeFirst();
    const eventDays = row?.event_days ?? null;
    return {
      timeZone: row?.zone ?? defaultZone,
      facts: row?.facts !== 0,
      eventDays,
      eventsKeptDays: eventsKeptDays(limits.eventDays, eventDays),
      tags: (await tagsOf(db, id)).toSorted(),
    };
  }

  return {
    of: (tenant) => read(sql.db, tenant),

    async change(tenant, change, by) {
      const { timeZone, facts, eventDays, tags } = change;
      if (timeZone !== undefined && !isZone(timeZone)) {
        throw invalid(
          "timeZone",
          "unknown_zone",
          `No time zone "${timeZone}" exists. Use a name such as Europe/Berlin.`,
        );
      }
      const allowed = tenant.limits.eventDays;
      if (typeof eventDays === "number" && allowed !== null && eventDays > allowed) {
        throw invalid("eventDays", "above_plan", `The plan keeps single clicks for ${allowed} days at most.`);
      }
      if (tags !== undefined && tags.length > tagsMost) {
        throw invalid("tags", "too_many", `Choose at most ${tagsMost} tags.`);
      }
      const { changed, changes } = await sql.transaction(async (trx) => {
        const own = ofTenant(trx, tenant.id);
        await own
          .insertInto("click_tenants")
          .values({ ...defaults, zone: defaultZone })
          .onConflict((conflict) => conflict.column("tenant_id").doNothing())
          .execute();
        const before = await sql.forUpdate(own.selectFrom("click_tenants").select("facts")).executeTakeFirstOrThrow();
        const settings = await read(trx, tenant);
        const flag = facts === undefined ? before.facts : facts ? 1 : 0;
        // Servers keep the flag in memory, with the tenant.
        const raises = flag === before.facts ? [] : [await raisedTenant(trx, tenant.id)];
        const changes = await raiseVersions(sql, trx, raises, clock.now());
        await own
          .updateTable("click_tenants")
          .set({
            facts: flag,
            ...(timeZone !== undefined && { zone: timeZone }),
            ...(eventDays !== undefined && { event_days: eventDays }),
          })
          .execute();
        if (tags !== undefined) await chooseTags(trx, sql.now, tenant.id, tags);
        const changed = await read(trx, tenant);
        const difference = differenceOf({ ...settings }, { ...changed });
        if (difference !== undefined) {
          const subject = { kind: "click settings", id: tenant.id, name: tenant.slug };
          const entry = { tenant: tenant.id, actor: by, action: "click-settings.update", subject };
          await recordHistory(trx, clock, { ...entry, ...difference });
        }
        return { changed, changes };
      });
      for (const change of changes) publish(change);
      return changed;
    },
  };
}

const defaults = { facts: 1, event_days: null, late: 0, hours_until: 0, days_until: 0, months_until: 0 } as const;

async function tagsOf(db: Db, tenant: TenantId): Promise<string[]> {
  const rows = await ofTenant(db, tenant).selectFrom("click_groups").select("name").where("kind", "=", "tag").execute();
  return rows.map(({ name }) => name);
}

/** A tag that is no longer chosen loses its number; the purge deletes its roll-ups. */
async function chooseTags(trx: Trx, now: Sql["now"], tenant: TenantId, tags: readonly string[]): Promise<void> {
  const own = ofTenant(trx, tenant);
  const before = await tagsOf(trx, tenant);
  const left = before.filter((tag) => !tags.includes(tag));
  const added = [...new Set(tags)].filter((tag) => !before.includes(tag));
  if (left.length > 0) {
    await own.deleteFrom("click_groups").where("kind", "=", "tag").where("name", "in", left).execute();
  }
  if (added.length > 0) {
    const rows = added.toSorted().map((name) => ({ kind: "tag" as const, name, since: now }));
    const insert = own.insertInto("click_groups").values(rows);
    await insert.onConflict((conflict) => conflict.columns(["tenant_id", "kind", "name"]).doNothing()).execute();
  }
}
