import type { Socket } from "bun";
import type { Peer } from "../../base/tcp-connection.ts";

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
}

/** Bun's server. */
export interface Inner {
  readonly port: number;
  /** Who is behind a connection to it, by the port of our end. */
  readonly peers: Map<number, Peer>;
}

const loopback = "127.0.0.1";
/** How often a client that does not take everything is looked at, and what it must have taken meanwhile. */
const judgeSeconds = 64;
const takenLeast = 16_384;

export function openTunnel(client: Socket<unknown>, peer: Peer, inner: Inner): Tunnel {
  let server: Socket<undefined> | undefined;
  /** What one side sent and the other has not taken. Meanwhile the sender is paused. */
  let toServer: Uint8Array | undefined;
  let toClient: Uint8Array | undefined;
  let takenBytes = 0;
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
    if (inner.peers.get(ownPort) === peer) inner.peers.delete(ownPort);
  }

  function connected(socket: Socket<undefined>): void {
    if (over) {
      socket.terminate();
      return;
    }
    server = socket;
    ownPort = socket.localPort;
    inner.peers.set(ownPort, peer);
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
    toClient = restOf(bytes, client.write(bytes));
    if (toClient === undefined) return;
    socket.pause();
    takenBytes = 0;
    client.timeout(judgeSeconds);
  }

  function toClientAgain(): void {
    if (toClient !== undefined) {
      const waiting = toClient.length;
      toClient = restOf(toClient, client.write(toClient));
      takenBytes += waiting - (toClient?.length ?? 0);
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
      error: close,
      connectError: close,
    },
  }).catch(close);

  return {
    send(bytes) {
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
      if (takenBytes < takenLeast) {
        close();
        return;
      }
      takenBytes = 0;
      client.timeout(judgeSeconds);
    },
  };
}

/** What is left of bytes of which so many were taken. */
const restOf = (bytes: Uint8Array, taken: number): Uint8Array | undefined =>
  taken >= bytes.length ? undefined : bytes.subarray(Math.max(0, taken));
