import type { TenantId } from "../../base/ids.ts";
import type { Counters, CounterVerdict, StatusAnswer } from "../../limits/counters.ts";
import { type EmailMaxes, type EmailProvider, getStatus, tryAcquire } from "../../limits/email-limits.ts";
import type { Tenants } from "../../tenants/tenants.ts";
import type { EmailSeedQueries } from "./counter-seeds.ts";
import { type MailKind, mailKinds } from "./outbox.ts";
import type { EmailClaim } from "./store.ts";

/**
 * The limits on an email: the tenant's for the provider and, through the platform's SMTP, the operator's for all
 * tenants together. The last fifth of the latter is reserved for essential kinds: a password reset must not wait
 * because other tenants share links. It is the same counter with a lower maximum.
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
    const limits = (await tenants.byId(tenant))?.limits;
    if (limits === undefined) throw new Error(`no tenant ${tenant}`);
    return {
      tenant: by === "smtp" ? limits.emailsPerHourSmtp : limits.emailsPerHourSendgrid,
      platform: essential ? platformMax : ordinaryMax(platformMax),
    };
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
