/**
 * The limits on sending email. An email through the platform's SMTP counts for its tenant and for the platform, both or
 * neither; one through a tenant's SendGrid key counts only for the tenant. The plan and the operator set the numbers,
 * which are passed with every call.
 */
import type { Counters, CounterVerdict, Limit, StatusAnswer } from "./counters.ts";
import type { Window } from "./window.ts";

export type EmailProvider = "smtp" | "sendgrid";

/**
 * An hour and a minute. An email is charged before it is handed over, and a slow provider may count it up to 30 s
 * later: no 60 minutes by the provider's clock may exceed the limit.
 */
export const emailHour: Window = { kind: "sliding", bucketMs: 60_000, buckets: 61 };

export interface EmailMaxes {
  /** For this tenant and provider: 50 an hour through SMTP, 200 through its own key. */
  readonly tenant: number | null;
  /** For all tenants through the platform's SMTP: 2,000 an hour. */
  readonly platform: number | null;
}

/** What was sent in the last hour, from the emails table; read when the store knows nothing. */
export interface EmailSeeds {
  readonly tenant?: () => Promise<number>;
  readonly platform?: () => Promise<number>;
}

/**
 * Charges one email before it is handed over. The ID names the attempt: call `counters.release(id)` if the provider
 * certainly did not accept it.
 */
export function tryAcquire(
  counters: Counters,
  id: string,
  tenant: string,
  provider: EmailProvider,
  maxes: EmailMaxes,
  seeds: EmailSeeds = {},
): Promise<CounterVerdict> {
  const limits = emailLimits(tenant, provider, maxes, seeds);
  return counters.take(
    id,
    limits.map((limit) => ({ limit, amount: 1 })),
  );
}

export function getStatus(
  counters: Counters,
  tenant: string,
  provider: EmailProvider,
  maxes: EmailMaxes,
  seeds: EmailSeeds = {},
): Promise<StatusAnswer> {
  return counters.status(emailLimits(tenant, provider, maxes, seeds));
}

export const platformEmails = "platformEmailsPerHour";

/** The limit of a tenant with a provider. */
export const tenantEmailLimit = (
  tenant: string,
  provider: EmailProvider,
  max: number | null,
  seed?: () => Promise<number>,
): Limit => ({
  name: provider === "smtp" ? "emailsPerHourSmtp" : "emailsPerHourSendgrid",
  subject: tenant,
  max,
  window: emailHour,
  key: `tenant:{${tenant}}:${provider}`,
  ...(seed === undefined ? {} : { seed }),
});

/** The limit of all tenants together through the platform's SMTP. */
export const platformEmailLimit = (max: number | null, seed?: () => Promise<number>): Limit => ({
  name: platformEmails,
  subject: "platform",
  max,
  window: emailHour,
  key: "platform-aggregate",
  ...(seed === undefined ? {} : { seed }),
});

function emailLimits(tenant: string, provider: EmailProvider, maxes: EmailMaxes, seeds: EmailSeeds): Limit[] {
  const own = tenantEmailLimit(tenant, provider, maxes.tenant, seeds.tenant);
  return provider === "smtp" ? [own, platformEmailLimit(maxes.platform, seeds.platform)] : [own];
}
