import { sql as raw } from "kysely";
import type { TenantId } from "../../base/ids.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant } from "../../sql/tenant-db.ts";
import { allTenants, type SuppressionReason, suppressionFor } from "../delivery/suppressions.ts";
import { isNoticeKind, switchesOf } from "../settings/notice-kinds.ts";
import { mailKinds } from "./outbox.ts";
import type { ClaimedEmail, FailureReason } from "./store.ts";

/**
 * Whether an email may still be sent. Since it was queued it may have waited for a day: meanwhile its recipient unsubscribed, or
 * its workspace was suspended, switched off this kind of notice or has another contact. So every attempt asks, with one
 * statement. Essential emails are sent all the same, unless their address does not exist.
 */
export interface SendCheck {
  /** Why it must not be sent; `undefined` if it may. */
  whyNot(email: Pick<ClaimedEmail, "tenant" | "to" | "kind">): Promise<FailureReason | undefined>;
}

export function createSendCheck({ db }: Sql): SendCheck {
  async function read(tenant: TenantId, address: string) {
    const own = ofTenant(db, tenant);
    const listed = (owner: TenantId | typeof allTenants) =>
      ofTenant(db, owner)
        .selectFrom("suppressions")
        .select(columns("suppressed", "reason"))
        .where("address", "=", address.toLowerCase());
    return await listed(tenant)
      .unionAll(listed(allTenants))
      .unionAll(own.selectFrom("suspended_tenants").select(columns("suspended")))
      .unionAll(own.selectFrom("email_settings").select(columns("settings", "notices", "contact")))
      .execute();
  }

  return {
    async whyNot({ tenant, to, kind }) {
      const rows = await read(tenant, to);
      const listed = rows.flatMap(({ what, detail }) => (what === "suppressed" ? [detail as SuppressionReason] : []));
      const suppressed = suppressionFor(kind, listed);
      if (suppressed !== undefined) return { reason: "suppressed", detail: suppressed };
      const { essential, toContact } = mailKinds[kind];
      if (!essential && rows.some(({ what }) => what === "suspended")) {
        return { reason: "suspended", detail: "the workspace is suspended" };
      }
      const settings = rows.find(({ what }) => what === "settings");
      if (!toContact || settings === undefined) return undefined;
      if (settings.contact !== to) return { reason: "contact", detail: "the workspace has another contact, or none" };
      if (isNoticeKind(kind) && !switchesOf(settings.detail)[kind]) {
        return { reason: "switched_off", detail: "the workspace has switched off this kind of email" };
      }
      return undefined;
    },
  };
}

/** The same three of every table, for one statement. */
const columns = (what: "suppressed" | "suspended" | "settings", detail = "null", contact = "null") => [
  raw<typeof what>`${raw.lit(what)}`.as("what"),
  raw<string | null>`cast(${raw.raw(detail)} as text)`.as("detail"),
  raw<string | null>`cast(${raw.raw(contact)} as text)`.as("contact"),
];
