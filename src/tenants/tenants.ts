import type { InferResult } from "kysely";
import { type Clock, fromIso, toIso } from "../base/clock.ts";
import { invalid, Problem } from "../base/errors.ts";
import { newId, type TenantId } from "../base/ids.ts";
import type { Change, Publish } from "../cache/feed.ts";
import { type Actor, differenceOf, type HistoryEntry, recordHistory } from "../history/history.ts";
import { containsText } from "../sql/contains-text.ts";
import type { TenantNumber } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";
import { isUniqueViolation } from "../sql/sql.ts";
import { type Params, statement } from "../sql/statement.ts";
import { acrossTenants, type Db, type Trx } from "../sql/tenant-db.ts";
import { raiseVersions } from "../sql/versions.ts";

/**
 * A tenant owns links, keys and limits. The slug is its identifier for the operator: unique, and easy to type.
 *
 * Servers keep tenants and plans in memory (`known-tenants.ts`). Each has a version, which every change of it raises; a
 * change of a plan raises only that of the plan, however many tenants and links it has.
 */
export interface Tenant {
  readonly id: TenantId;
  readonly slug: string;
  readonly name: string;
  readonly plan: string;
  /** The plan's limits with the tenant's overrides. */
  readonly limits: Limits;
  readonly overrides: LimitOverrides;
  /** Where its new links are created by default; null for the server's own domain. */
  readonly defaultDomain: string | null;
  readonly createdAt: number;
  /** Why the operator suspended it; null if not suspended. */
  readonly suspended: string | null;
  /** When it is deleted for good; null unless an owner or the operator deleted it. Until then everything of it is stopped. */
  readonly deleteAt: number | null;
}

/** What is stored of a tenant alone: its plan has the other limits. */
export interface TenantRecord extends Omit<Tenant, "limits"> {
  /** Whether facts about visitors are recorded with its clicks. */
  readonly clickFacts: boolean;
}

/** What a tenant may use. A plan sets every limit, a tenant may override some; `null` means no limit. */
export interface Limits {
  readonly hitsPerLinkPerMonth: number | null;
  readonly linksPerMonth: number | null;
  readonly storageBytes: number | null;
  readonly emailsPerHourSmtp: number | null;
  readonly emailsPerHourSendgrid: number | null;
  readonly apiPerMinute: number | null;
  /** For how many days single clicks are kept; `null` keeps them for good. Roll-ups of them are kept longer. */
  readonly eventDays: number | null;
}

export type LimitName = keyof Limits;
export type LimitOverrides = Partial<Limits>;

export interface TenantChange {
  readonly name?: string;
  readonly plan?: string;
  /** Sets these limits for this tenant; `undefined` restores the plan's. */
  readonly overrides?: { readonly [Name in keyof Limits]?: Limits[Name] | undefined };
}

export interface Tenants {
  create(slug: string, name: string, by: Actor, plan?: string): Promise<Tenant>;
  /** By slug; `after` is the last one of the previous page. `search`: whose slug or name contains this. */
  list(limit: number, after?: string, search?: string): Promise<Tenant[]>;
  bySlug(slug: string): Promise<Tenant | undefined>;
  byId(id: TenantId): Promise<Tenant | undefined>;
  change(slug: string, change: TenantChange, by: Actor): Promise<Tenant>;
  isEmpty(): Promise<boolean>;
  plans(): Promise<Map<string, Limits>>;
  setPlan(name: string, limits: Limits, by: Actor): Promise<void>;
}

export function createTenants(sql: Sql, clock: Clock, publish: Publish = () => {}): Tenants {
  const { db } = sql;

  async function plans(): Promise<Map<string, Limits>> {
    const own = await db.selectFrom("plans").selectAll().orderBy("name").execute();
    return new Map([...builtInPlans, ...own.map((row) => [row.name, parseLimits(row.limits)] as const)]);
  }

  async function limitsOf(plan: string): Promise<Limits> {
    const builtIn = builtInPlans.get(plan);
    if (builtIn) return builtIn;
    const limits = (await planLimits(db, [plan])).get(plan);
    if (!limits) throw new Problem("not_found", `No plan "${plan}" exists.`);
    if (limits instanceof Error) throw limits;
    return limits;
  }

  async function requirePlan(plan: string): Promise<void> {
    const known = await plans();
    if (!known.has(plan)) throw unknownPlan(plan, [...known.keys()]);
  }

  async function complete(row: TenantRow | undefined): Promise<Tenant | undefined> {
    return row && toTenant(toRecord(row), await limitsOf(row.plan));
  }

  /** After its commit. */
  function published(changes: readonly Change[]): void {
    for (const change of changes) publish(change);
  }

  async function require(slug: string): Promise<Tenant> {
    const tenant = await complete(await selectBySlug.first(db, { slug }));
    if (!tenant) throw new Problem("not_found", `No workspace "${slug}" exists.`);
    return tenant;
  }

  const record = (
    trx: Trx,
    { id, slug }: Pick<Tenant, "id" | "slug">,
    actor: Actor,
    action: string,
    change: Pick<HistoryEntry, "before" | "after">,
  ) =>
    recordHistory(trx, clock, {
      ...{ tenant: id, actor, action, subject: { kind: "workspace", id, name: slug }, ...change },
    });

  return {
    plans,
    bySlug: async (slug) => complete(await selectBySlug.first(db, { slug })),
    byId: async (id) => complete(await selectById.first(db, { id })),

    async create(slug, name, by, plan = "default") {
      await requirePlan(plan);
      await sql.transaction(async (trx) => {
        const id = await insertTenant(trx, clock, { slug, name, plan });
        await record(trx, { id, slug }, by, "workspace.create", { after: { slug, name, plan } });
      });
      return require(slug);
    },

    async list(limit, after = "", search) {
      let slugs = db.selectFrom("tenants").select("slug").where("slug", ">", after);
      if (search !== undefined) slugs = slugs.where(containsText(sql, ["slug", "name"], search));
      const rows = await slugs.orderBy("slug").limit(limit).execute();
      return Promise.all(rows.map((row) => require(row.slug)));
    },

    async change(slug, { name, plan, overrides }, by) {
      if (plan !== undefined) await requirePlan(plan);
      const changes = await sql.transaction(async (trx) => {
        const row = await sql
          .forUpdate(trx.selectFrom("tenants").selectAll().where("slug", "=", slug))
          .executeTakeFirst();
        if (!row) throw new Problem("not_found", `No workspace "${slug}" exists.`);
        const before = parseOverrides(row.limits);
        const limits: LimitOverrides = JSON.parse(JSON.stringify({ ...before, ...overrides })); // drops undefined values
        const after = { name: name ?? row.name, plan: plan ?? row.plan };
        const raised = await raiseVersions(sql, trx, { kind: "tenant", keys: [String(row.number)] }, clock.now());
        await trx
          .updateTable("tenants")
          .set({ ...after, limits: JSON.stringify(limits) })
          .where("id", "=", row.id)
          .execute();
        const shown = (of: typeof after, own: LimitOverrides) => ({ ...of, limits: own });
        const change = differenceOf(shown({ name: row.name, plan: row.plan }, before), shown(after, limits));
        if (change !== undefined) await record(trx, row, by, "workspace.update", change);
        return raised;
      });
      published(changes);
      return require(slug);
    },

    async isEmpty() {
      return (await db.selectFrom("tenants").select("id").limit(1).executeTakeFirst()) === undefined;
    },

    async setPlan(name, limits, by) {
      if (builtInPlans.has(name))
        throw invalid("name", "built_in", `The plan "${name}" is built in and cannot be changed. Choose another name.`);
      if (!isName(name)) {
        throw invalid(
          "name",
          "bad_name",
          `"${name}" is not a valid plan name: use 1 to 63 characters of a-z, 0-9 and -.`,
        );
      }
      const json = JSON.stringify(limits);
      const changes = await sql.transaction(async (trx) => {
        const before = await sql
          .forUpdate(trx.selectFrom("plans").select("limits").where("name", "=", name))
          .executeTakeFirst();
        const raised = await raiseVersions(sql, trx, { kind: "plan", keys: [name] }, clock.now());
        await trx
          .insertInto("plans")
          .values({ name, limits: json, created_at: clock.now() })
          .onConflict((conflict) => conflict.column("name").doUpdateSet({ limits: json }))
          .execute();
        const change = differenceOf(before ? { ...parseLimits(before.limits) } : {}, { ...limits });
        const entry = { tenant: "", actor: by, subject: { kind: "plan", id: name } } as const;
        const action = before ? "plan.update" : "plan.create";
        if (change !== undefined) await recordHistory(trx, clock, { ...entry, action, ...change });
        return raised;
      });
      published(changes);
    },
  };
}

/** In a transaction of the caller, or by itself. */
export async function insertTenant(
  db: Db,
  clock: Clock,
  { slug, name, plan = "default" }: { readonly slug: string; readonly name: string; readonly plan?: string },
): Promise<TenantId> {
  requireSlug(slug);
  const id = newId("tenant", clock);
  const row = { id, slug, name, plan, created_at: toIso(clock.now()) };
  await whileUnique(slug, () => db.insertInto("tenants").values(row).execute());
  return id;
}

export function requireSlug(slug: string): void {
  if (isName(slug)) return;
  const rule = "use 1 to 63 characters of a-z, 0-9 and -";
  throw invalid("slug", "bad_name", `"${slug}" is not a valid workspace slug: ${rule}.`);
}

/** Says that the slug is taken if `write` fails for that. */
export async function whileUnique<Result>(slug: string, write: () => Promise<Result>): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    if (isUniqueViolation(error)) throw new Problem("name_taken", `A workspace "${slug}" already exists.`);
    throw error;
  }
}

const unknownPlan = (plan: string, known: readonly string[]): Problem =>
  invalid("plan", "unknown_plan", `No plan "${plan}" exists. Plans: ${known.join(", ")}.`);

const selectTenants = (db: Db) =>
  acrossTenants(db)
    .selectFrom("tenants as t")
    .leftJoin("suspended_tenants as s", "s.tenant_id", "t.id")
    .leftJoin("click_tenants as c", "c.tenant_id", "t.id")
    .select(["t.id", "t.number", "t.slug", "t.name", "t.plan", "t.limits", "t.created_at", "t.delete_at"])
    .select(["s.reason as suspended", "c.facts as click_facts"])
    .select((expression) =>
      expression
        .selectFrom("domains")
        .select("host")
        .whereRef("domains.tenant_id", "=", "t.id")
        .where("is_default", "=", 1)
        .as("default_domain"),
    );

type TenantRow = InferResult<ReturnType<typeof selectTenants>>[number];

const toRecord = (row: TenantRow): TenantRecord => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  plan: row.plan,
  overrides: parseOverrides(row.limits),
  defaultDomain: row.default_domain,
  createdAt: fromIso(row.created_at),
  suspended: row.suspended,
  deleteAt: row.delete_at,
  clickFacts: row.click_facts !== 0,
});

export function toTenant({ clickFacts: _, ...record }: TenantRecord, plan: Limits): Tenant {
  return { ...record, limits: effectiveLimits(plan, record.overrides) };
}

/** By number. An error is that of a row that cannot be read: of many that are read together, it fails alone. */
export async function tenantRecords(
  db: Db,
  numbers: readonly TenantNumber[],
): Promise<Map<TenantNumber, TenantRecord | Error>> {
  const rows = await selectByNumbers.all(db, { numbers });
  return new Map(rows.map((row) => [row.number, orError(() => toRecord(row))]));
}

/** The operator's plans of these names. An error is that of one of them. */
export async function planLimits(db: Db, names: readonly string[]): Promise<Map<string, Limits | Error>> {
  const rows = await selectPlans.all(db, { names });
  return new Map(rows.map(({ name, limits }) => [name, orError(() => parseLimits(limits))]));
}

function orError<Result>(read: () => Result): Result | Error {
  try {
    return read();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

const selectById = statement((db: Db, { id }: Params<{ id: TenantId }>) => selectTenants(db).where("t.id", "=", id));

const selectByNumbers = statement((db: Db, { numbers }: Params<{ numbers: readonly TenantNumber[] }>) =>
  selectTenants(db).where("t.number", "in", numbers),
);

const selectBySlug = statement((db: Db, { slug }: Params<{ slug: string }>) =>
  selectTenants(db).where("t.slug", "=", slug),
);

const selectPlans = statement((db: Db, { names }: Params<{ names: readonly string[] }>) =>
  db.selectFrom("plans").select(["name", "limits"]).where("name", "in", names),
);

export const defaultLimits: Limits = {
  hitsPerLinkPerMonth: 10_000,
  linksPerMonth: 1_000,
  storageBytes: 1_000_000_000,
  emailsPerHourSmtp: 50,
  emailsPerHourSendgrid: 200,
  apiPerMinute: 600,
  eventDays: 90,
};

export const limitNames = Object.keys(defaultLimits) as LimitName[];

const noLimits = Object.fromEntries(limitNames.map((name) => [name, null])) as unknown as Limits;

/** Built-in plans; the operator's plans are in SQL. */
export const builtInPlans: ReadonlyMap<string, Limits> = new Map([
  ["default", defaultLimits],
  ["unlimited", noLimits],
]);

export const effectiveLimits = (plan: Limits, overrides: LimitOverrides): Limits => ({ ...plan, ...overrides });

const addedLater: LimitOverrides = { eventDays: defaultLimits.eventDays };

/** A plan's row in SQL: every limit, and nothing else. A plan that is older than a limit has the default of it. */
export function parseLimits(json: string): Limits {
  const limits = { ...addedLater, ...parseOverrides(json) };
  const missing = limitNames.filter((name) => !(name in limits));
  if (missing.length > 0) throw new Error(`a plan lacks ${missing.join(", ")}`);
  return limits as Limits;
}

/** A tenant's row: some limits. */
export function parseOverrides(json: string): LimitOverrides {
  const limits: unknown = JSON.parse(json);
  if (typeof limits !== "object" || limits === null || Array.isArray(limits)) throw new Error("limits are an object");
  for (const [name, value] of Object.entries(limits)) {
    if (!limitNames.some((known) => known === name)) throw new Error(`unknown limit ${name}`);
    if (value !== null && !(Number.isSafeInteger(value) && value >= 0)) {
      throw new Error(`limit ${name} must be a whole number of at least 0, or null`);
    }
  }
  return limits;
}

/** A tenant's limits as stored in SQL. */
export interface StoredLimits {
  readonly plan: string;
  /** The plan's limits as JSON; null for a built-in or unknown plan. */
  readonly planLimits: string | null;
  /** The tenant's overrides as JSON. */
  readonly overrides: string;
}

export function storedLimits({ plan, planLimits, overrides }: StoredLimits): Limits {
  const limits = builtInPlans.get(plan) ?? (planLimits === null ? defaultLimits : parseLimits(planLimits));
  return effectiveLimits(limits, parseOverrides(overrides));
}

/** Operators type the names of tenants and plans. */
export const isName = (text: string): boolean => /^[a-z0-9][a-z0-9-]{0,62}$/.test(text) && !text.includes("\n");
