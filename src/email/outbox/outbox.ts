import type { EmailId, TenantId } from "../../base/ids.ts";

/**
 * The outbox as its users see it. An email is first stored as a row; from then on it is sent once, or fails with a
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
