import type { Clock } from "../../base/clock.ts";
import { type EmailId, newId, type TenantId } from "../../base/ids.ts";
import { unavailable } from "../../limits/counters.ts";
import type { Suppressions } from "../delivery/suppressions.ts";
import type { SendAttempts } from "./attempt.ts";
import { type CheckedMail, checkMail } from "./check-mail.ts";
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
 */
export interface KindRules {
  readonly essential: boolean;
  readonly stoppable: boolean;
}

export const mailKinds = {
  share: { essential: false, stoppable: true },
  quota: { essential: false, stoppable: true },
  report: { essential: false, stoppable: true },
  invitation: { essential: false, stoppable: false },
  verification: { essential: true, stoppable: false },
  reset: { essential: true, stoppable: false },
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
