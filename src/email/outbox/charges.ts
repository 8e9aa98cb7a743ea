import type { TenantId } from "../../base/ids.ts";
import type { Counters, CounterVerdict, StatusAnswer } from "../../limits/counters.ts";
import { type EmailMaxes, type EmailProvider, getStatus, tryAcquire } from "../../limits/email-limits.ts";
import type { Tenants } from "../../tenants/tenants.ts";
import type { EmailSeedQueries } from "./counter-seeds.ts";
import { type MailKind, mailKinds } from "./outbox.ts";
import type { EmailClaim } from "./store.ts";

/**
 * The limits on an email: what its tenant's plan gives for the provider and, through the platform's SMTP, what the
 * operator gives all tenants together. The last fifth of that is for essential kinds: whoever must reset a password is
 * not to wait because somebody shares links. It is the same counter with a lower most.
 */
export interface Charges {
  /** Charges what is done under one claim. Asked again it answers the same, and charges nothing more. */
  take(
    email: EmailClaim & { readonly tenant: TenantId; readonly kind: MailKind },
    by: EmailProvider,
  ): Promise<CounterVerdict>;
  /**
   * The provider surely never took it. What cannot be given back now is when the counters answer again; what a process
   * that ends still owes counts for an hour, which is the safe side.
   */
  release(claim: EmailClaim): Promise<void>;
  /** The tenant's own limit. */
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

/** Of the platform's limit, what ordinary mail may use: 1,600 of 2,000. */
export const ordinaryMax = (platformMax: number | null): number | null =>
  platformMax === null ? null : Math.floor(platformMax * (1 - reservedShare));

export function createCharges({ counters, tenants, seeds, platformMax }: ChargeSettings): Charges {
  // Of the claim, and not of the attempt: a charge that is found again an hour later would count for the wrong hour.
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
