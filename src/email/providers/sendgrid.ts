import { messageOf } from "../../base/errors.ts";
import { unsubscribeHeaders } from "../delivery/unsubscribe.ts";
import type { HandOver, Message, Provider } from "./provider.ts";

/**
 * A tenant's SendGrid account, through the v3 API. What a response means:
 * - 202: accepted. The ID it returns comes back with every event about the message.
 * - 429, 500, 503: not accepted, as SendGrid documents; retry.
 * - 502, 504: from a gateway, behind which it may have been accepted; the same goes for no response at all.
 * - 401, 403: the key, or a sender that it may not use. Other 4xx: the message.
 *
 * A connection that could not be opened has carried nothing. Each request has its own connection, because the runtime
 * silently resends what it sent over a kept one that turns out to be closed.
 */
export interface SendgridSettings {
  readonly url: string;
  readonly key: string;
  /** For `Retry-After` as a date. */
  readonly now: () => number;
}

export function createSendgrid({ url, key, now }: SendgridSettings): Provider {
  return {
    name: "sendgrid",
    async send(message, deadlineMs, turn = async () => {}) {
      const signal = AbortSignal.timeout(deadlineMs);
      try {
        await Promise.race([turn(), rejected(signal)]);
      } catch (error) {
        return { kind: "deferred", detail: messageOf(error), retryAfterMs: null };
      }
      let response: Response;
      try {
        response = await fetch(`${url}/v3/mail/send`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify(bodyOf(message)),
          keepalive: false,
          redirect: "manual",
          signal,
        });
      } catch (error) {
        const detail = messageOf(error);
        return wasNeverSent(error) ? { kind: "deferred", detail, retryAfterMs: null } : { kind: "unsure", detail };
      }
      if (response.status === 202) {
        await response.body?.cancel().catch(() => {});
        return { kind: "accepted", providerId: response.headers.get("x-message-id") };
      }
      return refusalOf(response, await reasonIn(response), now());
    },
    async close() {},
  };
}

function bodyOf({ id, messageId, from, to, replyTo, subject, text, html, unsubscribeUrl }: Message) {
  return {
    personalizations: [{ to: [{ email: to }] }],
    from: { email: from.address, ...(from.name === null ? {} : { name: from.name }) },
    ...(replyTo === null ? {} : { reply_to: { email: replyTo } }),
    subject,
    content: [
      { type: "text/plain", value: text },
      { type: "text/html", value: html },
    ],
    headers: { "Message-ID": messageId, ...unsubscribeHeaders(unsubscribeUrl) },
    // Not `email`: every event has a field of that name.
    custom_args: { quicklink_id: id },
    // Its links are short links, which we count ourselves.
    tracking_settings: { click_tracking: { enable: false }, open_tracking: { enable: false } },
  };
}

function refusalOf({ status, headers }: Response, why: string, now: number): HandOver {
  const detail = `SendGrid answered ${status}${why === "" ? "" : `: ${why}`}`;
  if (status === 429) {
    const resetsAt = Number(headers.get("x-ratelimit-reset")) * 1_000;
    return { kind: "deferred", detail, retryAfterMs: resetsAt > now ? resetsAt - now : null };
  }
  if (status === 502 || status === 504) return { kind: "unsure", detail };
  if (status === 401 || status === 403) return { kind: "rejected", reason: "credentials", detail };
  if (status >= 400 && status < 500 && status !== 404 && status !== 408) {
    return { kind: "rejected", reason: "message", detail };
  }
  // Also a URL that is not SendGrid's: it works once QL_SENDGRID_URL is corrected.
  return { kind: "deferred", detail, retryAfterMs: null };
}

const reasonMaxChars = 300;

async function reasonIn(response: Response): Promise<string> {
  try {
    const body = JSON.parse(await response.text()) as { errors?: { message?: unknown }[] };
    const messages = (body.errors ?? []).map(({ message }) => String(message));
    return messages.join("; ").slice(0, reasonMaxChars);
  } catch {
    return "";
  }
}

function rejected(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
}

// Names of Bun, of the network, and of rejected certificates.
const neverSent = new Set([
  ...["ConnectionRefused", "FailedToOpenSocket"],
  ...["ECONNREFUSED", "ENOTFOUND", "EHOSTUNREACH", "ENETUNREACH"],
]);
const neverSentKind = /^EAI_|CERT|SELF_SIGNED|^UNABLE_TO_/;

function wasNeverSent(error: unknown): boolean {
  if (!(error instanceof Error && "code" in error)) return false;
  const code = String(error.code);
  return neverSent.has(code) || neverSentKind.test(code);
}
