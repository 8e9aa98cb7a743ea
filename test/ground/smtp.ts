/**
 * A private mail server that counts: real SMTP on 127.0.0.1, whose answers a test may change. It keeps the mails it
 * accepted, with their times.
 */
import { SMTPServer, type SMTPServerSession } from "smtp-server";
import { freePort } from "./ports.ts";

export type TakenMail = {
  readonly at: number;
  readonly from: string;
  readonly to: string;
  /** Our header: a mail sent twice has it twice. */
  readonly messageId: string;
  readonly raw: string;
};

export type SmtpReply = { readonly code: number; readonly text: string };

/** What it does instead of accepting a mail. */
export type SmtpManners = {
  connect?: () => SmtpReply | undefined;
  from?: (address: string) => SmtpReply | undefined;
  to?: (address: string) => SmtpReply | undefined;
  /**
   * `hang`: accepts nothing and answers nothing. `drop`: accepts it, and disconnects without an answer. `lose`: the
   * same, without accepting it.
   */
  data?: (to: string) => SmtpReply | "hang" | "drop" | "lose" | undefined;
  /** Delay between accepting a mail and answering. */
  answerAfterMs?: number;
};

export type SmtpServer = {
  readonly port: number;
  readonly url: string;
  readonly taken: readonly TakenMail[];
  /** Connections that were opened so far. */
  connections(): number;
  manners: SmtpManners;
  /** Stops listening and breaks every connection; accepted mails are kept. */
  stop(): Promise<void>;
  /** On the same port. */
  restart(): Promise<void>;
};

export type SmtpOptions = {
  /** Other credentials are refused; if unset, none are needed. */
  credentials?: { user: string; password: string };
  /** The clock of the recorded times. */
  now?: () => number;
};

export async function startSmtp({ credentials, now = Date.now }: SmtpOptions = {}): Promise<SmtpServer> {
  const port = freePort();
  const taken: TakenMail[] = [];
  let opened = 0;
  let server: SMTPServer;
  const errorOf = (reply: SmtpReply) => Object.assign(new Error(reply.text), { responseCode: reply.code });
  const result: { manners: SmtpManners } = { manners: {} };
  const answer = (reply: SmtpReply | undefined, done: (error?: Error) => void) =>
    done(reply === undefined ? undefined : errorOf(reply));

  function take(session: SMTPServerSession, to: string, raw: string): void {
    const { mailFrom } = session.envelope;
    const messageId = /^message-id:\s*(\S+)/im.exec(raw)?.[1] ?? "";
    taken.push({ at: now(), from: mailFrom === false ? "" : mailFrom.address, to, messageId, raw });
  }

  async function launch(): Promise<void> {
    server = new SMTPServer({
      authOptional: credentials === undefined,
      allowInsecureAuth: true,
      hideSTARTTLS: true,
      disableReverseLookup: true,
      closeTimeout: 0,
      onConnect(_, done) {
        opened++;
        answer(result.manners.connect?.(), done);
      },
      onAuth({ username, password }, _, done) {
        const known = username === credentials?.user && password === credentials?.password;
        done(known ? null : errorOf({ code: 535, text: "5.7.8 we do not know you" }), { user: username ?? "" });
      },
      onMailFrom: ({ address }, _, done) => answer(result.manners.from?.(address), done),
      onRcptTo: ({ address }, _, done) => answer(result.manners.to?.(address), done),
      onData(stream, session, done) {
        const chunks: Buffer[] = [];
        stream.on("data", (chunk: Buffer) => chunks.push(chunk));
        stream.on("end", () => {
          const to = session.envelope.rcptTo[0]?.address ?? "";
          const manner = result.manners.data?.(to);
          if (manner === undefined || manner === "drop") take(session, to, Buffer.concat(chunks).toString());
          if (manner === undefined) setTimeout(() => done(null), result.manners.answerAfterMs ?? 0);
          else if (manner === "drop" || manner === "lose") breakLines(server, session.id);
          else if (manner !== "hang") done(errorOf(manner));
        });
      },
    });
    server.on("error", () => {}); // a client that disconnects is not our error
    const listening = Promise.withResolvers<void>();
    server.listen(port, "127.0.0.1", listening.resolve);
    await listening.promise;
  }

  await launch();
  return Object.assign(result, {
    port,
    url: `smtp://${credentials === undefined ? "" : `${credentials.user}:${credentials.password}@`}127.0.0.1:${port}`,
    taken,
    connections: () => opened,
    async stop() {
      const closed = Promise.withResolvers<void>();
      breakLines(server);
      server.close(closed.resolve);
      await closed.promise;
    },
    restart: launch,
  });
}

/** One of them or all. They are not public, and a connection cannot be broken otherwise. */
function breakLines(server: SMTPServer, id?: string): void {
  const { connections } = server as unknown as { connections: Set<{ id: string; _socket: { destroy(): void } }> };
  for (const one of connections) if (id === undefined || one.id === id) one._socket.destroy();
}
