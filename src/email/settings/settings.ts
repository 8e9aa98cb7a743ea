import { randomBytes } from "node:crypto";
import type { Selectable } from "kysely";
import type { Clock } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import type { TenantId } from "../../base/ids.ts";
import { pagesOf } from "../../base/pages.ts";
import type { Ring } from "../../base/seal.ts";
import { type Actor, differenceOf, type HistoryFields, recordHistory } from "../../history/history.ts";
import type { EmailSettingsTable } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { statement } from "../../sql/statement.ts";
import { acrossTenants, type Db, ofTenant, type Trx } from "../../sql/tenant-db.ts";
import { parseMailbox } from "../address.ts";
import type { Mailbox } from "../providers/provider.ts";
import { changeSwitches, defaultSwitches, type NoticeSwitches, switchesOf } from "./notice-kinds.ts";

/** A tenant's email settings. Its SendGrid key is stored encrypted, and decrypted only for the sender. */
export interface EmailSettings {
  /** Address for notices about the tenant. */
  readonly contact: string | null;
  /** Sender of its emails through its SendGrid key. */
  readonly sender: string | null;
  readonly sendgrid: { readonly hint: string; readonly checkedAt: number } | null;
  readonly webhookKey: string | null;
  /** The secret part of the webhook URL. Null until the tenant saves its first setting. */
  readonly webhookSecret: string | null;
  /** Which emails about clicks go to its contact address. */
  readonly notices: NoticeSwitches;
}

/** Omitted fields stay; null removes. */
export interface EmailSettingsChange {
  readonly contact?: string | null;
  readonly sender?: string | null;
  /** Must have been checked: it is stored with the current time. */
  readonly sendgridKey?: string | null;
  readonly webhookKey?: string | null;
  readonly notices?: Partial<NoticeSwitches>;
}

export interface OwnSendgrid {
  readonly key: string;
  readonly sender: Mailbox;
}

export interface EmailSettingsStore {
  of(tenant: TenantId): Promise<EmailSettings>;
  change(tenant: TenantId, change: EmailSettingsChange, by: Actor): Promise<EmailSettings>;
  /** Gives the webhook another URL; the previous one stops working. `chance`: for a request that may run again. */
  rotateWebhook(tenant: TenantId, by: Actor, chance?: Uint8Array): Promise<EmailSettings>;
  /**
   * Only for the sender. Throws when there is a key that cannot be decrypted: sending another way would be a surprise.
   */
  ownKey(tenant: TenantId): Promise<OwnSendgrid | undefined>;
}

const none: EmailSettings = {
  ...{ contact: null, sender: null, sendgrid: null, webhookKey: null, webhookSecret: null },
  notices: defaultSwitches,
};
const hintChars = 4;
const webhookSecretBytes = 24;

/** Owner and purpose. An encrypted key copied to another row cannot be decrypted there. */
export const sendgridContext = (tenant: TenantId): string => `sendgrid ${tenant}`;

/** Without a ring no key can be stored: `change` throws then, so check first. */
export function createEmailSettings(sql: Sql, ring: Ring | undefined, clock: Clock): EmailSettingsStore {
  const rowOf = (tenant: TenantId) =>
    ofTenant(sql.db, tenant).selectFrom("email_settings").selectAll().executeTakeFirst();

  function sealed(tenant: TenantId, key: string | null) {
    if (key === null) return { sendgrid_key: null, sendgrid_hint: null, sendgrid_checked_at: null };
    if (ring === undefined) throw new Error("there is no key to encrypt with");
    return {
      sendgrid_key: ring.seal(key, sendgridContext(tenant)),
      sendgrid_hint: `…${key.slice(-hintChars)}`,
      sendgrid_checked_at: clock.now(),
    };
  }

  const newSecret = (chance: Uint8Array = randomBytes(webhookSecretBytes)): string =>
    Buffer.from(chance.subarray(0, webhookSecretBytes)).toString("base64url");

  async function record(
    trx: Trx,
    tenant: TenantId,
    actor: Actor,
    action: string,
    before: HistoryFields,
    after: HistoryFields,
  ): Promise<void> {
    const change = differenceOf(before, after);
    if (change === undefined) return;
    const subject = { kind: "email settings", id: tenant };
    await recordHistory(trx, clock, { tenant, actor, action, subject, ...change });
  }

  return {
    async of(tenant) {
      const row = await rowOf(tenant);
      return row === undefined ? none : toSettings(row);
    },

    async change(tenant, { contact, sender, sendgridKey, webhookKey, notices }, by) {
      const secret = newSecret();
      const columns = {
        ...(contact === undefined ? {} : { contact }),
        ...(sender === undefined ? {} : { sender }),
        ...(sendgridKey === undefined ? {} : sealed(tenant, sendgridKey)),
        ...(webhookKey === undefined ? {} : { webhook_key: webhookKey }),
        updated_at: clock.now(),
      };
      const write = (trx: Trx, changed: Partial<typeof columns> & { updated_at: number; notices?: string }) =>
        ofTenant(trx, tenant)
          .insertInto("email_settings")
          .values({ ...changed, webhook_secret: secret })
          .onConflict((conflict) =>
            conflict.column("tenant_id").doUpdateSet((row) => ({
              ...changed,
              webhook_secret: row.fn.coalesce("email_settings.webhook_secret", row.val(secret)),
            })),
          )
          .returningAll()
          .executeTakeFirstOrThrow();
      return await sql.transaction(async (trx) => {
        // The row is locked by a write that changes nothing, so that what it was is known.
        const before = await write(trx, { updated_at: clock.now() });
        const switches = notices && { notices: changeSwitches(before.notices, notices, clock.now()) };
        const after = toSettings(await write(trx, { ...columns, ...switches }));
        await record(trx, tenant, by, "email-settings.update", shown(toSettings(before)), {
          ...shown(after),
          // A new key may end like the old one.
          ...(typeof sendgridKey === "string" && { sendgridKey: `set ${after.sendgrid?.hint ?? ""}` }),
        });
        return after;
      });
    },

    rotateWebhook: (tenant, by, chance) =>
      sql.transaction(async (trx) => {
        const changed = { webhook_secret: newSecret(chance) };
        const row = await ofTenant(trx, tenant)
          .insertInto("email_settings")
          .values({ ...changed, updated_at: clock.now() })
          .onConflict((conflict) => conflict.column("tenant_id").doUpdateSet(changed))
          .returningAll()
          .executeTakeFirstOrThrow();
        await record(trx, tenant, by, "email-settings.rotate-webhook", {}, { webhookUrl: "replaced" });
        return toSettings(row);
      }),

    async ownKey(tenant) {
      const row = await rowOf(tenant);
      if (row === undefined || row.sendgrid_key === null || row.sender === null) return undefined;
      const opened = ring?.open(row.sendgrid_key, sendgridContext(tenant)) ?? { kind: "no_ring" };
      if (opened.kind === "opened") return { key: opened.secret, sender: parseMailbox(row.sender) };
      throw new Problem("unavailable", `Your SendGrid key cannot be decrypted: ${whyNot(opened)}.`);
    },
  };
}

/** As the history shows them: of the key its hint, and nothing of the webhook's secret. */
const shown = ({ contact, sender, sendgrid, webhookKey, notices }: EmailSettings): HistoryFields => ({
  ...{ contact, sender, sendgridKey: sendgrid === null ? null : `set ${sendgrid.hint}`, webhookKey, notices },
});

type NotOpened = { kind: "no_ring" } | { kind: "broken" } | { kind: "unknown_key"; keyId: string };

function whyNot(opened: NotOpened): string {
  if (opened.kind === "no_ring") return "QL_SECRET_KEYS is not set";
  if (opened.kind === "broken") return "the stored value was changed; save the key again";
  return `QL_SECRET_KEYS has no key "${opened.keyId}"`;
}

function toSettings(row: Selectable<EmailSettingsTable>): EmailSettings {
  const { contact, sender, sendgrid_key: key, sendgrid_hint: hint, sendgrid_checked_at: checkedAt } = row;
  return {
    contact,
    sender,
    sendgrid: key === null ? null : { hint: hint ?? "", checkedAt: checkedAt ?? 0 },
    webhookKey: row.webhook_key,
    webhookSecret: row.webhook_secret,
    notices: switchesOf(row.notices),
  };
}

/** The tenants whose email settings have this field, page by page. */
export const tenantsWith = (
  { db }: Sql,
  field: "contact" | "sendgrid_key",
): AsyncGenerator<readonly { readonly tenant_id: TenantId }[]> =>
  pagesOf((limit, last) =>
    acrossTenants(db)
      .selectFrom("email_settings")
      .select("tenant_id")
      .where(field, "is not", null)
      .where("tenant_id", ">", last?.tenant_id ?? ("" as TenantId))
      .orderBy("tenant_id")
      .limit(limit)
      .execute(),
  );

/** Whether any tenant has a contact address, and so may want notices. One read. */
export const hasContacts = async ({ db }: Sql): Promise<boolean> => (await selectContact.first(db)) !== undefined;

const selectContact = statement((db: Db) =>
  acrossTenants(db).selectFrom("email_settings").select("tenant_id").where("contact", "is not", null).limit(1),
);
