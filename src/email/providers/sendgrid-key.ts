import { messageOf } from "../../base/errors.ts";

/**
 * Asks SendGrid whether a key works and may send, before it is kept: a mistake in it is told to whoever makes it, and not
 * days later to nobody, by emails that do not arrive.
 */
export type KeyCheck = (key: string) => Promise<KeyFinding>;

export type KeyFinding =
  | { readonly kind: "works" }
  /** They do not know it, or not any more. */
  | { readonly kind: "refused" }
  /** It is known, and may not send email. */
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

/** Throws when it is not what SendGrid would say. */
function maySend(answer: string): boolean {
  if (answer.length > answerMaxBytes) throw new Error("the response does not end");
  const { scopes } = JSON.parse(answer) as { scopes?: unknown };
  if (!Array.isArray(scopes)) throw new Error("the response has no scopes");
  return scopes.includes("mail.send");
}
