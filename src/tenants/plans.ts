import { z } from "zod";

/**
 * What a tenant may use. A plan gives every limit, a tenant may differ in some; `null` is without limit. The numbers of
 * `default` are those of the requirements.
 */
export const limitsSchema = z.strictObject({
  hitsPerLinkPerMonth: z.int().min(0).nullable(),
  linksPerMonth: z.int().min(0).nullable(),
  storageBytes: z.int().min(0).nullable(),
  emailsPerHourSmtp: z.int().min(0).nullable(),
  emailsPerHourSendgrid: z.int().min(0).nullable(),
  apiPerMinute: z.int().min(0).nullable(),
});

export type Limits = z.infer<typeof limitsSchema>;
export type LimitName = keyof Limits;

export const limitNames = Object.keys(limitsSchema.shape) as LimitName[];

export const defaultLimits: Limits = {
  hitsPerLinkPerMonth: 10_000,
  linksPerMonth: 1_000,
  storageBytes: 1_000_000_000,
  emailsPerHourSmtp: 50,
  emailsPerHourSendgrid: 200,
  apiPerMinute: 600,
};

const noLimits = Object.fromEntries(limitNames.map((name) => [name, null])) as Limits;

/** Plans that are always there; the operator's own stand in SQL. */
export const builtInPlans: ReadonlyMap<string, Limits> = new Map([
  ["default", defaultLimits],
  ["unlimited", noLimits],
]);

const overridesSchema = limitsSchema.partial();
export type LimitOverrides = Partial<Limits>;

export const parseLimits = (json: string): Limits => limitsSchema.parse(JSON.parse(json));
export const parseOverrides = (json: string): LimitOverrides => {
  const overrides = overridesSchema.parse(JSON.parse(json));
  return Object.fromEntries(Object.entries(overrides).filter(([, value]) => value !== undefined));
};

export const effectiveLimits = (plan: Limits, overrides: LimitOverrides): Limits => ({ ...plan, ...overrides });

export const nameSchema = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "use 1 to 63 of a-z, 0-9 and -");
