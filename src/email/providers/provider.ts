/**
 * Who carries an email away. One interface for the platform's SMTP, a tenant's own SendGrid key, and the log of a server
 * that has neither; what differs is the answer they can give.
 */
export interface Message {
  /** Our own name for it, for providers that tell later what became of it. */
  readonly id: string;
  /** Our own, the same on every attempt: whoever gets it twice can tell. `<eml_…@go.example.com>` */
  readonly messageId: string;
  readonly from: Mailbox;
  readonly to: string;
  readonly replyTo: string | null;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Further ones can be stopped there, with one click and no question (RFC 8058). */
  readonly unsubscribeUrl: string | null;
}

export interface Mailbox {
  readonly name: string | null;
  readonly address: string;
}

/**
 * What became of a hand-over. `accepted`, and all else that happens is the provider's word later; `rejected`, for good,
 * and surely not taken; `deferred`, surely not taken, and worth another try; `unsure`, when the connection broke or the
 * deadline passed after the message may have been taken.
 */
export type HandOver =
  | { readonly kind: "accepted"; readonly providerId: string | null }
  | { readonly kind: "rejected"; readonly reason: RejectReason; readonly detail: string }
  | { readonly kind: "deferred"; readonly detail: string; readonly retryAfterMs: number | null }
  | { readonly kind: "unsure"; readonly detail: string };

/** `address`: the recipient does not exist there. `credentials`: the provider does not know us. */
export type RejectReason = "address" | "message" | "credentials";

export type ProviderName = "smtp" | "sendgrid" | "log";

export interface Provider {
  readonly name: ProviderName;
  /**
   * Never throws, and answers within the deadline. `turn` is waited for before anything leaves that the provider could
   * take; if it fails, nothing has left.
   */
  send(message: Message, deadlineMs: number, turn?: () => Promise<void>): Promise<HandOver>;
  close(): Promise<void>;
}
