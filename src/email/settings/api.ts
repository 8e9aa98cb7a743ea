import { toIso } from "../../base/clock.ts";
import { invalid, Problem } from "../../base/errors.ts";
import type { TenantId } from "../../base/ids.ts";
import type { Shares } from "../../base/shares.ts";
import { type Api, actorOf, json, jsonBody, route, z } from "../../http/route.ts";
import { parseAddress, parseMailbox } from "../address.ts";
import { parseWebhookKey } from "../delivery/signature.ts";
import { webhookUrl } from "../delivery/webhook.ts";
import type { KeyCheck } from "../providers/sendgrid-key.ts";
import { type NoticeKind, type NoticeSwitches, noticeKinds } from "./notice-kinds.ts";
import type { EmailSettings, EmailSettingsChange, EmailSettingsStore } from "./settings.ts";

/** The routes of a tenant's email settings. A key can be set but never read. */
const noticesSchema = z
  .object({
    firstClick: aboutNotice("firstClick"),
    spike: aboutNotice("spike"),
    drop: aboutNotice("drop"),
    deadTarget: aboutNotice("deadTarget"),
    digest: aboutNotice("digest"),
  } satisfies Record<NoticeKind, unknown>)
  .openapi("NoticeSwitches");

const settingsSchema = z
  .object({
    contact: z
      .string()
      .nullable()
      .openapi({ description: "Address for notices about limits and clicks. Null: none are sent." }),
    sender: z.string().nullable().openapi({ description: "Sender of emails through your SendGrid key." }),
    sendgrid: z
      .object({ hint: z.string(), checkedAt: z.string() })
      .nullable()
      .openapi({ description: "The last characters of your key, and when SendGrid accepted it. Null: no key." }),
    webhookUrl: z.string().nullable().openapi({
      description: "URL for SendGrid's Event Webhook. Null until you save a setting. Keep it secret.",
    }),
    webhookKey: z.string().nullable(),
    notices: noticesSchema.openapi({ description: "Which emails about clicks go to `contact`." }),
  })
  .openapi("EmailSettings");

const text = z.string().max(1_000).nullable();

const changeSchema = z
  .strictObject({
    contact: text.openapi({ description: "Address for notices about limits and clicks." }),
    sender: text.openapi({ description: "A sender verified at SendGrid: `Acme <links@example.com>`." }),
    sendgridKey: text.openapi({ description: "Checked with SendGrid, then stored encrypted. Null removes it." }),
    webhookKey: text.openapi({ description: "Verification key of SendGrid's Signed Event Webhook." }),
    notices: z
      .strictObject(noticesSchema.shape)
      .partial()
      .openapi({ description: "Emails about clicks, to switch on or off. Omitted ones stay as they are." }),
  })
  .partial()
  .openapi("EmailSettingsChange", { example: { contact: "ops@example.com" } });

const routes = {
  get: route(
    "email:read",
    {
      method: "get",
      path: "/api/email/settings",
      tags: ["Email"],
      operationId: "getEmailSettings",
      summary: "Get email settings",
    },
    { 200: json(settingsSchema, "The settings") },
  ),
  change: route(
    "admin",
    {
      method: "patch",
      path: "/api/email/settings",
      tags: ["Email"],
      operationId: "updateEmailSettings",
      summary: "Update email settings",
      description: "Omitted fields keep their value; null removes them.",
      request: { body: jsonBody(changeSchema) },
    },
    { 200: json(settingsSchema, "The updated settings") },
    "invalid_input",
    "not_set_up",
    "unavailable",
  ),
  rotate: route(
    "admin",
    {
      method: "post",
      path: "/api/email/webhook/rotate",
      tags: ["Email"],
      operationId: "rotateEmailWebhook",
      "x-repeatable": true,
      summary: "Rotate the webhook URL",
      description: "The previous URL stops working at once. Paste the new `webhookUrl` into SendGrid's settings.",
    },
    { 200: json(settingsSchema, "The settings with the new URL") },
  ),
};

export interface EmailSettingsApi {
  readonly settings: EmailSettingsStore;
  readonly checkKey: KeyCheck;
  readonly outgoing: Shares;
  /** Whether there is a key to encrypt secrets with. */
  readonly canSeal: boolean;
  readonly baseUrl: string;
}

export function emailSettingsRoutes(
  api: Api,
  { settings, checkKey, outgoing, canSeal, baseUrl }: EmailSettingsApi,
): void {
  const show = (tenant: TenantId, saved: EmailSettings) => ({
    contact: saved.contact,
    sender: saved.sender,
    sendgrid: saved.sendgrid && { hint: saved.sendgrid.hint, checkedAt: toIso(saved.sendgrid.checkedAt) },
    webhookUrl: webhookUrl(baseUrl, tenant, saved),
    webhookKey: saved.webhookKey,
    notices: saved.notices,
  });

  api.openapi(routes.get, async (c) => {
    const { id } = c.get("caller").tenant;
    return c.json(show(id, await settings.of(id)), 200);
  });

  api.openapi(routes.rotate, async (c) => {
    const caller = c.get("caller");
    const { id } = caller.tenant;
    const chance = c.get("once")?.secret("webhook");
    return c.json(show(id, await settings.rotateWebhook(id, actorOf(caller), chance)), 200);
  });

  api.openapi(routes.change, async (c) => {
    const { id } = c.get("caller").tenant;
    const change = checked(c.req.valid("json"));
    requireSender(await settings.of(id), change);
    if (typeof change.sendgridKey === "string") {
      if (!canSeal) throw noSecretKeys();
      const key = change.sendgridKey;
      await outgoing.run(id, () => requireWorkingKey(checkKey, key), { signal: c.req.raw.signal });
    }
    return c.json(show(id, await settings.change(id, change, actorOf(c.get("caller")))), 200);
  });
}

/** Values as stored, or a problem that names the field. */
function checked(sent: z.infer<typeof changeSchema>): EmailSettingsChange {
  const { contact, sender, sendgridKey, webhookKey, notices } = sent;
  return {
    ...(notices === undefined ? {} : { notices: chosen(notices) }),
    ...(contact === undefined ? {} : { contact: contact === null ? null : contactOf(contact) }),
    ...(sender === undefined ? {} : { sender: sender === null ? null : senderOf(sender) }),
    ...(sendgridKey === undefined ? {} : { sendgridKey: sendgridKey === null ? null : keyOf(sendgridKey) }),
    ...(webhookKey === undefined ? {} : { webhookKey: webhookKey === null ? null : webhookKeyOf(webhookKey) }),
  };
}

const chosen = (notices: Partial<Record<NoticeKind, boolean | undefined>>): Partial<NoticeSwitches> =>
  Object.fromEntries(Object.entries(notices).filter(([, isOn]) => isOn !== undefined));

function contactOf(text: string): string {
  const address = parseAddress(text);
  if (address === undefined)
    throw invalid("contact", "bad_address", "Must be an email address, such as ann@example.com.");
  return address;
}

function senderOf(text: string): string {
  try {
    const { name, address } = parseMailbox(text);
    return name === null ? address : `${name} <${address}>`;
  } catch {
    const message = "Must be an address, such as links@example.com or Links <links@example.com>.";
    throw invalid("sender", "bad_address", message);
  }
}

// It becomes a header: only characters allowed there.
const keyPattern = /^[\x21-\x7e]{20,250}$/;

function keyOf(text: string): string {
  if (keyPattern.test(text)) return text;
  throw invalid("sendgridKey", "bad_format", "Not a SendGrid key. It must look like SG.….… without spaces.");
}

function webhookKeyOf(text: string): string {
  if (parseWebhookKey(text) !== undefined) return text;
  const message = "Not a SendGrid verification key. It must be base64 on one line, starting with MFkwEwYHKoZIzj0.";
  throw invalid("webhookKey", "bad_format", message);
}

/** SendGrid accepts mail only from an address verified there, which the platform's is not. */
function requireSender(before: EmailSettings, { sender, sendgridKey }: EmailSettingsChange): void {
  const willHaveKey = sendgridKey === undefined ? before.sendgrid !== null : sendgridKey !== null;
  const willHaveSender = sender === undefined ? before.sender !== null : sender !== null;
  if (willHaveKey && !willHaveSender) {
    throw invalid("sender", "required", "Required with your own SendGrid key: a sender that is verified at SendGrid.");
  }
}

async function requireWorkingKey(checkKey: KeyCheck, key: string): Promise<void> {
  const finding = await checkKey(key);
  switch (finding.kind) {
    case "works":
      return;
    case "refused":
      throw invalid("sendgridKey", "key_refused", "SendGrid rejects this key. Nothing was saved.");
    case "cannot_send":
      throw invalid(
        "sendgridKey",
        "key_lacks_scope",
        "This key cannot send email. Give it the Mail Send permission at SendGrid.",
      );
    case "unreachable":
      throw new Problem(
        "unavailable",
        `SendGrid could not check the key: ${finding.detail}. Nothing was saved; try again.`,
        {
          retryAfterSeconds: 30,
        },
      );
  }
}

const noSecretKeys = () =>
  new Problem(
    "not_set_up",
    "This server cannot encrypt your key. The operator must set QL_SECRET_KEYS to the same value on every machine.",
  );

function aboutNotice(kind: NoticeKind) {
  const { about, isOn } = noticeKinds[kind];
  return z.boolean().openapi({ description: `About ${about}. ${isOn ? "On" : "Off"} unless you choose.` });
}
