import type { Clock } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import type { TenantId } from "../base/ids.ts";
import { readWhole } from "../http/body.ts";
import { problemResponse } from "../http/problem.ts";
import type { Guesses } from "../limits/guesses.ts";
import type { Deliveries, Told } from "./deliveries.ts";
import { readEvent } from "./events.ts";
import type { EmailSettingsStore } from "./settings.ts";
import { isSigned, isTimely, parseWebhookKey, type SignedBody } from "./signature.ts";

/**
 * SendGrid's events. Everybody can call this, so nothing in it is believed but what the signature holds:
 *
 * 1. The message ids in the body lead to emails of ours, and these to tenants. Unknown ids are passed over, for a
 *    tenant's account may send other mail as well.
 * 2. The body must be signed with the key that such a tenant gave us. Events about other tenants' emails are passed over:
 *    a key speaks for its tenant alone.
 * 3. If there are emails of ours and no key fits, the answer is 403, and does not say which.
 */
export interface WebhookSettings {
  readonly deliveries: Deliveries;
  readonly settings: Pick<EmailSettingsStore, "of">;
  readonly guesses: Guesses;
  readonly clock: Clock;
}

export const eventsPath = "/email/events/sendgrid";

// They send every 30 s, or when 768 kB have gathered.
const bodyMaxBytes = 2_097_152;
const eventsMost = 5_000;
const tenantsMost = 10;
const prefix = "x-twilio-email-event-webhook-";

export function createWebhook({ deliveries, settings, guesses, clock }: WebhookSettings) {
  const refused = async (address: string | undefined) => {
    const retryAfterSeconds = await guesses.missed(address);
    return retryAfterSeconds === undefined
      ? problemResponse(new Problem("forbidden", "The signature is missing, or not one that is accepted here."))
      : problemResponse(new Problem("too_many_guesses", "Too many bad signatures. Wait.", { retryAfterSeconds }));
  };

  async function trusted(tenant: TenantId, signed: SignedBody): Promise<boolean> {
    const { webhookKey } = await settings.of(tenant);
    const key = webhookKey === null ? undefined : parseWebhookKey(webhookKey);
    return key !== undefined && isSigned(signed, key);
  }

  return async (request: Request, address: string | undefined): Promise<Response> => {
    const [signature, timestamp] = ["signature", "timestamp"].map((name) => request.headers.get(prefix + name));
    if (!signature || !timestamp || !isTimely(timestamp, clock.now())) return refused(address);
    const body = await readWhole(request, bodyMaxBytes);
    const found = await deliveries.find(eventsIn(body));
    const byTenant = Map.groupBy(found, ({ tenant }) => tenant);
    const believed: Told[] = [];
    for (const [tenant, told] of [...byTenant].slice(0, tenantsMost)) {
      if (await trusted(tenant, { body, signature, timestamp })) believed.push(...told);
    }
    if (found.length > 0 && believed.length === 0) return refused(address);
    await deliveries.apply(believed);
    return new Response(null, { status: 204 });
  };
}

function eventsIn(body: Uint8Array) {
  const sent = parse(body);
  if (!Array.isArray(sent)) throw new Problem("invalid_json", "The body is not a list of events.");
  if (sent.length > eventsMost) throw new Problem("body_too_large", `Send at most ${eventsMost} events at once.`);
  return sent.flatMap((event) => readEvent(event) ?? []);
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new Problem("invalid_json", "The body is not JSON.");
  }
}
