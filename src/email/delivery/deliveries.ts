import type { Clock } from "../../base/clock.ts";
import type { EmailId, TenantId } from "../../base/ids.ts";
import type { Delivery } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant } from "../../sql/tenant-db.ts";
import { type DeliveryEvent, outweighs } from "./events.ts";
import type { Suppressions } from "./suppressions.ts";

/** Applies delivery events of the provider to the email rows and the suppression list. */
export interface Deliveries {
  /** The tenant's emails that these events are about. */
  find(tenant: TenantId, events: readonly DeliveryEvent[]): Promise<DeliveryReport[]>;
  /** Applying an event twice changes nothing; returns how many were news. */
  apply(tenant: TenantId, told: readonly DeliveryReport[]): Promise<number>;
}

export interface DeliveryReport {
  readonly event: DeliveryEvent;
  readonly email: EmailId;
  readonly recipient: string;
  readonly delivery: Delivery | null;
}

const askedAtOnce = 500;
const writtenAtOnce = 50; // on SQLite a transaction blocks the serving thread: for a few milliseconds at most

export function createDeliveries(sql: Sql, suppressions: Suppressions, clock: Clock): Deliveries {
  async function rowsOf(tenant: TenantId, ids: readonly string[]) {
    const rows = await ofTenant(sql.db, tenant)
      .selectFrom("emails")
      .select(["id", "recipient", "delivery", "provider_id"])
      .where("provider_id", "in", ids)
      .execute();
    return rows.map((row) => [row.provider_id, row] as const);
  }

  /** The event with more weight stays, whatever is written concurrently. */
  async function mark(tenant: TenantId, told: readonly DeliveryReport[]): Promise<void> {
    await sql.transaction(async (trx) => {
      for (const { event, email } of told) {
        const { delivery, at, detail } = event;
        if (delivery === null) continue;
        const lighter = (["delivered", "bounced"] as const).filter((one) => outweighs(delivery, one));
        await ofTenant(trx, tenant)
          .updateTable("emails")
          .set({ delivery, delivery_at: at ?? clock.now(), ...(delivery === "delivered" ? {} : { detail }) })
          .where("id", "=", email)
          .where((row) =>
            row.or([row("delivery", "is", null), ...(lighter.length > 0 ? [row("delivery", "in", lighter)] : [])]),
          )
          .execute();
      }
    });
  }

  return {
    async find(tenant, events) {
      const ids = [...new Set(events.flatMap(({ providerIds }) => providerIds))];
      const rows = new Map<string | null, Awaited<ReturnType<typeof rowsOf>>[number][1]>();
      for (let start = 0; start < ids.length; start += askedAtOnce) {
        for (const [id, row] of await rowsOf(tenant, ids.slice(start, start + askedAtOnce))) rows.set(id, row);
      }
      return events.flatMap((event) => {
        const row = event.providerIds.map((id) => rows.get(id)).find((one) => one !== undefined);
        if (row === undefined) return [];
        return [{ event, email: row.id, recipient: row.recipient, delivery: row.delivery }];
      });
    },

    async apply(tenant, told) {
      const news = told.filter(({ event, delivery }) => event.delivery === null || outweighs(event.delivery, delivery));
      for (let start = 0; start < news.length; start += writtenAtOnce) {
        const some = news.slice(start, start + writtenAtOnce);
        // Before the mark: once that is written, the event is no longer news and would not be processed again.
        for (const { event, recipient } of some) {
          if (event.suppress !== null) await suppressions.add(tenant, recipient, event.suppress);
        }
        await mark(tenant, some);
      }
      return news.length;
    },
  };
}
