/**
 * The limits on sending email, under the names that the requirements give them. An email through the platform's SMTP
 * counts for its tenant and for the platform, both or neither; one through a tenant's own SendGrid key only for the
 * tenant. The numbers are the plan's and the operator's, and come with every call.
 */
import type { Counters, CounterVerdict, Limit, StatusAnswer } from "./counters.ts";
import type { Window } from "./window.ts";

export type EmailProvider = "smtp" | "sendgrid";

/**
 * An hour and a minute. An email is charged before it is handed over, and a provider that takes its time counts it up to
 * 30 s later: in no 60 minutes by the provider's own clock may there be more than the limit.
 */
export const emailHour: Window = { kind: "sliding", bucketMs: 60_000, buckets: 61 };

export interface EmailMaxes {
  /** Of this tenant through this provider: 50 an hour through SMTP, 200 through its own key. */
  readonly tenant: number | null;
  /** Of all tenants through the platform's SMTP: 2,000 an hour. */
  readonly platform: number | null;
}

/** What was sent in the last hour, from the table of emails: asked when the store knows nothing. */
export interface EmailSeeds {
  readonly tenant?: () => Promise<number>;
  readonly platform?: () => Promise<number>;
}

/** May one email be handed over? The id names the attempt: `counters.release(id)` if the provider surely never took it. */
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

/** What a tenant may send through a provider. */
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

/** What all tenants together may send through the platform's SMTP. */
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
