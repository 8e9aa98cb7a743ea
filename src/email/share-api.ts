import type { Clock } from "../base/clock.ts";
import { invalid, Problem } from "../base/errors.ts";
import { parseId } from "../base/ids.ts";
import { type Api, json, jsonBody, multiLine, route, z } from "../http/route.ts";
import { type Link, shortUrl } from "../links/link.ts";
import type { Links } from "../links/links.ts";
import type { Tenant } from "../tenants/tenants.ts";
import type { StopLinks } from "./delivery/unsubscribe.ts";
import type { Enqueued, Outbox } from "./outbox/outbox.ts";
import { writeMail } from "./templates/templates.ts";

/**
 * Shares a link by email. One recipient at a time: it is sent, or the caller learns at once why not; there are no
 * partial results.
 */
const addressMaxChars = 320;
const messageMaxChars = 1_000;

const shareRoute = route(
  "email:send",
  {
    method: "post",
    path: "/api/links/{id}/share",
    tags: ["Email"],
    operationId: "shareLink",
    "x-repeatable": true,
    summary: "Share a link by email",
    request: {
      params: z.object({ id: z.string() }),
      body: jsonBody(
        z
          .strictObject({
            to: z.string().max(addressMaxChars).openapi({ description: "One recipient address." }),
            message: multiLine(messageMaxChars).nullable().optional().openapi({ description: "Plain text." }),
          })
          .openapi("Share", { example: { to: "ann@example.com", message: "Have a look." } }),
      ),
    },
  },
  { 202: json(z.object({ id: z.string(), state: z.literal("queued") }), "The email is queued or sent") },
  "not_found",
  "invalid_input",
  "email_limited",
  "email_suppressed",
  "unavailable",
);

export interface ShareApi {
  readonly links: Links;
  readonly outbox: Outbox;
  readonly stopLinks: StopLinks;
  readonly baseUrl: string;
  readonly clock: Clock;
}

export function shareRoutes(api: Api, { links, outbox, stopLinks, baseUrl, clock }: ShareApi): void {
  function write(tenant: Tenant, link: Link, to: string, message: string | null) {
    const host = URL.canParse(link.url) ? new URL(link.url).host : null;
    const facts = { from: tenant.name, shortUrl: shortUrl(baseUrl, link), title: link.title, host, message };
    return writeMail("share", facts, stopLinks.urlFor(tenant.id, to));
  }

  api.openapi(shareRoute, async (c) => {
    const { tenant } = c.get("caller");
    const { to, message = null } = c.req.valid("json");
    const once = c.get("once")?.id("email");
    const key = once && `share:${once}`;
    // Before checking link or recipient, which may have changed since it was sent.
    const before = key && (await outbox.find(tenant.id, key));
    if (before) return c.json({ id: before, state: "queued" as const }, 202);
    const id = parseId("link", c.req.valid("param").id);
    if (id === undefined) throw new Problem("not_found", "No such link.");
    const link = await links.get(tenant.id, id);
    requireOpen(link, clock.now());
    const mail = write(tenant, link, to, message === null ? null : message.replaceAll(/\r\n?/g, "\n"));
    const answer = await outbox.sendNow({ tenant: tenant.id, kind: "share", to, ...(key && { key }), ...mail });
    return c.json(accepted(to, answer), 202);
  });
}

function requireOpen({ status, expiresAt }: Link, now: number): void {
  if (status === "disabled")
    throw invalid("id", "not_active", "The link is disabled, so the recipient could not open it.");
  if (expiresAt !== null && expiresAt <= now) {
    throw invalid("id", "not_active", "The link has expired, so the recipient could not open it.");
  }
}

const whys: Readonly<Record<string, string>> = {
  bounced: "earlier emails bounced",
  complaint: "the recipient marked an earlier email as spam",
  unsubscribed: "the recipient unsubscribed",
};

function accepted(to: string, answer: Enqueued): { id: string; state: "queued" } {
  switch (answer.kind) {
    case "queued":
    case "repeated":
      return { id: answer.id, state: "queued" };
    case "suppressed":
      throw new Problem(
        "email_suppressed",
        `Nothing was sent to ${to}: ${whys[answer.reason] ?? "the address is suppressed"}.`,
      );
    case "limited":
      throw new Problem("email_limited", limitText(answer.limit), retry(answer.retryAfterMs));
    case "unavailable":
      throw new Problem(
        "unavailable",
        "Email limits cannot be checked right now. Nothing was sent; try again shortly.",
        retry(answer.retryAfterMs),
      );
  }
}

function limitText(limit: string): string {
  return limit.startsWith("platform")
    ? "This server has reached its hourly email limit. Nothing was sent; try again later."
    : "You have reached your plan's hourly email limit. Nothing was sent; try again later.";
}

const retry = (ms: number | null) => (ms === null ? {} : { retryAfterSeconds: Math.max(1, Math.ceil(ms / 1_000)) });
