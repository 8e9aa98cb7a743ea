/**
 * A proxy to a server of ours that can be made bad while in use: slow, silent, cut off.
 *
 * TCP resends what a network lost, so an interrupted connection is merely slow. What `drop` takes is gone, as behind a
 * firewall that has forgotten a connection: it stays silent forever, and only a new one gets through.
 */
import { connect, createServer, type Socket } from "node:net";
import { freePort } from "./ports.ts";

/** To the server, or back from it. */
export type Direction = "there" | "back";

export type TcpProxy = {
  readonly port: number;
  /** The same address through this proxy. */
  url(direct: string): string;
  /** Every byte comes this much later. Both directions unless one is named, here and below. */
  delay(ms: number, ...directions: Direction[]): void;
  /** Bytes vanish silently. */
  drop(...directions: Direction[]): void;
  /** As if it were not there, except for connections that lost something. */
  pass(): void;
  /** Closes every connection in an orderly way; new ones are accepted. */
  cut(): void;
  /** Resets every connection. */
  reset(): void;
  stop(): void;
  /** Connections that lost something, since the start. */
  readonly silent: number;
  /** Connections that `reset` ended, since the start. */
  readonly ended: number;
};

type Manner = { readonly delayMs: number; readonly drops: boolean };

const both: readonly Direction[] = ["there", "back"];
const untouched: Manner = { delayMs: 0, drops: false };

export async function startProxy(target: number): Promise<TcpProxy> {
  const port = freePort();
  const manners: Record<Direction, Manner> = { there: untouched, back: untouched };
  const sockets = new Set<Socket>();
  const ways: Way[] = [];
  let resets = 0;
  const behave = (manner: Manner, directions: readonly Direction[]) => {
    for (const direction of directions.length === 0 ? both : directions) manners[direction] = manner;
  };

  const server = createServer((client) => {
    const behind = connect(target, "127.0.0.1");
    const way: Way = { manners, silent: false };
    ways.push(way);
    join(client, behind, "there", way);
    join(behind, client, "back", way);
    for (const socket of [client, behind]) {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.on("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });

  return {
    port,
    url: (direct) => direct.replace(`:${target}`, `:${port}`),
    delay: (delayMs, ...directions) => behave({ delayMs, drops: false }, directions),
    drop: (...directions) => behave({ delayMs: 0, drops: true }, directions),
    pass: () => behave(untouched, both),
    cut() {
      for (const socket of sockets) socket.end();
    },
    reset() {
      resets += sockets.size / 2;
      for (const socket of sockets) socket.resetAndDestroy();
    },
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
    get ended() {
      return resets;
    },
    get silent() {
      return ways.filter(({ silent }) => silent).length;
    },
  };
}

type Way = { readonly manners: Readonly<Record<Direction, Manner>>; silent: boolean };

/** Passes on what comes from one end, in the order it came. */
function join(from: Socket, to: Socket, direction: Direction, way: Way): void {
  let last: Promise<void> | undefined;

  async function later(before: Promise<void> | undefined, ms: number, act: () => void): Promise<void> {
    await Promise.all([before, Bun.sleep(ms)]);
    act();
  }

  function pass(act: () => void): void {
    const { delayMs, drops } = way.manners[direction];
    way.silent ||= drops;
    if (way.silent) return;
    if (delayMs === 0 && last === undefined) {
      act();
      return;
    }
    const mine = later(last, delayMs, act).finally(() => {
      if (last === mine) last = undefined;
    });
    last = mine;
  }

  from.on("data", (bytes) => pass(() => to.write(bytes)));
  from.on("end", () => pass(() => to.end()));
  // No listener, or gone silently: passed on to the other side.
  from.on("error", () => to.resetAndDestroy());
  from.on("close", () => {
    if (!way.silent) pass(() => to.destroySoon());
  });
}
