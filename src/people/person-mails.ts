import type { Logger } from "../base/log.ts";
import { type MailKind, type Outbox, platformMail } from "../email/outbox/outbox.ts";
import { type MailFacts, writeMail } from "../email/templates/templates.ts";
import { type PersonPage, pageUrl } from "./person-pages.ts";

/**
 * Mails to people about their account. They belong to no workspace, and may use the part of the platform's limit that is
 * reserved for them.
 *
 * Without a mail server nothing is sent and nothing is queued: the outbox would write links that work into the log. Links are
 * then shown to whoever asked for them with the right to (an operator, an admin, a command).
 */
export interface PersonMails {
  /** Whether this server sends mail. */
  readonly isSetUp: boolean;
  /** Queues it. A mail that cannot be queued is logged: what it tells about has happened anyway. */
  send<Kind extends PersonMailKind>(kind: Kind, to: string, facts: PersonMailFacts<Kind>): Promise<void>;
  pageUrl(page: PersonPage, token?: string): string;
}

export type PersonMailKind = Extract<MailKind, "invitation" | "verification" | "reset" | "signIn" | "role" | "account">;
/** The host is added here. */
export type PersonMailFacts<Kind extends PersonMailKind> = Omit<MailFacts[Kind], "host">;

export interface PersonMailSettings {
  /** Undefined: no mail server. */
  readonly outbox: Pick<Outbox, "enqueue"> | undefined;
  readonly baseUrl: string;
  readonly log: Logger;
}

export function createPersonMails({ outbox, baseUrl, log }: PersonMailSettings): PersonMails {
  const { host } = new URL(baseUrl);
  return {
    isSetUp: outbox !== undefined,

    async send(kind, to, facts) {
      if (outbox === undefined) return;
      try {
        const mail = writeMail(kind, { ...facts, host } as unknown as MailFacts[typeof kind], null);
        await outbox.enqueue({ tenant: platformMail, kind, to, ...mail });
      } catch (error) {
        log.warn({ error, kind }, "an email about an account could not be queued");
      }
    },

    pageUrl: (page, token) => pageUrl(baseUrl, page, token),
  };
}
