import type { KeyObject } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import { parseId, type TenantId } from "../../base/ids.ts";
import { sameText } from "../../base/signature.ts";
import { readWhole } from "../../http/body.ts";
import { problemResponse } from "../../http/problem.ts";
import type { Guesses } from "../../limits/guesses.ts";
import type { EmailSettings, EmailSettingsStore } from "../settings/settings.ts";
import type { Deliveries } from "./deliveries.ts";
import { readEvent } from "./events.ts";
import { isSigned, isTimely, parseWebhookKey } from "./signature.ts";

/**
 * SendGrid's events. Anyone can call this, so a stranger costs one point read:
 *
 * 1. The path contains a tenant and its webhook secret (`/email/events/{tenant}/{secret}`). Unless both match, the
 *    answer is 404, and nothing of the body is read.
 * 2. The body must be signed with the key that this tenant saved, else the answer is 403. Nothing in it is parsed
 *    before.
 * 3. Only then are its message IDs looked up, among this tenant's emails only. Unknown IDs are skipped, because the
 *    tenant's account may send other mail as well.
 *
 * A wrong path or signature counts as a guess by its address. Correct requests are accepted even from an address over
 * the limit: SendGrid sends the events of all its customers from the same addresses.
 */
export interface WebhookSettings {
  readonly deliveries: Deliveries;
  readonly settings: Pick<EmailSettingsStore, "of">;
  readonly guesses: Guesses;
  readonly clock: Clock;
}

export const eventsPath = "/email/events/";

/** The URL that the tenant pastes into SendGrid's settings. */
export const webhookUrl = (baseUrl: string, tenant: TenantId, { webhookSecret }: EmailSettings): string | null =>
  webhookSecret === null ? null : `${baseUrl}${eventsPath}${tenant}/${webhookSecret}`;

// SendGrid sends every 30 s, or when it has collected 768 kB.
const bodyMaxBytes = 2_097_152;
const eventsMost = 5_000;
const prefix = "x-twilio-email-event-webhook-";

export function createWebhook({ deliveries, settings, guesses, clock }: WebhookSettings) {
  async function missed(problem: Problem, address: string | undefined): Promise<Response> {
    const retryAfterSeconds = await guesses.missed(address);
    if (retryAfterSeconds === undefined) return problemResponse(problem);
    const detail = `Too many requests with a wrong path or signature from your IP address. Try again in ${retryAfterSeconds} s.`;
    return problemResponse(new Problem("too_many_guesses", detail, { retryAfterSeconds }));
  }

  /** The tenant of this URL, and the key it saved. */
  async function recipientOf(place: string) {
    const [name = "", secret = "", ...rest] = place.split("/", 3);
    const tenant = parseId("tenant", name);
    if (tenant === undefined || rest.length > 0) return undefined;
    const { webhookSecret, webhookKey } = await settings.of(tenant);
    if (webhookSecret === null || !sameText(secret, webhookSecret)) return undefined;
    return { tenant, key: webhookKey === null ? undefined : parseWebhookKey(webhookKey) };
  }

  async function signedBody(request: Request, key: KeyObject | undefined): Promise<Uint8Array | undefined> {
    const [signature, timestamp] = ["signature", "timestamp"].map((name) => request.headers.get(prefix + name));
    if (key === undefined || !signature || !timestamp || !isTimely(timestamp, clock.now())) return undefined;
    const body = await readWhole(request, bodyMaxBytes);
    return isSigned({ body, signature, timestamp }, key) ? body : undefined;
  }

  /** `place`: the path after `eventsPath`. */
  return async (request: Request, place: string, address: string | undefined): Promise<Response> => {
    const recipient = await recipientOf(place);
    if (recipient === undefined) return missed(noSuchAddress(), address);
    const body = await signedBody(request, recipient.key);
    if (body === undefined) return missed(badSignature(), address);
    const { tenant } = recipient;
    await deliveries.apply(tenant, await deliveries.find(tenant, eventsIn(body)));
    return new Response(null, { status: 204 });
  };
}

const noSuchAddress = () =>
  new Problem("not_found", "No webhook at this URL. Yours is `webhookUrl` in GET /api/email/settings.");

const badSignature = () =>
  new Problem(
    "forbidden",
    "The signature is missing, too old, or not made with the saved key. Turn on Signed Event Webhook at SendGrid, and save its verification key as `webhookKey`.",
  );

function eventsIn(body: Uint8Array) {
  const sent = parse(body);
  if (!Array.isArray(sent)) throw new Problem("invalid_json", "The request body must be a list of events.");
  if (sent.length > eventsMost) throw new Problem("body_too_large", `Send at most ${eventsMost} events per request.`);
  return sent.flatMap((event) => readEvent(event) ?? []);
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new Problem("invalid_json", "The request body is not valid JSON.");
  }
}
