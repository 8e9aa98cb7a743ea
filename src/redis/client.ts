/**
 * The way to Redis: one server, Sentinel or Cluster, by the form of the address (`address.ts`).
 *
 * Redis may be away at any time, also when we start, and nobody may wait for it longer than agreed. So it is connected to
 * in the background, again and again with a growing, random pause; while it is away a command fails at once instead of
 * queueing; every command has a deadline of its own (the library's covers only what has not been sent); and what waits
 * for an answer is bounded. Whatever goes wrong is one error, `RedisUnavailable`: the caller cannot mend any of it.
 *
 * After a deadline the fate of a command is unknown: it may have run, or may still run. Every script of ours can
 * therefore be repeated.
 */
import { createHash } from "node:crypto";
import { createClient, createCluster, createSentinel, ErrorReply } from "@redis/client";
import slotOfKey from "@redis/client/dist/lib/utils/calculate-slot";
import { type Clock, systemClock } from "../base/clock.ts";
import { Late, withDeadline } from "../base/deadline.ts";
import { messageOf } from "../base/errors.ts";
import { parseRedisUrl, type RedisAddress } from "./address.ts";

export interface Redis {
  /** One command, sent to the server that has the key. */
  send(key: string, command: readonly string[]): Promise<unknown>;
  /** A command without a key, to one of `servers()`. */
  sendTo(server: string, command: readonly string[]): Promise<unknown>;
  /** All keys must be in one slot. Within the deadline of all commands, or one of its own. */
  script(script: Script, keys: readonly string[], args: readonly string[], deadlineMs?: number): Promise<unknown>;
  /** Keys with the same number can be in one script. A single server has one for all. */
  slotOf(key: string): number;
  /** The servers that have keys, each by a hash tag that leads to it. One server has one. */
  servers(): readonly string[];
  /** As of when they were last listed; empty if it was not among them. */
  serverOf(key: string): string;
  /** What people call one of the servers: its host and port, or what its sentinels watch it as. */
  nodeOf(server: string): string;
  /** Whose key this is at this moment, by the same name; empty while nobody knows. */
  ownerOf(key: string): string;
  /** Everybody who has keys at this moment. */
  owners(): readonly string[];
  /** Grows whenever a connection was made anew: behind it may be another server, or the same with older data. */
  readonly generation: number;
  /** Messages of a channel, on a connection of its own that comes back by itself. What was sent meanwhile is lost. */
  listen(channel: string, onMessage: () => void): Promise<Listening>;
  /** Whether it answers, and in time; throws if not. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface Listening {
  close(): void;
}

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
  /** For every command, from call to answer. */
  readonly deadlineMs?: number;
  /** Commands that wait for an answer; a further one fails at once. */
  readonly waitingMost?: number;
  /** No answer at all for so long, with commands waiting, and the connection is taken for dead: TCP would need minutes. */
  readonly silenceMostMs?: number;
  readonly clock?: Clock;
  /** Told of every command that was answered, or not in time. */
  readonly observe?: (command: string, seconds: number) => void;
  /** Told when it goes away and when it is back: once each, not once per command. */
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
  const { silenceMostMs = silenceMostMsByDefault, observe } = options;
  const address = parseRedisUrl(url);
  let waiting = 0;
  let answeredAt = clock.elapsed();
  let generation = 0;
  const anew = () => void generation++;
  let connection = open();

  /** A connection that looks for Redis until it is there, or until it is closed. */
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
    // Not at the deadline: what was sent takes up room until it is answered or its connection is gone.
    const answered = (error?: unknown) => {
      waiting--;
      if (error === undefined || error instanceof ErrorReply) answeredAt = clock.elapsed();
    };
    answer.then(() => answered(), answered);
    const took = () => observe?.(command[0] ?? "", (clock.elapsed() - started) / 1_000);
    try {
      const reply = await withDeadline(answer, ms, `Redis (${command[0]})`);
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

  return {
    send: (key, command) => attempt(() => run(key, command)),
    sendTo: (server, command) => attempt(() => inTime(command, () => connection.sendTo(server, command), deadlineMs)),

    script: (script, keys, args, ms) =>
      attempt(async () => {
        const rest = [String(keys.length), ...keys, ...args];
        try {
          return await run(keys[0], ["EVALSHA", script.sha1, ...rest], ms);
        } catch (error) {
          // Restarted, failed over or flushed: it runs nothing it does not know, so the text is safe to send.
          if (!(error instanceof ErrorReply) || !error.message.startsWith("NOSCRIPT")) throw error;
          return await run(keys[0], ["EVAL", script.text, ...rest], ms);
        }
      }),

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
      const listening = connect(address, waitingMost, () => {}, silenceMostMs);
      let wanted = true;
      void keepConnecting(
        listening,
        () => wanted,
        () => {},
      ).then(() => wanted && listening.subscribe(channel, onMessage));
      return {
        close() {
          wanted = false;
          listening.destroy();
        },
      };
    },

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

/** What the three kinds of client have in common. */
interface Connection {
  connect(): Promise<unknown>;
  send(key: string | undefined, command: readonly string[]): Promise<unknown>;
  sendTo(server: string, command: readonly string[]): Promise<unknown>;
  subscribe(channel: string, onMessage: () => void): Promise<unknown>;
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
  subscribe: async () => {},
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
  // The caller stores the connection after this returns: only then can it be wanted.
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

/** Half of it is chance, so that many instances that lost the same Redis do not return in the same moment. */
function pauseMs(tries: number): number {
  const longest = Math.min(pauseMostMs, pauseFirstMs * 2 ** Math.min(tries, 10));
  return Math.round(longest * (0.5 + Math.random() / 2));
}

/** Who only listens never sees a command unanswered: with `silenceMostMs` it asks by itself, and gives up a silent one. */
function connect(address: RedisAddress, waitingMost: number, anew: () => void, silenceMostMs?: number): Connection {
  const { tls, username, password, database, nodes } = address;
  const socket = {
    connectTimeout: connectTimeoutMs,
    reconnectStrategy: pauseMs,
    ...(tls ? { tls: true as const } : {}),
  };
  // Not for the connections to sentinels, which nobody pings.
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
  // Our own deadline covers what the library's would, and costs one timer instead of one signal per command.
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
    const masters = () => cluster.slots.map((shard) => shard?.master.address);
    const tags = tagsOf(masters);
    return {
      connect: () => cluster.connect(),
      send: (key, command) => cluster.sendCommand(key, false, [...command]),
      // Whatever key is named, the library sends a command that has none anywhere.
      async sendTo(server, command) {
        const shard = cluster.slots[slotOfKey(server)];
        if (shard === undefined) throw new Error("nobody has this slot");
        return (await cluster.nodeClient(shard.master)).sendCommand([...command]);
      },
      subscribe: (channel, onMessage) => cluster.subscribe(channel, onMessage),
      ...tags,
      ownerOf: (key) => cluster.slots[slotOfKey(key)]?.master.address ?? "",
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
      // One connection for all commands, instead of one that is leased and given back around every burst of them.
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
      subscribe: (channel, onMessage) => sentinel.subscribe(channel, onMessage),
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
    subscribe: (channel, onMessage) => server.subscribe(channel, onMessage),
    ...oneServer(`${node?.host}:${node?.port}`),
    destroy: () => server.destroy(),
  };
}

/** Names the servers of a cluster by the first slot that each has: everybody who asks gets the same name. */
function tagsOf(owners: () => readonly (string | undefined)[]): Pick<Connection, "servers" | "serverOf" | "nodeOf"> {
  let byOwner = new Map<string, string>();
  return {
    servers() {
      byOwner = new Map();
      for (const [slot, owner] of owners().entries()) {
        if (owner !== undefined && !byOwner.has(owner)) byOwner.set(owner, tagInSlot(slot));
      }
      return [...byOwner.values()];
    },
    serverOf: (key) => byOwner.get(owners()[slotOfKey(key)] ?? "") ?? "",
    nodeOf: (server) => [...byOwner].find(([, tag]) => tag === server)?.[0] ?? "",
  };
}

const tags = new Map<number, string>();

function tagInSlot(slot: number): string {
  for (let n = 0; !tags.has(slot); n++) if (slotOfKey(`n${n}`) === slot) tags.set(slot, `n${n}`);
  return tags.get(slot) ?? "";
}

/** Every failure also reaches the command that met it; unheard, the event would end the process. */
function ignore(): void {}
