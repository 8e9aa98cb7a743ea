import type { Socket } from "bun";
import type { Logger } from "../../base/log.ts";
import { findTcpConnection, type Peer, type TcpConnection } from "../../base/tcp-connection.ts";

/**
 * A connection of a client that is passed on to Bun's server, byte by byte, from its first request that is not plain until it ends. Nothing
 * in it is read here, so nothing can be understood differently on both sides.
 *
 * Each direction holds at most one chunk: while the receiver takes nothing, nothing more is read from the sender. A client that takes too
 * little while more is waiting is cut off, because Bun's server no longer knows about what it has handed over.
 */
export interface Tunnel {
  /** From the client. */
  send(bytes: Uint8Array): void;
  /** The client can take more. */
  drained(): void;
  /** The client sends nothing more. */
  clientEnded(): void;
  /** The client is gone. */
  clientClosed(): void;
  /** The client's timeout has passed. */
  judge(): void;
  /** Whether Bun's server has answered nothing to what the client sent last. */
  readonly isUnanswered: boolean;
}

/** Bun's server, on `loopback`. */
export interface Inner {
  readonly port: number;
  /** Who is behind a connection to it, by the port of our end. */
  readonly peers: Map<number, Peer>;
  readonly log: Pick<Logger, "warn">;
}

export const loopback = "127.0.0.1";
/** How often a client that does not take everything is looked at, and what it must have taken meanwhile. */
const judgeSeconds = 64;
const takenLeast = 16_384;

export function openTunnel(client: Socket<unknown>, peer: Peer, inner: Inner): Tunnel {
  const { peers, log } = inner;
  let server: Socket<undefined> | undefined;
  /** What one side sent and the other has not taken. Meanwhile the sender is paused. */
  let toServer: Uint8Array | undefined;
  let toClient: Uint8Array | undefined;
  let connection: TcpConnection | undefined;
  let [takenBytes, writtenBytes] = [0, 0];
  let isUnanswered = false;
  let [clientEnded, serverClosed, over] = [false, false, false];
  let ownPort = 0;

  function close(): void {
    if (over) return;
    over = true;
    forgetPeer();
    server?.terminate();
    client.terminate();
  }

  /** Before the port can belong to another connection; unless it does already. */
  function forgetPeer(): void {
    if (peers.get(ownPort) === peer) peers.delete(ownPort);
  }

  function connected(socket: Socket<undefined>): void {
    if (over) {
      socket.terminate();
      return;
    }
    server = socket;
    ownPort = socket.localPort;
    peers.set(ownPort, peer);
    toServerAgain();
  }

  function toServerAgain(): void {
    if (server === undefined) return;
    if (toServer !== undefined) {
      toServer = restOf(toServer, server.write(toServer));
      if (toServer !== undefined) return;
      client.resume();
    }
    if (clientEnded) server.shutdown();
  }

  function fromServer(socket: Socket<undefined>, bytes: Uint8Array): void {
    isUnanswered = false;
    toClient = restOf(bytes, client.write(bytes));
    if (toClient === undefined) return;
    socket.pause();
    takenBytes = takenSoFar();
    client.timeout(judgeSeconds);
  }

  /** As the kernel knows it. On other systems than Linux, what it has accepted, which it does in large steps. */
  function takenSoFar(): number {
    connection ??= findTcpConnection(client.localPort, peer);
    return connection?.takenBytes() ?? writtenBytes;
  }

  function failed(error: Error): void {
    if (!over) log.warn({ error }, "a request could not be passed on within the server");
    close();
  }

  function toClientAgain(): void {
    if (toClient !== undefined) {
      const waiting = toClient.length;
      toClient = restOf(toClient, client.write(toClient));
      writtenBytes += waiting - (toClient?.length ?? 0);
      if (toClient !== undefined) return;
      client.timeout(0);
      server?.resume();
    }
    if (!serverClosed || over) return;
    over = true;
    client.end();
  }

  Bun.connect<undefined>({
    hostname: loopback,
    port: inner.port,
    allowHalfOpen: true,
    data: undefined,
    socket: {
      open: connected,
      data: fromServer,
      drain: toServerAgain,
      end: (socket) => void socket.end(),
      close() {
        forgetPeer();
        serverClosed = true;
        toClientAgain();
      },
      error: (_, error) => failed(error),
      connectError: (_, error) => failed(error),
    },
  }).catch(failed);

  return {
    send(bytes) {
      isUnanswered = true;
      toServer = toServer === undefined ? bytes : Buffer.concat([toServer, bytes]);
      if (server !== undefined) toServer = restOf(toServer, server.write(toServer));
      if (toServer !== undefined) client.pause();
    },
    drained: toClientAgain,
    clientEnded() {
      clientEnded = true;
      if (toServer === undefined) server?.shutdown();
    },
    clientClosed: close,
    judge() {
      if (toClient === undefined || over) return;
      const before = takenBytes;
      takenBytes = takenSoFar();
      if (takenBytes - before < takenLeast) close();
      else client.timeout(judgeSeconds);
    },
    get isUnanswered() {
      return isUnanswered && !over;
    },
  };
}

/** What is left of bytes of which so many were taken. */
const restOf = (bytes: Uint8Array, taken: number): Uint8Array | undefined =>
  taken >= bytes.length ? undefined : bytes.subarray(Math.max(0, taken));
