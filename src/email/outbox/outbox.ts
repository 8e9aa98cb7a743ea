import type { Clock } from "../../base/clock.ts";
import { invalid } from "../../base/errors.ts";
import { type EmailId, newId, type TenantId } from "../../base/ids.ts";
import { unavailable } from "../../limits/counters.ts";
import { parseAddress } from "../address.ts";
import type { Suppressions } from "../delivery/suppressions.ts";
import type { SendAttempts } from "./attempt.ts";
import type { EmailSender } from "./sender.ts";
import type { ClaimedEmail, EmailStore } from "./store.ts";

/**
 * The way into the outbox. An email is first stored as a row; from then on it is sent once, or fails with a
 * reason, whatever happens to the process.
 */
export interface Outbox {
  /**
   * Queues it, to be sent when the limits have room. If the tenant used the key before, nothing happens and the first
   * email's ID is returned.
   */
  enqueue(mail: NewMail): Promise<Enqueued>;
  /** Charges the limits first, and queues it only if they have room now. */
  sendNow(mail: NewMail): Promise<Enqueued>;
  /** The email with this key, whatever its state. */
  find(tenant: TenantId, key: string): Promise<EmailId | undefined>;
}

/** The owner of mails that belong to no tenant, such as those about an account. Only the platform's limit counts them. */
export const platformMail = "" as TenantId;

export interface NewMail {
  readonly tenant: TenantId;
  readonly kind: MailKind;
  /** Unique per tenant, forever: `quota:hits:lnk_…:2026-11:80`. */
  readonly key?: string;
  readonly to: string;
  readonly replyTo?: string | null;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export type Enqueued =
  | { readonly kind: "queued"; readonly id: EmailId }
  /** The key was used before. */
  | { readonly kind: "repeated"; readonly id: EmailId }
  /** Its recipient unsubscribed, or does not exist. */
  | { readonly kind: "suppressed"; readonly reason: string }
  | { readonly kind: "limited"; readonly limit: string; readonly retryAfterMs: number | null }
  | { readonly kind: "unavailable"; readonly retryAfterMs: number };

/**
 * The kind of an email decides how it is treated. `essential` emails may use the last part of the platform's limit and
 * are sent even to those who unsubscribed: signing in depends on them. `stoppable` emails contain an unsubscribe link.
 * `toContact` emails go to the tenant's contact address, as long as it has this one.
 */
export interface KindRules {
  readonly essential: boolean;
  readonly stoppable: boolean;
  readonly toContact: boolean;
}

export const mailKinds = {
  share: { essential: false, stoppable: true, toContact: false },
  quota: { essential: false, stoppable: true, toContact: true },
  report: { essential: false, stoppable: true, toContact: false },
  firstClick: { essential: false, stoppable: true, toContact: true },
  spike: { essential: false, stoppable: true, toContact: true },
  drop: { essential: false, stoppable: true, toContact: true },
  deadTarget: { essential: false, stoppable: true, toContact: true },
  digest: { essential: false, stoppable: true, toContact: true },
  invitation: { essential: true, stoppable: false, toContact: false },
  verification: { essential: true, stoppable: false, toContact: false },
  reset: { essential: true, stoppable: false, toContact: false },
  signIn: { essential: true, stoppable: false, toContact: false },
  role: { essential: true, stoppable: false, toContact: false },
  account: { essential: true, stoppable: false, toContact: false },
} as const satisfies Record<string, KindRules>;

export type MailKind = keyof typeof mailKinds;

export interface OutboxSettings {
  readonly store: EmailStore;
  readonly suppressions: Suppressions;
  readonly attempts: SendAttempts;
  readonly sender: EmailSender;
  readonly clock: Clock;
}

/** Every email is checked, stored, and then either queued or charged at once. */
export function createOutbox({ store, suppressions, attempts, sender, clock }: OutboxSettings): Outbox {
  async function take(mail: NewMail): Promise<CheckedMail | Extract<Enqueued, { kind: "suppressed" }>> {
    const checked = checkMail(mail);
    const reason = await suppressions.find(checked.tenant, checked.to, checked.kind);
    return reason === undefined ? checked : { kind: "suppressed", reason };
  }

  const isChecked = (taken: Awaited<ReturnType<typeof take>>): taken is CheckedMail => "subject" in taken;

  return {
    find: store.find,

    async enqueue(mail) {
      const taken = await take(mail);
      if (!isChecked(taken)) return taken;
      const { id, repeated } = await store.insert({ ...taken, id: newId("email", clock) });
      if (repeated) return { kind: "repeated", id };
      sender.wake();
      return { kind: "queued", id };
    },

    async sendNow(mail) {
      const taken = await take(mail);
      if (!isChecked(taken)) return taken;
      const by = sender.claimName();
      const row = { ...taken, id: newId("email", clock) };
      const { id, repeated } = await store.insert(row, by);
      if (repeated) return { kind: "repeated", id };
      const email: ClaimedEmail = { ...row, by, attempt: 1, unsure: 0, ageMs: 0 };
      const charged = await attempts.charge(email).catch(async (error: unknown) => {
        await store.remove(email);
        throw error;
      });
      const { verdict } = charged;
      if (verdict.kind !== "granted") {
        await store.remove(email);
        if (verdict.kind === "denied") {
          return { kind: "limited", limit: verdict.limit.name, retryAfterMs: verdict.retryAfterMs };
        }
        return verdict.kind === "unavailable" ? verdict : unavailable;
      }
      if (!sender.run(() => attempts.handOver(email, charged))) {
        await attempts.putBack(email);
        sender.wake();
      }
      return { kind: "queued", id };
    },
  };
}

/**
 * Validates emails before the outbox. Everything that becomes a header is checked here, where every email passes: a
 * line break in a subject or an address would inject a header.
 */
interface CheckedMail extends Omit<NewMail, "key" | "replyTo"> {
  readonly key: string | null;
  readonly replyTo: string | null;
}

const subjectMaxChars = 200;
const keyMaxChars = 200;
const bodyMaxChars = 200_000;

/** Throws a `Problem` that names the field. */
export function checkMail({ key, to, replyTo, subject, text, html, ...mail }: NewMail): CheckedMail {
  refuseHeader("subject", subject, subjectMaxChars);
  if (key !== undefined) refuseHeader("key", key, keyMaxChars);
  refuseBody("text", text);
  refuseBody("html", html);
  return {
    ...mail,
    key: key ?? null,
    to: addressOf("to", to),
    replyTo: replyTo === undefined || replyTo === null ? null : addressOf("replyTo", replyTo),
    subject,
    text,
    html,
  };
}

function addressOf(field: string, text: string): string {
  const address = parseAddress(text);
  if (address !== undefined) return address;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are refused.
  if (/[\u0000-\u001f\u007f]/.test(text)) {
    throw invalid(field, "control_characters", "Must not contain line breaks or other control characters.");
  }
  throw invalid(field, "bad_address", "Must be an email address, such as ann@example.com.");
}

function refuseHeader(field: string, text: string, maxChars: number): void {
  if (text.trim() === "") throw invalid(field, "blank", "Must not be empty.");
  if (text.length > maxChars) throw invalid(field, "too_long", `Must have at most ${maxChars} characters.`);
  if (!text.isWellFormed()) throw invalid(field, "bad_unicode", "Must be valid Unicode.");
  // Control characters, and the two that some programs treat as line breaks.
  if (/[\p{Cc}\u2028\u2029]/u.test(text)) {
    throw invalid(field, "control_characters", "Must not contain line breaks or other control characters.");
  }
}

function refuseBody(field: string, text: string): void {
  if (text.length > bodyMaxChars) throw invalid(field, "too_long", `Must have at most ${bodyMaxChars} characters.`);
  if (!text.isWellFormed()) throw invalid(field, "bad_unicode", "Must be valid Unicode.");
  if (text.includes("\u0000")) throw invalid(field, "control_characters", "Must not contain NUL characters.");
}
