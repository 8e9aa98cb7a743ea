/**
 * The connection to Redis: a single server, Sentinel or Cluster, depending on the address (`address.ts`).
 *
 * Redis may be unavailable at any time, including at start, and no caller may wait longer than its timeout. So the
 * client connects in the background and retries with a growing, random delay. While Redis is unavailable, commands fail
 * at once instead of queueing. Every command has its own timeout (the library's covers only commands that have not been
 * sent), and the number of waiting commands is limited. All failures are one error, `RedisUnavailable`, because the
 * caller can fix none of them.
 *
 * After a timeout, the outcome of a command is unknown: it may have run, or may still run. All our scripts can
 * therefore be repeated.
 */
import { createHash } from "node:crypto";
import { createClient, createCluster, createSentinel, ErrorReply } from "@redis/client";
import * as slotModule from "@redis/client/dist/lib/utils/calculate-slot";
import { type Clock, systemClock } from "../base/clock.ts";
import { Late, withDeadline } from "../base/deadline.ts";
import { messageOf } from "../base/errors.ts";
import { parseRedisUrl, type RedisAddress } from "./address.ts";

export interface Redis {
  /** One command, sent to the server that has the key. */
  send(key: string, command: readonly string[]): Promise<unknown>;
  /** A command without a key, to one of `servers()`. */
  sendTo(server: string, command: readonly string[]): Promise<unknown>;
  /** All keys must be in one slot. Uses the default timeout, or the given one. */
  script(script: Script, keys: readonly string[], args: readonly string[], deadlineMs?: number): Promise<unknown>;
  /** Keys with the same number can be used in one script. On a single server all keys have the same. */
  slotOf(key: string): number;
  /** The servers that hold keys, each identified by a hash tag that maps to it. A single server is one entry. */
  servers(): readonly string[];
  /** The server of a key, as of the last call of `servers()`. Empty if it was not in that list. */
  serverOf(key: string): string;
  /** The display name of a server: host and port, or the name that its sentinels use. */
  nodeOf(server: string): string;
  /** The node that currently holds the key, by its display name. Empty while unknown. */
  ownerOf(key: string): string;
  /** All nodes that currently hold keys. */
  owners(): readonly string[];
  /** Grows with every reconnect: the new connection may lead to another server, or to older data. */
  readonly generation: number;
  /** Subscribes to a channel, on a separate connection that reconnects by itself. Messages sent meanwhile are lost. */
  listen(channel: string, onMessage: () => void): Promise<Listening>;
  /** The same for any number of channels, on one separate connection. */
  subscriber(): Subscriber;
  /** Throws if Redis does not answer in time. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface Listening {
  close(): void;
}

export interface Subscriber extends Listening {
  subscribe(channel: string, onMessage: OnMessage): Listening;
}

export type OnMessage = (message: string) => void;

export interface Script {
  readonly text: string;
  readonly sha1: string;
}

export class RedisUnavailable extends Error {
  readonly code = "unavailable";

  constructor(cause: unknown) {
    super(`Redis is unavailable: ${messageOf(cause)}`, { cause });
    this.name = "RedisUnavailable";
  }
}

export interface RedisOptions {
  /** The timeout of every command, from call to answer. */
  readonly deadlineMs?: number;
  /** How many commands may wait for an answer. Further ones fail at once. */
  readonly waitingMost?: number;
  /**
   * If commands wait and no answer arrives for this long, the connection is considered dead. TCP would need minutes.
   */
  readonly silenceMostMs?: number;
  /**
   * Sent to every server once it is connected. A crowd would otherwise find a script unknown as often as it has visitors, and
   * send its text as often.
   */
  readonly scripts?: readonly Script[];
  readonly clock?: Clock;
  /** Called for every command, whether it was answered or timed out. */
  readonly observe?: (command: string, seconds: number) => void;
  /** Called when Redis becomes unavailable and when it is back: once each, not once per command. */
  readonly onChange?: (state: "ready" | "away", reason: string) => void;
}

const deadlineMsByDefault = 250;
const waitingMostByDefault = 10_000;
const connectTimeoutMs = 2_000;
const pauseFirstMs = 50;
const pauseMostMs = 2_000;
const silenceMostMsByDefault = 5_000;

export const defineScript = (text: string): Script => ({ text, sha1: createHash("sha1").update(text).digest("hex") });

export function connectRedis(url: string, options: RedisOptions = {}): Redis {
  const { deadlineMs = deadlineMsByDefault, waitingMost = waitingMostByDefault, clock = systemClock } = options;
  const { silenceMostMs = silenceMostMsByDefault, observe, scripts = [] } = options;
  const address = parseRedisUrl(url);
  let waiting = 0;
  let answeredAt = clock.elapsed();
  let generation = 0;
  const anew = () => {
    generation++;
    // After those who listen to the same event: the connection can be used then.
    if (scripts.length > 0) setImmediate(() => void teach().catch(ignore));
  };
  let connection = open();

  /** A connection that retries until Redis is available, or until it is closed. */
  function open(): Connection {
    const opened = connect(address, waitingMost, anew);
    void keepConnecting(opened, () => connection === opened, report);
    return opened;
  }

  let reported: "ready" | "away" | undefined;
  function report(state: "ready" | "away", reason: string): void {
    if (state === reported) return;
    reported = state;
    options.onChange?.(state, reason);
  }

  const run = (key: string | undefined, command: readonly string[], ms = deadlineMs) =>
    inTime(command, () => connection.send(key, command), ms);

  async function inTime(command: readonly string[], send: () => Promise<unknown>, ms: number): Promise<unknown> {
    if (waiting >= waitingMost) throw new RedisUnavailable(new Error(`${waiting} commands already wait`));
    const started = clock.elapsed();
    if (waiting === 0) answeredAt = started;
    waiting++;
    const answer = send();
    // Not at the timeout: a sent command takes up space until it is answered or its connection is closed.
    const answered = (error?: unknown) => {
      waiting--;
      if (error === undefined || error instanceof ErrorReply) answeredAt = clock.elapsed();
    };
    answer.then(() => answered(), answered);
    const took = () => observe?.(command[0] ?? "", (clock.elapsed() - started) / 1_000);
    try {
      const reply = await withDeadline(answer, ms, `Redis (${command[0]})`, clock);
      took();
      return reply;
    } catch (error) {
      if (error instanceof ErrorReply || error instanceof Late) took();
      if (error instanceof ErrorReply) throw error;
      report("away", messageOf(error));
      if (waiting > 0 && clock.elapsed() - answeredAt > silenceMostMs) reconnect();
      throw error;
    }
  }

  function reconnect(): void {
    const dead = connection;
    answeredAt = clock.elapsed();
    connection = open();
    dead.destroy();
  }

  async function attempt<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      const result = await work();
      report("ready", "it answers");
      return result;
    } catch (error) {
      throw error instanceof RedisUnavailable ? error : new RedisUnavailable(error);
    }
  }

  async function teach(): Promise<void> {
    await Promise.all(scripts.map(({ text }) => connection.sendToAll(["SCRIPT", "LOAD", text])));
  }

  /** The text of a script is sent once to each server, and not by all who find it unknown at the same time. */
  const textSent = new Map<string, number>();
  let scriptsSent = 0;

  async function runScript(script: Script, keys: readonly string[], args: readonly string[], ms?: number) {
    const [key] = keys;
    const rest = [String(keys.length), ...keys, ...args];
    const known = () => run(key, ["EVALSHA", script.sha1, ...rest], ms);
    const sent = ++scriptsSent;
    try {
      return await known();
    } catch (error) {
      if (!isUnknownScript(error)) throw error;
    }
    // Redis was restarted, failed over or flushed. It did not run the unknown script, so it is safe to send it again.
    const name = `${script.sha1} ${connection.ownerOf(key ?? "")}`;
    if ((textSent.get(name) ?? 0) > sent) {
      try {
        return await known();
      } catch (error) {
        if (!isUnknownScript(error)) throw error;
      }
    }
    textSent.set(name, ++scriptsSent);
    return await run(key, ["EVAL", script.text, ...rest], ms);
  }

  function subscriber(): Subscriber {
    const listening = connect(address, waitingMost, () => {}, silenceMostMs);
    let wanted = true;
    const connected = keepConnecting(
      listening,
      () => wanted,
      () => {},
    );
    return {
      subscribe(channel, onMessage) {
        let open = true;
        const isWanted = () => wanted && open;
        void connected.then(() => keepSubscribing(listening, channel, onMessage, isWanted));
        return {
          close() {
            open = false;
            if (wanted) void listening.unsubscribe(channel, onMessage).catch(ignore);
          },
        };
      },
      close() {
        wanted = false;
        listening.destroy();
      },
    };
  }

  return {
    send: (key, command) => attempt(() => run(key, command)),
    sendTo: (server, command) => attempt(() => inTime(command, () => connection.sendTo(server, command), deadlineMs)),

    script: (script, keys, args, ms) => attempt(() => runScript(script, keys, args, ms)),

    slotOf: (key) => (address.kind === "cluster" ? slotOfKey(key) : 0),
    servers: () => connection.servers(),
    serverOf: (key) => connection.serverOf(key),
    nodeOf: (server) => connection.nodeOf(server),
    ownerOf: (key) => connection.ownerOf(key),
    owners: () => connection.owners(),
    get generation() {
      return generation;
    },

    async listen(channel, onMessage) {
      const all = subscriber();
      all.subscribe(channel, onMessage);
      return all;
    },
    subscriber,

    ping: () =>
      attempt(async () => {
        await run(undefined, ["PING"]);
      }),

    async close() {
      const last = connection;
      connection = closed;
      last.destroy();
    },
  };
}

const isUnknownScript = (error: unknown): boolean =>
  error instanceof ErrorReply && error.message.startsWith("NOSCRIPT");

/** In the executable the default import of this CommonJS module is the whole module. */
const { default: given } = slotModule as { default: typeof slotModule.default | typeof slotModule };
const slotOfKey = typeof given === "function" ? given : given.default;

/** What the three kinds of client have in common. */
interface Connection {
  connect(): Promise<unknown>;
  send(key: string | undefined, command: readonly string[]): Promise<unknown>;
  sendTo(server: string, command: readonly string[]): Promise<unknown>;
  sendToAll(command: readonly string[]): Promise<unknown>;
  subscribe(channel: string, onMessage: OnMessage): Promise<unknown>;
  unsubscribe(channel: string, onMessage: OnMessage): Promise<unknown>;
  servers(): readonly string[];
  serverOf(key: string): string;
  nodeOf(server: string): string;
  ownerOf(key: string): string;
  owners(): readonly string[];
  destroy(): void;
}

const only = "all";
const oneServer = (name: string) => ({
  servers: () => [only],
  serverOf: () => only,
  nodeOf: () => name,
  ownerOf: () => name,
  owners: () => [name],
});

const closed: Connection = {
  connect: async () => {},
  send: () => Promise.reject(new Error("the connection was closed")),
  sendTo: () => Promise.reject(new Error("the connection was closed")),
  sendToAll: () => Promise.reject(new Error("the connection was closed")),
  subscribe: async () => {},
  unsubscribe: async () => {},
  servers: () => [],
  serverOf: () => only,
  nodeOf: () => "",
  ownerOf: () => "",
  owners: () => [],
  destroy() {},
};

async function keepConnecting(
  connection: Connection,
  isWanted: () => boolean,
  report: (state: "ready" | "away", reason: string) => void,
): Promise<void> {
  // The caller stores the connection after this returns, and `isWanted` is true only then.
  await Promise.resolve();
  for (let tries = 0; isWanted(); tries++) {
    try {
      await connection.connect();
      if (isWanted()) report("ready", "connected");
      return;
    } catch (error) {
      if (!isWanted()) return;
      report("away", messageOf(error));
      await new Promise((resolve) => setTimeout(resolve, pauseMs(tries)));
    }
  }
}

/** The library subscribes again after it has reconnected, but not if the connection was lost before the first time. */
async function keepSubscribing(
  connection: Connection,
  channel: string,
  onMessage: OnMessage,
  isWanted: () => boolean,
): Promise<void> {
  for (let tries = 0; isWanted(); tries++) {
    try {
      await connection.subscribe(channel, onMessage);
      if (!isWanted()) await connection.unsubscribe(channel, onMessage).catch(ignore);
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, pauseMs(tries)));
    }
  }
}

/** Half of the delay is random, so that servers that lost the same Redis do not reconnect at the same moment. */
function pauseMs(tries: number): number {
  const longest = Math.min(pauseMostMs, pauseFirstMs * 2 ** Math.min(tries, 10));
  return Math.round(longest * (0.5 + Math.random() / 2));
}

/**
 * A subscriber sends no commands and would not notice a dead connection. With `silenceMostMs` it pings, and drops a
 * silent one.
 */
function connect(address: RedisAddress, waitingMost: number, anew: () => void, silenceMostMs?: number): Connection {
  const { tls, username, password, database, nodes } = address;
  const socket = {
    connectTimeout: connectTimeoutMs,
    reconnectStrategy: pauseMs,
    ...(tls ? { tls: true as const } : {}),
  };
  // Not for connections to sentinels, which are never pinged.
  const heard = silenceMostMs === undefined ? socket : { ...socket, socketTimeout: silenceMostMs };
  const client = {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    disableOfflineQueue: true,
    ...(silenceMostMs === undefined ? {} : { pingInterval: silenceMostMs / 2 }),
    commandsQueueMaxLength: waitingMost,
    disableClientInfo: true,
    maintNotifications: "disabled" as const,
  };
  // Our own timeout covers what the library's would, with one timer instead of one signal per command.
  const commandOptions = { timeout: 0 };

  if (address.kind === "cluster") {
    const cluster = createCluster({
      rootNodes: nodes.map(({ host, port }) => ({ socket: { ...socket, host, port, reconnectStrategy: false } })),
      defaults: { ...client, socket: heard },
      commandOptions,
      topologyRefreshOnReconnectionAttemptStrategy: 500,
    });
    cluster.on("error", ignore);
    cluster.on("node-ready", anew);
    const ownerOf = (slot: number) => cluster.slots[slot]?.master.address;
    const masters = () => cluster.slots.map((_, slot) => ownerOf(slot));
    const tags = tagsOf(masters, ownerOf);
    return {
      connect: () => cluster.connect(),
      send: (key, command) => cluster.sendCommand(key, false, [...command]),
      // The library sends a command without a key to any node, whatever key is passed.
      async sendTo(server, command) {
        const shard = cluster.slots[slotOfKey(server)];
        if (shard === undefined) throw new Error("no node has this slot");
        return (await cluster.nodeClient(shard.master)).sendCommand([...command]);
      },
      sendToAll: (command) =>
        Promise.all(cluster.masters.map(async (node) => (await cluster.nodeClient(node)).sendCommand([...command]))),
      subscribe: (channel, onMessage) => cluster.subscribe(channel, onMessage),
      unsubscribe: (channel, onMessage) => cluster.unsubscribe(channel, onMessage as Listener),
      ...tags,
      ownerOf: (key) => ownerOf(slotOfKey(key)) ?? "",
      owners: () => [...new Set(masters())].filter((owner) => owner !== undefined),
      destroy: () => cluster.destroy(),
    };
  }
  if (address.kind === "sentinel") {
    const sentinel = createSentinel({
      name: address.name,
      sentinelRootNodes: nodes.map((node) => ({ ...node })),
      nodeClientOptions: { ...client, database, socket: heard },
      sentinelClientOptions: { socket },
      commandOptions,
      scanInterval: 2_000,
      // One connection for all commands, instead of one that is acquired and released around every burst.
      reserveClient: true,
      maxCommandRediscovers: 4,
    });
    sentinel.on("error", ignore);
    sentinel.on("ready", anew);
    sentinel.on("topology-change", anew);
    return {
      connect: () => sentinel.connect(),
      send: (_, command) => sentinel.sendCommand(false, [...command]),
      sendTo: (_, command) => sentinel.sendCommand(false, [...command]),
      sendToAll: (command) => sentinel.sendCommand(false, [...command]),
      subscribe: (channel, onMessage) => sentinel.subscribe(channel, onMessage),
      unsubscribe: (channel, onMessage) => sentinel.unsubscribe(channel, onMessage as Listener),
      ...oneServer(address.name),
      destroy: () => void sentinel.destroy().catch(ignore),
    };
  }
  const [node] = nodes;
  const server = createClient({ ...client, database, socket: { ...heard, ...node }, commandOptions });
  server.on("error", ignore);
  server.on("ready", anew);
  return {
    connect: () => server.connect(),
    send: (_, command) => server.sendCommand([...command]),
    sendTo: (_, command) => server.sendCommand([...command]),
    sendToAll: (command) => server.sendCommand([...command]),
    subscribe: (channel, onMessage) => server.subscribe(channel, onMessage),
    unsubscribe: (channel, onMessage) => server.unsubscribe(channel, onMessage),
    ...oneServer(`${node?.host}:${node?.port}`),
    destroy: () => server.destroy(),
  };
}

/** Names each server of a Cluster by the first slot that it holds, so that all clients use the same name. */
function tagsOf(
  owners: () => readonly (string | undefined)[],
  ownerOf: (slot: number) => string | undefined,
): Pick<Connection, "servers" | "serverOf" | "nodeOf"> {
  let byOwner = new Map<string, string>();
  return {
    servers() {
      byOwner = new Map();
      for (const [slot, owner] of owners().entries()) {
        if (owner !== undefined && !byOwner.has(owner)) byOwner.set(owner, tagInSlot(slot));
      }
      return [...byOwner.values()];
    },
    serverOf: (key) => byOwner.get(ownerOf(slotOfKey(key)) ?? "") ?? "",
    nodeOf: (server) => [...byOwner].find(([, tag]) => tag === server)?.[0] ?? "",
  };
}

/** The library types a listener to be removed as one of bytes or text. */
type Listener = () => void;

const tags = new Map<number, string>();

function tagInSlot(slot: number): string {
  for (let n = 0; !tags.has(slot); n++) if (slotOfKey(`n${n}`) === slot) tags.set(slot, `n${n}`);
  return tags.get(slot) ?? "";
}

/** Every failure also reaches its command. Without a listener, the event would end the process. */
function ignore(): void {}
