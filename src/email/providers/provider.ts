/**
 * Sends an email. One interface for the platform's SMTP, a tenant's SendGrid key, and the log of a server without
 * either.
 */
export interface Message {
  /** Our ID, for providers that report delivery later. */
  readonly id: string;
  /** Our own, the same on every attempt, so that a recipient of two can tell: `<eml_…@go.example.com>` */
  readonly messageId: string;
  readonly from: Mailbox;
  readonly to: string;
  readonly replyTo: string | null;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** One-click unsubscribe (RFC 8058). */
  readonly unsubscribeUrl: string | null;
}

export interface Mailbox {
  readonly name: string | null;
  readonly address: string;
}

/**
 * The outcome of a hand-over. `accepted`: delivery is reported later; `rejected`: permanently, and certainly not
 * accepted; `deferred`: certainly not accepted, and worth a retry; `unsure`: the connection broke or the deadline
 * passed after the message may have been accepted.
 */
export type HandOver =
  | { readonly kind: "accepted"; readonly providerId: string | null }
  | { readonly kind: "rejected"; readonly reason: RejectReason; readonly detail: string }
  | { readonly kind: "deferred"; readonly detail: string; readonly retryAfterMs: number | null }
  | { readonly kind: "unsure"; readonly detail: string };

/** `address`: the recipient does not exist. `credentials`: the provider does not accept our credentials. */
export type RejectReason = "address" | "message" | "credentials";

export type ProviderName = "smtp" | "sendgrid" | "log";

export interface Provider {
  readonly name: ProviderName;
  /**
   * Never throws, and answers within the deadline. `turn` is awaited before anything leaves that the provider could
   * accept; if it fails, nothing has left.
   */
  send(message: Message, deadlineMs: number, turn?: () => Promise<void>): Promise<HandOver>;
  close(): Promise<void>;
}
