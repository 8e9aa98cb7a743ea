import { sql as raw } from "kysely";
import type { TenantId } from "../../base/ids.ts";
import type { Sql } from "../../sql/sql.ts";
import { type Params, statement } from "../../sql/statement.ts";
import { acrossTenants, ofTenant, type TenantDb } from "../../sql/tenant-db.ts";
import type { ProviderName } from "../providers/provider.ts";
import type { EmailProvider } from "./charges.ts";

/**
 * How many emails providers may have accepted within the window of the limits, from the table: the start value of a
 * counter that is new or was lost.
 *
 * A row has its last hand-over, and how many before it have an unknown outcome. All of these count as if made at the
 * last time, which is never too few; emails certainly not accepted are left out, because their charge was released. A
 * charge not yet in the table when it is counted is asked for again after its mark, see `sender.ts`.
 */
export interface EmailSeedQueries {
  tenant(tenant: TenantId, provider: EmailProvider): Promise<number>;
  platform(): Promise<number>;
}

/** The window of the limits, and the minute by which a charge counts longer. */
const seedMs = 62 * 60_000;

/** The limit of a provider's emails: emails written to the log are limited as if sent. */
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
  const takenByTenant = statement((own: TenantDb, { providers }: Params<{ providers: readonly ProviderName[] }>) =>
    own
      .selectFrom("emails")
      .select(taken.as("taken"))
      .where("provider", "in", providers)
      .where("handed_at", ">", windowStart(sql)),
  );

  return {
    async tenant(tenant, provider) {
      const row = await takenByTenant.one(ofTenant(sql.db, tenant), { providers: providersOf[provider] });
      return Number(row.taken);
    },
    async platform() {
      return Number((await takenThroughPlatform(sql).executeTakeFirstOrThrow()).taken);
    },
  };
}
