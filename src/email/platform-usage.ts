import type { TenantId } from "../base/ids.ts";
import type { Counters } from "../limits/counters.ts";
import { bucketAt, countsUntil } from "../limits/window.ts";
import type { Sql } from "../sql/sql.ts";
import type { Tenants } from "../tenants/tenants.ts";
import { emailHour, ordinaryMax, platformEmailLimit } from "./outbox/charges.ts";
import { createEmailSeeds, takenThroughPlatform } from "./outbox/counter-seeds.ts";

/**
 * What all tenants together sent through the platform's SMTP within the last hour, and may still send: for the
 * operator.
 */
export interface PlatformEmails {
  standing(): Promise<PlatformStanding>;
  /** From the emails table. An email with an unknown outcome may count here and not in `standing`, or the reverse. */
  kinds(): Promise<readonly KindUse[]>;
  /** The tenants that sent most. */
  tenants(most: number): Promise<readonly TenantUse[]>;
}

export interface PlatformStanding {
  /** Null: the counters are unavailable. */
  readonly used: number | null;
  /** Null: no limit. */
  readonly limit: number | null;
  /** The part for ordinary mail. The rest is reserved for verification and password resets. */
  readonly ordinaryLimit: number | null;
  /** When everything used now no longer counts; null when nothing is used. */
  readonly resetsAt: number | null;
}

export interface KindUse {
  readonly kind: string;
  readonly used: number;
}

export interface TenantUse {
  readonly tenant: string;
  readonly used: number;
  readonly limit: number | null;
}

export interface PlatformEmailSettings {
  readonly sql: Sql;
  readonly tenants: Pick<Tenants, "byId">;
  /** Absent in a command beside a server that counts in memory: then the emails table is used. */
  readonly counters: Pick<Counters, "status"> | undefined;
  readonly max: number | null;
}

export function createPlatformEmails({ sql, tenants, counters, max }: PlatformEmailSettings): PlatformEmails {
  const { platform } = createEmailSeeds(sql);
  const taken = () => takenThroughPlatform(sql);

  async function counted(from: Pick<Counters, "status">) {
    const answer = await from.status([platformEmailLimit(max, platform)]);
    const status = answer.kind === "known" ? answer.limits[0] : undefined;
    return { used: status === undefined ? null : status.used + status.held, resetsAt: status?.resetsAt ?? null };
  }

  async function written() {
    const row = await taken()
      .select(({ fn }) => fn.max("handed_at").as("last"))
      .executeTakeFirstOrThrow();
    const [used, last] = [Number(row.taken), Number(row.last)];
    return { used, resetsAt: used === 0 ? null : countsUntil(emailHour, bucketAt(emailHour, last), last) };
  }

  return {
    async standing() {
      const { used, resetsAt } = counters === undefined ? await written() : await counted(counters);
      return { used, limit: max, ordinaryLimit: ordinaryMax(max), resetsAt };
    },

    async kinds() {
      const rows = await taken().select("kind").groupBy("kind").orderBy("taken", "desc").execute();
      return rows.map((row) => ({ kind: row.kind, used: Number(row.taken) }));
    },

    async tenants(most) {
      const rows = await taken()
        .select("tenant_id")
        .groupBy("tenant_id")
        .orderBy("taken", "desc")
        .limit(most)
        .execute();
      return Promise.all(
        rows.map(async (row) => {
          const tenant = await tenants.byId(row.tenant_id as TenantId);
          const limit = tenant?.limits.emailsPerHourSmtp ?? null;
          return { tenant: tenant?.slug ?? row.tenant_id, used: Number(row.taken), limit };
        }),
      );
    },
  };
}
