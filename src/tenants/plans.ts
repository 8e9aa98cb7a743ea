/** What a tenant may use. A plan sets every limit, a tenant may override some; `null` means no limit. */
export interface Limits {
  readonly hitsPerLinkPerMonth: number | null;
  readonly linksPerMonth: number | null;
  readonly storageBytes: number | null;
  readonly emailsPerHourSmtp: number | null;
  readonly emailsPerHourSendgrid: number | null;
  readonly apiPerMinute: number | null;
}

export type LimitName = keyof Limits;
export type LimitOverrides = Partial<Limits>;

export const defaultLimits: Limits = {
  hitsPerLinkPerMonth: 10_000,
  linksPerMonth: 1_000,
  storageBytes: 1_000_000_000,
  emailsPerHourSmtp: 50,
  emailsPerHourSendgrid: 200,
  apiPerMinute: 600,
};

export const limitNames = Object.keys(defaultLimits) as LimitName[];

const noLimits = Object.fromEntries(limitNames.map((name) => [name, null])) as unknown as Limits;

/** Built-in plans; the operator's plans are in SQL. */
export const builtInPlans: ReadonlyMap<string, Limits> = new Map([
  ["default", defaultLimits],
  ["unlimited", noLimits],
]);

export const effectiveLimits = (plan: Limits, overrides: LimitOverrides): Limits => ({ ...plan, ...overrides });

/** A plan's row in SQL: every limit, and nothing else. */
export function parseLimits(json: string): Limits {
  const limits = parseOverrides(json);
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
