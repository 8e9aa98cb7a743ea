import { messageOf } from "../../base/errors.ts";

/**
 * Asks SendGrid whether a key works and can send, before it is stored: a mistake is reported to the person who makes
 * it, not days later by emails that do not arrive.
 */
export type KeyCheck = (key: string) => Promise<KeyFinding>;

export type KeyFinding =
  | { readonly kind: "works" }
  /** SendGrid does not know the key, or no longer. */
  | { readonly kind: "refused" }
  /** The key is valid but cannot send email. */
  | { readonly kind: "cannot_send" }
  | { readonly kind: "unreachable"; readonly detail: string };

const deadlineMs = 10_000;
const answerMaxBytes = 262_144;

export function createKeyCheck(sendgridUrl: string): KeyCheck {
  return async (key) => {
    try {
      const response = await fetch(`${sendgridUrl}/v3/scopes`, {
        headers: { authorization: `Bearer ${key}`, accept: "application/json" },
        keepalive: false,
        redirect: "manual",
        signal: AbortSignal.timeout(deadlineMs),
      });
      if (response.status === 401 || response.status === 403) return { kind: "refused" };
      if (response.status !== 200) return { kind: "unreachable", detail: `HTTP status ${response.status}` };
      return maySend(await response.text()) ? { kind: "works" } : { kind: "cannot_send" };
    } catch (error) {
      return { kind: "unreachable", detail: messageOf(error) };
    }
  };
}

/** Throws if the answer is not in SendGrid's format. */
function maySend(answer: string): boolean {
  if (answer.length > answerMaxBytes) throw new Error("the response does not end");
  const { scopes } = JSON.parse(answer) as { scopes?: unknown };
  if (!Array.isArray(scopes)) throw new Error("the response has no scopes");
  return scopes.includes("mail.send");
}
