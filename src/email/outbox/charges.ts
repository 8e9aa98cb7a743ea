import type { TenantId } from "../../base/ids.ts";
import type { Counters, CounterVerdict, Limit, StatusAnswer } from "../../limits/counters.ts";
import type { Window } from "../../limits/window.ts";
import type { Tenants } from "../../tenants/tenants.ts";
import type { EmailSeedQueries } from "./counter-seeds.ts";
import { type MailKind, mailKinds, platformMail } from "./outbox.ts";
import type { EmailClaim } from "./store.ts";

/**
 * The limits on an email. One through the platform's SMTP counts for its tenant and for all tenants together, both or
 * neither; one through a tenant's SendGrid key counts only for the tenant. The plan and the operator set the numbers.
 *
 * The last fifth of the platform's limit is reserved for essential kinds: a password reset must not wait because other
 * tenants share links. It is the same counter with a lower maximum.
 */
export interface Charges {
  /** Charges for one claim. Repeating it returns the same answer and charges nothing more. */
  take(
    email: EmailClaim & { readonly tenant: TenantId; readonly kind: MailKind },
    by: EmailProvider,
  ): Promise<CounterVerdict>;
  /**
   * For an email that the provider certainly did not accept. A refund that fails is retried when the counters answer
   * again; one lost with its process keeps counting for an hour, which is the safe side.
   */
  release(claim: EmailClaim): Promise<void>;
  /** The tenant's limit. */
  status(tenant: TenantId, by: EmailProvider): Promise<{ readonly max: number | null; readonly answer: StatusAnswer }>;
}

export interface ChargeSettings {
  readonly counters: Counters;
  readonly tenants: Pick<Tenants, "byId">;
  readonly seeds: EmailSeedQueries;
  readonly platformMax: number | null;
}

const reservedShare = 0.2;
const owedMost = 1_000;

/** The part of the platform's limit for ordinary mail: 1,600 of 2,000. */
export const ordinaryMax = (platformMax: number | null): number | null =>
  platformMax === null ? null : Math.floor(platformMax * (1 - reservedShare));

export function createCharges({ counters, tenants, seeds, platformMax }: ChargeSettings): Charges {
  // Of the claim, not of the attempt: a charge found again an hour later would count for the wrong hour.
  const idOf = ({ id, by }: EmailClaim) => `${id}:${by}`;

  const owed = new Set<string>();

  async function giveBack(id: string): Promise<void> {
    owed.delete(id);
    const { kind } = await counters.release(id);
    if (kind === "unavailable" && owed.size < owedMost) owed.add(id);
  }

  async function maxesFor(tenant: TenantId, by: EmailProvider, essential: boolean): Promise<EmailMaxes> {
    const platform = essential ? platformMax : ordinaryMax(platformMax);
    if (tenant === platformMail) return { tenant: null, platform };
    const limits = (await tenants.byId(tenant))?.limits;
    if (limits === undefined) throw new Error(`no tenant ${tenant}`);
    return { tenant: by === "smtp" ? limits.emailsPerHourSmtp : limits.emailsPerHourSendgrid, platform };
  }

  const seedsOf = (tenant: TenantId, by: EmailProvider) => ({
    tenant: () => seeds.tenant(tenant, by),
    platform: seeds.platform,
  });

  return {
    async take(email, by) {
      const { tenant, kind } = email;
      const maxes = await maxesFor(tenant, by, mailKinds[kind].essential);
      const verdict = await tryAcquire(counters, idOf(email), tenant, by, maxes, seedsOf(tenant, by));
      if (verdict.kind !== "unavailable") await Promise.all([...owed].map(giveBack));
      return verdict;
    },

    release: (claim) => giveBack(idOf(claim)),

    async status(tenant, by) {
      const { tenant: max } = await maxesFor(tenant, by, false);
      const answer = await getStatus(counters, tenant, by, { tenant: max, platform: null }, seedsOf(tenant, by));
      return { max, answer };
    },
  };
}

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
  if (tenant === platformMail) return [platformEmailLimit(maxes.platform, seeds.platform)];
  const own = tenantEmailLimit(tenant, provider, maxes.tenant, seeds.tenant);
  return provider === "smtp" ? [own, platformEmailLimit(maxes.platform, seeds.platform)] : [own];
}
