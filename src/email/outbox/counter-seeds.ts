import { sql as raw } from "kysely";
import type { TenantId } from "../../base/ids.ts";
import type { EmailProvider } from "../../limits/email-limits.ts";
import type { Sql } from "../../sql/sql.ts";
import { acrossTenants, ofTenant } from "../../sql/tenant-db.ts";
import type { ProviderName } from "../providers/provider.ts";

/**
 * How many emails providers may have taken within the window of the limits, from the table: what a counter starts from
 * that is new or was lost.
 *
 * A row says when it was last handed over, and how often before that nobody learned the outcome. All of these count as if
 * they were of the last time, which is never too few: what was surely not taken is left out, for it was released. A
 * charge that is not yet in the table when it is counted is asked for again after its mark, see `sender.ts`.
 */
export interface EmailSeedQueries {
  tenant(tenant: TenantId, provider: EmailProvider): Promise<number>;
  platform(): Promise<number>;
}

/** The window of the limits, and the minute that a charge counts longer. */
const seedMs = 62 * 60_000;

/** Under which limit a provider's emails count: what only goes to the log is limited as if it were sent. */
export const limitOf = (provider: ProviderName): EmailProvider => (provider === "sendgrid" ? "sendgrid" : "smtp");

const providersOf: Readonly<Record<EmailProvider, readonly ProviderName[]>> = {
  smtp: ["smtp", "log"],
  sendgrid: ["sendgrid"],
};

const taken = raw<number>`coalesce(sum(unsure + case when state in ('sending', 'sent') then 1 else 0 end), 0)`;
const windowStart = ({ now }: Sql) => raw<number>`(select ${now} - ${raw.lit(seedMs)})`;

/** By all tenants together, for the caller to group. */
export const takenThroughPlatform = (sql: Sql) =>
  acrossTenants(sql.db)
    .selectFrom("emails")
    .select(taken.as("taken"))
    .where("provider", "in", providersOf.smtp)
    .where("handed_at", ">", windowStart(sql));

export function createEmailSeeds(sql: Sql): EmailSeedQueries {
  return {
    async tenant(tenant, provider) {
      const row = await ofTenant(sql.db, tenant)
        .selectFrom("emails")
        .select(taken.as("taken"))
        .where("provider", "in", providersOf[provider])
        .where("handed_at", ">", windowStart(sql))
        .executeTakeFirstOrThrow();
      return Number(row.taken);
    },
    async platform() {
      return Number((await takenThroughPlatform(sql).executeTakeFirstOrThrow()).taken);
    },
  };
}
