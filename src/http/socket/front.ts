import { STATUS_CODES } from "node:http";
import { setTimeout } from "node:timers/promises";
import type { Socket } from "bun";
import type { Clock } from "../../base/clock.ts";
import { createDates, type DateHeader } from "../../base/date-header.ts";
import type { Logger } from "../../base/log.ts";
import type { Peer } from "../../base/tcp-connection.ts";
import { Redirection, type VisitReply } from "../../redirect/redirection.ts";
import { type PlainRequest, readPlainRequest } from "./plain-request.ts";
import { type Inner, openTunnel, type Tunnel } from "./tunnel.ts";

/**
 * The socket that clients connect to. It answers plain requests for links by itself, and passes everything else on to Bun's server.
 *
 *     client ──► front ── GET /code, plain ──► redirect ──► bytes
 *                  │
 *                  └── anything else, and all that follows on the connection ──► tunnel ──► Bun.serve
 *
 * Why: a redirect needs a few headers, and Bun's server copies all of them, of Chrome fourteen, into objects that are collected later. With
 * nothing of ours, a redirect that reads headers took 9.3 µs there and 5.6 here, where nginx took 6.3 (ADR 0073).
 *
 * A connection is in one of these states:
 *
 * | state | what arrives |
 * |---|---|
 * | idle | is read as plain requests, one after the other, or opens a tunnel; after ten seconds without, it is closed |
 * | busy | waits until the answer is sent: up to 64 KB, then it is closed |
 * | tunnel | is passed on; only its end ends this |
 *
 * An answer that is not a redirect (an error page, a password form) is small and in memory, and is sent with its length.
 */
export interface FrontSettings {
  readonly hostname: string;
  readonly port: number;
  /** Whether other processes of ours listen on the same port. */
  readonly sharesPort: boolean;
  readonly inner: Inner;
  /** Undefined: not a visit of a link, or not here. Then nothing has happened yet. */
  readonly receive: (request: PlainRequest) => VisitReply | Promise<VisitReply> | undefined;
  /** The answer when `receive` failed. */
  readonly failed: (error: unknown) => Response;
  readonly clock: Pick<Clock, "now">;
  /** After which a connection without a request is closed. Ten by default. */
  readonly idleSeconds?: number;
  readonly log: Pick<Logger, "error">;
}

export interface Front {
  readonly port: number;
  /**
   * Accepts nothing more, and closes connections once they have their answer. Resolves when Bun's server has begun with everything that
   * was sent to it: it drops what it has not read when it is stopped.
   */
  stop(): Promise<void>;
  /** Closes all connections. */
  closeAll(): void;
  /** Resolves when no connection is left. */
  closed(): Promise<void>;
}

const idleMost = 10;
const heldMost = 65_536;
/** How long a stop waits for what has arrived to be read, and for Bun's server to begin with it. */
const arrivedMs = 20;
const begunMs = 1_000;
const lookMs = 10;

class Connection {
  state: "idle" | "busy" | "tunnel" = "idle";
  /** What arrived while it was busy. */
  held: Buffer | undefined;
  /** What the client has not taken yet of its answer. */
  rest: Uint8Array | undefined;
  endsAfter = false;
  ended = false;
  tunnel: Tunnel | undefined;
  #peer: Peer | undefined;
  readonly #socket: Socket<Connection>;

  constructor(socket: Socket<Connection>) {
    this.#socket = socket;
  }

  get peer(): Peer {
    this.#peer ??= { address: this.#socket.remoteAddress, port: this.#socket.remotePort };
    return this.#peer;
  }

  get address(): string {
    return this.peer.address;
  }
}

type Client = Socket<Connection>;

export function listenFront(settings: FrontSettings): Front {
  const { inner, receive, failed, idleSeconds = idleMost, log } = settings;
  const dateNow = createDates(settings.clock);
  const open = new Set<Client>();
  let stopping = false;
  let whenClosed = (): void => {};

  function take(client: Client, bytes: Buffer): void {
    const connection = client.data;
    let rest = bytes;
    while (connection.state === "idle") {
      const request = readPlainRequest(rest, connection);
      if (request === undefined || !answer(client, request)) {
        tunnel(client, rest);
        return;
      }
      if (request.bytes.length === rest.length) return;
      rest = rest.subarray(request.bytes.length);
      // Others wait meanwhile.
      if (rest.length > heldMost) {
        client.terminate();
        return;
      }
    }
    if (connection.state === "tunnel") connection.tunnel?.send(rest);
    else hold(client, rest);
  }

  /** Whether it is a visit, and is or will be answered. */
  function answer(client: Client, request: PlainRequest): boolean {
    const endsAfter = stopping || !request.keepsOpen;
    client.data.endsAfter = endsAfter;
    let reply: VisitReply | Promise<VisitReply> | undefined;
    let bytes: Uint8Array | undefined;
    try {
      reply = receive(request);
      if (reply === undefined) return false;
      if (reply instanceof Redirection && !endsAfter) bytes = reply.toBytes(dateNow());
    } catch (error) {
      reply = failed(error);
    }
    if (bytes === undefined) answerLater(client, reply).catch((error: unknown) => giveUp(client, error));
    else send(client, bytes);
    return true;
  }

  async function answerLater(client: Client, reply: VisitReply | Promise<VisitReply>): Promise<void> {
    client.data.state = "busy";
    const bytes = await bytesOf(client, reply).catch((error: unknown) => bytesOf(client, failed(error)));
    if (open.has(client)) send(client, bytes);
  }

  async function bytesOf(client: Client, later: VisitReply | Promise<VisitReply>): Promise<Uint8Array> {
    const reply = await later;
    const whole = reply instanceof Redirection ? reply.toBytes(dateNow()) : await wholeOf(reply, dateNow());
    return client.data.endsAfter ? withClose(whole) : whole;
  }

  function send(client: Client, bytes: Uint8Array): void {
    const written = client.write(bytes);
    if (written === bytes.length) {
      sent(client);
      return;
    }
    client.data.state = "busy";
    // A copy: the bytes of a redirect are those of its next visitor, too.
    client.data.rest = bytes.slice(Math.max(0, written));
  }

  function giveUp(client: Client, error: unknown): void {
    log.error({ error }, "a connection failed unexpectedly");
    client.terminate();
  }

  function sent(client: Client): void {
    const connection = client.data;
    const { endsAfter, ended, held } = connection;
    if (endsAfter || (held === undefined && (ended || stopping))) {
      client.end();
      return;
    }
    client.timeout(idleSeconds);
    if (connection.state === "idle") return;
    connection.state = "idle";
    connection.held = undefined;
    if (held !== undefined) take(client, held);
  }

  /** A client that does not wait for its answer has the next requests answered in their order. */
  function hold(client: Client, bytes: Buffer): void {
    const connection = client.data;
    const held = connection.held === undefined ? bytes : Buffer.concat([connection.held, bytes]);
    if (held.length > heldMost) client.terminate();
    else connection.held = held;
  }

  function tunnel(client: Client, bytes: Buffer): void {
    const connection = client.data;
    connection.state = "tunnel";
    client.timeout(0);
    connection.tunnel = openTunnel(client, connection.peer, inner);
    connection.tunnel.send(bytes);
    if (connection.ended) connection.tunnel.clientEnded();
  }

  const options = { reusePort: settings.sharesPort };
  const listener = Bun.listen<Connection>({
    ...options,
    hostname: settings.hostname,
    port: settings.port,
    allowHalfOpen: true,
    socket: {
      open(client) {
        client.data = new Connection(client);
        open.add(client);
        client.timeout(idleSeconds);
      },
      data: take,
      drain(client) {
        const { tunnel, rest } = client.data;
        if (tunnel !== undefined) tunnel.drained();
        if (rest === undefined) return;
        client.data.rest = undefined;
        send(client, rest);
      },
      timeout(client) {
        const { tunnel, state, rest } = client.data;
        if (tunnel !== undefined) tunnel.judge();
        // What the kernel still has of an answer is delivered.
        else if (state === "idle") client.end();
        else if (rest !== undefined) client.terminate();
        else client.timeout(idleSeconds);
      },
      end(client) {
        const connection = client.data;
        connection.ended = true;
        if (connection.state === "tunnel") connection.tunnel?.clientEnded();
        else if (connection.state === "idle") client.end();
      },
      close(client) {
        open.delete(client);
        client.data.tunnel?.clientClosed();
        if (open.size === 0) whenClosed();
      },
      error: giveUp,
    },
  });

  return {
    port: listener.port,
    async stop() {
      stopping = true;
      listener.stop();
      await setTimeout(arrivedMs);
      for (const client of open) if (client.data.state === "idle") client.end();
      const isUnanswered = (client: Client) => client.data.tunnel?.isUnanswered === true;
      for (let ms = 0; ms < begunMs && [...open].some(isUnanswered); ms += lookMs) await setTimeout(lookMs);
    },
    closeAll() {
      for (const client of open) client.terminate();
    },
    closed: () =>
      new Promise((resolve) => {
        whenClosed = resolve;
        if (open.size === 0) resolve();
      }),
  };
}

/** A response with its length, as one piece. */
async function wholeOf(response: Response, date: DateHeader): Promise<Uint8Array> {
  const body = new Uint8Array(await response.arrayBuffer());
  const lines = [`HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? ""}`];
  for (const [name, value] of response.headers) if (!ownHeaders.has(name)) lines.push(`${name}: ${value}`);
  lines.push(`content-length: ${body.length}`, `date: ${date.text}`, "", "");
  return Buffer.concat([Buffer.from(lines.join("\r\n"), "latin1"), body]);
}

const ownHeaders = new Set(["connection", "content-length", "date", "transfer-encoding"]);

/** The same answer, after which the connection ends. */
function withClose(whole: Uint8Array): Uint8Array {
  const at = whole.indexOf(lineFeed) + 1;
  return Buffer.concat([whole.subarray(0, at), closeLine, whole.subarray(at)]);
}

const lineFeed = 10;
const closeLine = Buffer.from("Connection: close\r\n");
