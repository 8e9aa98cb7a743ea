import type { EmailId, TenantId } from "../../base/ids.ts";

/**
 * The outbox as its users see it. An email is a row first; from then on it is sent once, or fails and says why, whatever
 * happens to the process that took it.
 */
export interface Outbox {
  /**
   * Queues it, to be sent when the limits have room. With a key that the tenant used before, nothing happens and the
   * first one's id comes back.
   */
  enqueue(mail: NewMail): Promise<Enqueued>;
  /** Charges the limits first, and queues it only if they have room now. */
  sendNow(mail: NewMail): Promise<Enqueued>;
  /** The one with this key, whatever became of it. */
  find(tenant: TenantId, key: string): Promise<EmailId | undefined>;
}

export interface NewMail {
  readonly tenant: TenantId;
  readonly kind: MailKind;
  /** Once per tenant and key, ever: `quota:hits:lnk_…:2026-11:80`. */
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
  /** Its recipient asked for no more, or does not exist. */
  | { readonly kind: "suppressed"; readonly reason: string }
  | { readonly kind: "limited"; readonly limit: string; readonly retryAfterMs: number | null }
  | { readonly kind: "unavailable"; readonly retryAfterMs: number };

/**
 * What an email is about decides what becomes of it. `essential` ones may use the last part of the platform's limit and go
 * to those who unsubscribed, too: nobody can sign in without them. `stoppable` ones offer to stop further ones.
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
