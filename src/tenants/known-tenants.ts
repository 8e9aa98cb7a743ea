import { LRUCache } from "lru-cache";
import type { TenantId } from "../base/ids.ts";
import type { Cache, LookupAnswer } from "../cache/cache.ts";
import type { Change, KeyVersion } from "../cache/feed.ts";
import type { LoadMany } from "../cache/gathered-source.ts";
import type { TenantNumber } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";
import { type Params, statement } from "../sql/statement.ts";
import type { Db } from "../sql/tenant-db.ts";
import { tenantNumberOf } from "./tenant-number.ts";
import {
  builtInPlans,
  defaultLimits,
  type Limits,
  planLimits,
  type Tenant,
  type TenantRecord,
  tenantRecords,
  toTenant,
} from "./tenants.ts";

/**
 * Tenants and plans in memory. Each has a version in the change feed, as links have, and is kept by the same rules
 * (`cache/cache.ts`): so a suspended tenant or a changed plan is seen everywhere within the promise of an edit.
 *
 * A tenant is kept without the limits of its plan, and a link without what follows from its tenant. Both are put together
 * when they are used: a change of a plan is one version, however many tenants and links it has.
 *
 * A cached link keeps the standing of its tenant, and compares one number before it is used: the generation, which grows
 * with every news about any tenant or plan. News are rare; after them, each link in use asks memory once.
 *
 * A tenant that is not found is not remembered: links and keys cannot exist without theirs, so it is either about to
 * arrive, at a replica, or gone for good.
 */
export interface KnownTenants {
  readonly generation: number;
  /** What memory has, if it may be used now. Never waits. */
  peek(tenant: TenantNumber): Standing | undefined;
  lookup(tenant: TenantNumber): Promise<Standing>;
  /** What memory last knew, however old: for when it cannot be looked up. Never older than what was announced. */
  recall(tenant: TenantNumber): Standing | undefined;
  /** For a call: never what memory only remembers because the database of lookups does not answer. */
  byId(id: TenantId): Promise<Tenant | undefined>;
  /** A version exists: nothing older is used from here. */
  announce(change: Change): void;
  /** Every change committed before this moment (`clock.elapsed()`) has been announced. */
  followed(elapsed: number): void;
}

/** What the answers of all links of a tenant depend on. */
export interface Standing {
  /** Suspended, or deleted. */
  readonly isStopped: boolean;
  /** Hits per link and month that its plan allows, or its own limit; null: no limit. */
  readonly hitsPerLink: number | null;
  /** Whether facts about visitors are recorded. */
  readonly facts: boolean;
  readonly plan: Limits;
  /** The last generation in which this was what memory had. */
  generation: number;
}

/** Of a link that was not used yet. */
export const unknownStanding: Standing = {
  ...{ isStopped: true, hitsPerLink: 0, facts: false, plan: defaultLimits, generation: 0 },
};

/** The name of a tenant in caches: `/-12`. No link has such a key, and Redis keeps both (`redirect/cache-format.ts`). */
export type TenantKey = string & { readonly [brand]: "tenant key" };
declare const brand: unique symbol;
const keyOf = (tenant: TenantNumber | string): TenantKey => `/${tenant}` as TenantKey;
const numberFrom = (key: string): TenantNumber => Number(key.slice(1)) as TenantNumber;

export const isTenantKey = (key: string): key is TenantKey => key.startsWith("/");

export const keyOfTenantChange = (change: Change): TenantKey | undefined =>
  change.kind === "tenant" ? keyOf(change.key) : undefined;

export interface KnownTenantsSettings {
  readonly tenants: Cache<TenantRecord, TenantKey>;
  readonly plans: Cache<Limits>;
  /** The primary: a tenant's number never changes. */
  readonly sql: Sql;
  /** Reads the primary. */
  readonly read: (id: TenantId) => Promise<Tenant | undefined>;
}

const numbersMost = 20_000;
/** Those that are said twice are said soon after each other. */
const announcedMost = 1_000;

export function createKnownTenants({ tenants, plans, sql, read }: KnownTenantsSettings): KnownTenants {
  const standings = new WeakMap<TenantRecord, Standing>();
  const numbers = new LRUCache<TenantId, TenantNumber>({ max: numbersMost });
  const announced = new LRUCache<string, number>({ max: announcedMost });
  let generation = 1;

  /**
   * Not what the caches say: one may have read a version before it was announced, and pushed it out since. To the links that were
   * not visited meanwhile it is news.
   */
  function isNews({ kind, key, version }: KeyVersion): boolean {
    const name = `${kind} ${key}`;
    if (version <= (announced.get(name) ?? 0)) return false;
    announced.set(name, version);
    return true;
  }

  /** `at`: the generation before both were read. What was announced since makes the standing outdated, not current. */
  function standingOf(record: TenantRecord, plan: Limits, at: number): Standing {
    const before = standings.get(record);
    if (before?.plan === plan) {
      before.generation = Math.max(before.generation, at);
      return before;
    }
    const { suspended, deleteAt, overrides, clickFacts: facts } = record;
    const { hitsPerLinkPerMonth: hitsPerLink } = { ...plan, ...overrides };
    const isStopped = suspended !== null || deleteAt !== null;
    const standing = { isStopped, hitsPerLink, facts, plan, generation: at };
    standings.set(record, standing);
    return standing;
  }

  function peekPlan(name: string): Limits | undefined {
    const builtIn = builtInPlans.get(name);
    if (builtIn !== undefined) return builtIn;
    const known = plans.peek(name);
    return known && (known.value ?? defaultLimits);
  }

  const planOf = async (name: string): Promise<Limits> =>
    peekPlan(name) ?? (await plans.lookup(name)).value ?? defaultLimits;

  async function recordOf(key: TenantKey): Promise<TenantRecord> {
    const { value } = tenants.peek(key) ?? (await tenants.lookup(key));
    if (value === undefined) throw noTenant(key);
    return value;
  }

  async function numberOf(id: TenantId): Promise<TenantNumber> {
    const known = numbers.get(id);
    if (known !== undefined) return known;
    const number = await tenantNumberOf(sql.db, id);
    numbers.set(id, number);
    return number;
  }

  return {
    get generation() {
      return generation;
    },

    peek(tenant) {
      const record = tenants.peek(keyOf(tenant))?.value;
      const plan = record && peekPlan(record.plan);
      return plan && standingOf(record, plan, generation);
    },

    async lookup(tenant) {
      const at = generation;
      const record = await recordOf(keyOf(tenant));
      return standingOf(record, await planOf(record.plan), at);
    },

    recall(tenant) {
      const record = tenants.recall(keyOf(tenant));
      const plan = record && (builtInPlans.get(record.plan) ?? plans.recall(record.plan));
      return plan && standingOf(record, plan, generation);
    },

    async byId(id) {
      try {
        const key = keyOf(await numberOf(id));
        const record = await currentOf(tenants, key);
        // A Redis that served another database has other tenants under these numbers. A call must never be judged as one of those.
        if (record?.id !== id) throw noTenant(key);
        const plan = builtInPlans.get(record.plan) ?? (await currentOf(plans, record.plan));
        return toTenant(record, plan ?? defaultLimits);
      } catch {
        // The replica may not have it yet or not answer, and the primary says best why it cannot be read.
        return await read(id);
      }
    },

    announce(change) {
      if (change.kind !== "tenant" && change.kind !== "plan") return;
      const { kind, key, version } = change;
      if (kind === "tenant") tenants.announce(keyOf(key), version);
      else plans.announce(key, version);
      if (isNews(change)) generation++;
    },

    followed(elapsed) {
      tenants.followed(elapsed);
      plans.followed(elapsed);
    },
  };
}

/**
 * What memory may use, looked up if necessary. Throws if the cache only has what it last knew, because the database of lookups
 * does not answer: that is enough for a link, and lets no caller in.
 */
async function currentOf<Value, Key extends string>(cache: Cache<Value, Key>, key: Key): Promise<Value | undefined> {
  let known: LookupAnswer<Value> | undefined = cache.peek(key);
  if (known === undefined) {
    await cache.lookup(key);
    known = cache.peek(key);
  }
  if (known === undefined || known.stale) throw new Error(`${key} cannot be looked up now`);
  return known.value;
}

const noTenant = (key: TenantKey): Error => new Error(`there is no tenant with the number ${numberFrom(key)}`);

/** Reads versions first: what is read after them can only be newer, never older. */
export const loadTenants =
  ({ db }: Sql): LoadMany<TenantRecord> =>
  async (keys) => {
    const numbers = keys.map(numberFrom);
    const versions = await versionsOf(db, "tenant", numbers.map(String));
    const records = await tenantRecords(db, numbers);
    return numbers.map((number): LookupAnswer<TenantRecord> | Error => {
      const value = records.get(number) ?? noTenant(keyOf(number));
      return value instanceof Error ? value : { version: versions.get(String(number)) ?? 0, value };
    });
  };

export const loadPlans =
  ({ db }: Sql): LoadMany<Limits> =>
  async (names) => {
    const versions = await versionsOf(db, "plan", names);
    const plans = await planLimits(db, names);
    return names.map((name): LookupAnswer<Limits> | Error => {
      const value = plans.get(name);
      return value instanceof Error ? value : { version: versions.get(name) ?? 0, value };
    });
  };

async function versionsOf(db: Db, kind: KeyVersion["kind"], keys: readonly string[]): Promise<Map<string, number>> {
  const rows = await selectVersions.all(db, { kind, keys });
  return new Map(rows.map(({ key, version }) => [key, version]));
}

/** Estimates in bytes. */
export const sizeOfTenant = ({ name, suspended }: TenantRecord): number =>
  900 + 2 * name.length + 2 * (suspended?.length ?? 0);
export const sizeOfPlan = (): number => 300;

interface Versions {
  readonly kind: KeyVersion["kind"];
  readonly keys: readonly string[];
}

const selectVersions = statement((db: Db, { kind, keys }: Params<Versions>) =>
  db.selectFrom("versions").select(["key", "version"]).where("kind", "=", kind).where("key", "in", keys),
);
