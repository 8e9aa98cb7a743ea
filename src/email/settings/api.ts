import { toIso } from "../../base/clock.ts";
import { invalid, Problem } from "../../base/errors.ts";
import type { TenantId } from "../../base/ids.ts";
import type { Shares } from "../../base/shares.ts";
import { type Api, json, jsonBody, route, z } from "../../http/route.ts";
import { parseAddress, parseMailbox } from "../address.ts";
import { parseWebhookKey } from "../delivery/signature.ts";
import { webhookUrl } from "../delivery/webhook.ts";
import type { KeyCheck } from "../providers/sendgrid-key.ts";
import type { EmailSettings, EmailSettingsChange, EmailSettingsStore } from "./settings.ts";

/** The routes of a tenant's own email settings. A key goes in and never comes out. */
const settingsSchema = z
  .object({
    contact: z.string().nullable().openapi({ description: "Where notices about limits go. Null: nowhere." }),
    sender: z.string().nullable().openapi({ description: "Who emails through your own SendGrid key are from." }),
    sendgrid: z
      .object({ hint: z.string(), checkedAt: z.string() })
      .nullable()
      .openapi({ description: "The end of your own key, and when SendGrid accepted it. Null: there is none." }),
    webhookUrl: z.string().nullable().openapi({
      description: "The address for SendGrid's Event Webhook. Null until you save a setting. Keep it to yourself.",
    }),
    webhookKey: z.string().nullable(),
  })
  .openapi("EmailSettings");

const text = z.string().max(1_000).nullable();

const changeSchema = z
  .strictObject({
    contact: text.openapi({ description: "Where notices about limits go." }),
    sender: text.openapi({ description: "Verified at SendGrid: `Acme <links@example.com>`." }),
    sendgridKey: text.openapi({ description: "Checked with SendGrid, then kept sealed. Null removes it." }),
    webhookKey: text.openapi({ description: "The verification key of SendGrid's signed event webhook." }),
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
      summary: "How your email is sent",
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
      summary: "Change how your email is sent",
      description: "What is left out stays as it is; null removes it.",
      request: { body: jsonBody(changeSchema) },
    },
    { 200: json(settingsSchema, "The settings as they are now") },
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
      summary: "Get a new webhook address",
      description: "The former address stops working at once. Paste the new `webhookUrl` into SendGrid's settings.",
    },
    { 200: json(settingsSchema, "The settings, with the new address") },
  ),
};

export interface EmailSettingsApi {
  readonly settings: EmailSettingsStore;
  readonly checkKey: KeyCheck;
  readonly outgoing: Shares;
  /** Whether there is a key to seal secrets with. */
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
  });

  api.openapi(routes.get, async (c) => {
    const { id } = c.get("caller").tenant;
    return c.json(show(id, await settings.of(id)), 200);
  });

  api.openapi(routes.rotate, async (c) => {
    const { id } = c.get("caller").tenant;
    return c.json(show(id, await settings.rotateWebhook(id, c.get("once")?.secret("webhook"))), 200);
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
    return c.json(show(id, await settings.change(id, change)), 200);
  });
}

/** As they are kept, or a problem that names the field. */
function checked(sent: z.infer<typeof changeSchema>): EmailSettingsChange {
  const { contact, sender, sendgridKey, webhookKey } = sent;
  return {
    ...(contact === undefined ? {} : { contact: contact === null ? null : contactOf(contact) }),
    ...(sender === undefined ? {} : { sender: sender === null ? null : senderOf(sender) }),
    ...(sendgridKey === undefined ? {} : { sendgridKey: sendgridKey === null ? null : keyOf(sendgridKey) }),
    ...(webhookKey === undefined ? {} : { webhookKey: webhookKey === null ? null : webhookKeyOf(webhookKey) }),
  };
}

function contactOf(text: string): string {
  const address = parseAddress(text);
  if (address === undefined) throw invalid("contact", "bad_address", "This is not an address like ann@example.com.");
  return address;
}

function senderOf(text: string): string {
  try {
    const { name, address } = parseMailbox(text);
    return name === null ? address : `${name} <${address}>`;
  } catch {
    const message = "This is not an address like links@example.com or Links <links@example.com>.";
    throw invalid("sender", "bad_address", message);
  }
}

// It becomes a header: nothing but what can stand in one.
const keyPattern = /^[\x21-\x7e]{20,250}$/;

function keyOf(text: string): string {
  if (keyPattern.test(text)) return text;
  throw invalid("sendgridKey", "bad_format", "This is not a SendGrid key. They look like SG.….… and have no spaces.");
}

function webhookKeyOf(text: string): string {
  if (parseWebhookKey(text) !== undefined) return text;
  const message =
    "This is not the verification key that SendGrid shows: base64 in one line, which begins with MFkwEwYHKoZIzj0.";
  throw invalid("webhookKey", "bad_format", message);
}

/** SendGrid takes mail only from an address that was verified there, which the platform's is not. */
function requireSender(before: EmailSettings, { sender, sendgridKey }: EmailSettingsChange): void {
  const willHaveKey = sendgridKey === undefined ? before.sendgrid !== null : sendgridKey !== null;
  const willHaveSender = sender === undefined ? before.sender !== null : sender !== null;
  if (willHaveKey && !willHaveSender) {
    throw invalid("sender", "required", "With your own SendGrid key give a sender, too: one that is verified there.");
  }
}

async function requireWorkingKey(checkKey: KeyCheck, key: string): Promise<void> {
  const finding = await checkKey(key);
  switch (finding.kind) {
    case "works":
      return;
    case "refused":
      throw invalid("sendgridKey", "key_refused", "SendGrid does not accept this key. Nothing was saved.");
    case "cannot_send":
      throw invalid("sendgridKey", "key_lacks_scope", "This key may not send: give it Mail Send at SendGrid.");
    case "unreachable":
      throw new Problem(
        "unavailable",
        `SendGrid cannot be asked about the key: ${finding.detail}. Nothing was saved.`,
        {
          retryAfterSeconds: 30,
        },
      );
  }
}

const noSecretKeys = () =>
  new Problem(
    "not_set_up",
    "This server has no key to seal yours with. The operator must set QL_SECRET_KEYS, the same on every machine.",
  );
