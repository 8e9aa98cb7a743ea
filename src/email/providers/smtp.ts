import { Readable } from "node:stream";
import type { Transporter } from "nodemailer";
import { Late, withDeadline } from "../../base/deadline.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { unsubscribeHeaders } from "../delivery/unsubscribe.ts";
import type { HandOver, Message, Provider } from "./provider.ts";

/**
 * The platform's mail server, through nodemailer's connection pool.
 *
 * A server that answers decides: about the recipient or the message, with a 4 for later or a 5 for good. If it does not
 * answer, what matters is whether it may have the message, and nodemailer's errors do not tell. So the message is a
 * stream that notes when it is first read, which is after the server has asked for it: nothing read, nothing accepted.
 * It can be read once, and not after it was given up: a late connection cannot send what was reported as deferred, and
 * the pool, which retries on another connection when one is closed, cannot send anything twice.
 */
export interface SmtpSettings {
  readonly url: string;
  readonly connections: number;
  readonly log: Logger;
}

interface Watch {
  began: boolean;
  givenUp: boolean;
  readonly turn: () => Promise<void>;
}

const connectMs = 10_000;
const messagesPerConnection = 100;

export function createSmtp({ url, connections, log }: SmtpSettings): Provider {
  const watches = new Map<string, Watch>();
  let opening: Promise<Transporter> | undefined;
  let refused = false;

  async function open(): Promise<Transporter> {
    const { createTransport } = await import("nodemailer");
    const transporter = createTransport({
      ...{ url, pool: true, maxConnections: connections, maxMessages: messagesPerConnection, maxRequeues: 1 },
      ...{ connectionTimeout: connectMs, greetingTimeout: connectMs, dnsTimeout: connectMs, socketTimeout: 30_000 },
      ...{ disableFileAccess: true, disableUrlAccess: true },
    });
    transporter.use("stream", (mail, done) => {
      const watch = watches.get(String(mail.data.messageId));
      if (watch !== undefined) mail.message.processFunc((input) => Readable.from(watched(input as Readable, watch)));
      done();
    });
    return transporter;
  }

  return {
    name: "smtp",

    async send(message, deadlineMs, turn = async () => {}) {
      const watch: Watch = { began: false, givenUp: false, turn };
      watches.set(message.messageId, watch);
      try {
        opening ??= open();
        const transporter = await opening;
        await withDeadline(transporter.sendMail(mailOf(message)), deadlineMs, "the mail server");
        refused = false;
        return { kind: "accepted", providerId: null };
      } catch (error) {
        watch.givenUp = true;
        const outcome = outcomeOf(error, watch.began);
        if (isAboutUs(error) && !refused) {
          log.error({ reply: replyOf(error).code }, "the mail server rejects us; check SMTP_URL and QL_MAIL_FROM");
        }
        refused = isAboutUs(error);
        return outcome;
      } finally {
        watches.delete(message.messageId);
      }
    },

    async close() {
      (await opening)?.close();
    },
  };
}

async function* watched(input: Readable, watch: Watch): AsyncGenerator<Buffer> {
  await watch.turn();
  if (watch.givenUp || watch.began) throw new Error("too late to send");
  watch.began = true;
  for await (const chunk of input) yield chunk as Buffer;
}

function mailOf({ messageId, from, to, replyTo, subject, text, html, unsubscribeUrl }: Message) {
  return {
    messageId,
    from: { name: from.name ?? "", address: from.address },
    to: { name: "", address: to },
    ...(replyTo === null ? {} : { replyTo: { name: "", address: replyTo } }),
    subject,
    text,
    html,
    headers: unsubscribeHeaders(unsubscribeUrl),
  };
}

interface Reply {
  /** 0: no reply. */
  readonly code: number;
  readonly text: string;
  /** The command it answers: `RCPT TO`. */
  readonly command: string;
  readonly error: string;
}

function replyOf(error: unknown): Reply {
  const { responseCode, response, command, code } = (error instanceof Error ? error : {}) as Record<string, unknown>;
  return {
    code: typeof responseCode === "number" ? responseCode : 0,
    text: typeof response === "string" ? response : "",
    command: typeof command === "string" ? command : "",
    error: typeof code === "string" ? code : "",
  };
}

/**
 * Not about this email, but our name, password or sender: the operator must fix it, and then all of them can be sent.
 */
function isAboutUs(error: unknown): boolean {
  const { code, command, error: kind } = replyOf(error);
  return kind === "EAUTH" || (code >= 500 && command === "MAIL FROM");
}

export function outcomeOf(error: unknown, began: boolean): HandOver {
  const detail = messageOf(error);
  const { code, text, command, error: kind } = replyOf(error);
  const deferred: HandOver = { kind: "deferred", detail, retryAfterMs: null };
  if (isAboutUs(error)) return deferred;
  const decided = command === "RCPT TO" || command === "DATA";
  if (decided && code >= 500) {
    return { kind: "rejected", reason: command === "RCPT TO" && isUnknownThere(text) ? "address" : "message", detail };
  }
  if (decided && code >= 400) return deferred;
  // Rejected by nodemailer itself before it said anything to the server: an address, or a size beyond the server's
  // announced limit.
  if ((kind === "EENVELOPE" && command === "API") || (kind === "EMESSAGE" && command !== "DATA")) {
    return { kind: "rejected", reason: "message", detail };
  }
  return began
    ? { kind: "unsure", detail: error instanceof Late ? `${detail}, but the server may have accepted it` : detail }
    : deferred;
}

/**
 * Bad mailbox, bad system, bad syntax, moved, null MX, disabled (RFC 3463, 7505). A bare 550 may also mean that we are
 * on a blocklist, which must not suppress the address.
 */
function isUnknownThere(text: string): boolean {
  return /^5\d\d[ -]5\.(?:1\.(?:1|2|3|6|10)|2\.1)\b/.test(text);
}
