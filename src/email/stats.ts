import { sql as raw } from "kysely";
import { dayMs } from "../base/clock.ts";
import { idAt, type TenantId } from "../base/ids.ts";
import type { Sql } from "../sql/sql.ts";
import { ofTenant } from "../sql/tenant-db.ts";
import type { Charges, EmailProvider } from "./outbox/charges.ts";
import { limitOf } from "./outbox/counter-seeds.ts";
import type { Senders } from "./providers/senders.ts";

/** What a tenant sent, and may send, by provider. */
export interface EmailStats {
  of(tenant: TenantId): Promise<TenantEmailStats>;
}

export interface TenantEmailStats {
  /** The provider of the tenant's next email. */
  readonly current: EmailProvider;
  /** The period of the counts below. */
  readonly periodDays: number;
  readonly providers: readonly ProviderStats[];
}

export interface ProviderStats {
  readonly provider: EmailProvider;
  /** 1: the platform's SMTP. 2: the tenant's SendGrid key. */
  readonly tier: 1 | 2;
  /** Null: the counters are unavailable. */
  readonly used: number | null;
  /** Null: no limit. */
  readonly limit: number | null;
  readonly remaining: number | null;
  /** When the full limit is available again; null when nothing is used. */
  readonly resetsAt: number | null;
  readonly sent: number;
  readonly failed: number;
  readonly waiting: number;
  readonly bounced: number;
  readonly complaints: number;
  /** Emails for which it is, or was, unknown whether the provider accepted them. */
  readonly unsure: number;
}

const statsDays = 30;

const tiers: Readonly<Record<EmailProvider, 1 | 2>> = { smtp: 1, sendgrid: 2 };

export function createEmailStats(
  { db, now }: Sql,
  clockNow: () => number,
  charges: Charges,
  senders: Senders,
): EmailStats {
  const count = (condition: string) => raw<number>`sum(case when ${raw.raw(condition)} then 1 else 0 end)`;

  /** By provider; an email without one yet will use the current provider. */
  async function counts(tenant: TenantId) {
    return await ofTenant(db, tenant)
      .selectFrom("emails")
      .select([
        "provider",
        count("state = 'sent'").as("sent"),
        count("state = 'failed'").as("failed"),
        count("state in ('queued', 'sending')").as("waiting"),
        count("delivery = 'bounced'").as("bounced"),
        count("delivery = 'complaint'").as("complaints"),
        count("unsure > 0").as("unsure"),
      ])
      .where("id", ">=", idAt("email", clockNow() - statsDays * dayMs))
      .where("created_at", ">=", raw<number>`(select ${now} - ${raw.lit(statsDays * dayMs)})`)
      .groupBy("provider")
      .execute();
  }

  async function limits(tenant: TenantId, provider: EmailProvider) {
    const { max, answer } = await charges.status(tenant, provider);
    const status = answer.kind === "known" ? answer.limits[0] : undefined;
    const used = status === undefined ? null : status.used + status.held;
    return {
      used,
      limit: max,
      remaining: max === null || used === null ? null : Math.max(0, max - used),
      resetsAt: status?.resetsAt ?? null,
    };
  }

  return {
    async of(tenant) {
      const [rows, { provider }] = await Promise.all([counts(tenant), senders.resolve(tenant)]);
      const current = limitOf(provider.name);
      const nameOf = (name: string | null) => (name === null ? current : name === "sendgrid" ? "sendgrid" : "smtp");
      const providers = await Promise.all(
        (["smtp", "sendgrid"] as const).map(async (name) => {
          const own = rows.filter((row) => nameOf(row.provider) === name);
          const sum = (field: "sent" | "failed" | "waiting" | "bounced" | "complaints" | "unsure") =>
            own.reduce((total, row) => total + Number(row[field]), 0);
          return {
            ...{ provider: name, tier: tiers[name], ...(await limits(tenant, name)) },
            ...{ sent: sum("sent"), failed: sum("failed"), waiting: sum("waiting") },
            ...{ bounced: sum("bounced"), complaints: sum("complaints"), unsure: sum("unsure") },
          };
        }),
      );
      return { current, periodDays: statsDays, providers };
    },
  };
}
