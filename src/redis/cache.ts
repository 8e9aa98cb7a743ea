/**
 * The shared cache on Redis. `put.lua` and `stand.lua` decide what is written; their headers state the invariants.
 *
 * A link is stored at `ql:v6:link:{code}`, and the fact that there is none at `ql:v6:404:{code}`. The braces are a
 * Cluster hash tag, which puts both keys into one slot. If the data of a server cannot be corrected, a new epoch
 * begins, which is part of the key names: `ql:v6.k3f9:link:{code}`. Data under the old names expires.
 *
 * `v6` is the name of the format of the values. Another format has other keys, another feed position
 * (`ql:v6:feed:{server}`) and other epochs. So during an upgrade, servers with two formats correct and read their own
 * part of Redis, and neither depends on the other.
 *
 * A value is valid for an hour (a setting) by its envelope, or longer if it is visited often and changes rarely. It is
 * kept for a day, to be served when SQL is unavailable.
 */
import { randomBytes } from "node:crypto";
import { setImmediate as othersTurn } from "node:timers/promises";
import { type Clock, systemClock } from "../base/clock.ts";
import { gatherPerTurn } from "../base/per-turn.ts";
import type { Versioned } from "../cache/cache.ts";
import type { CorrectableTier, CorrectedUpTo } from "../cache/correct-tier.ts";
import type { Form, Shared, Ticket, Tier } from "../cache/tier.ts";
import { defineScript, type Redis } from "./client.ts";
import putText from "./put.lua" with { type: "text" };
import standText from "./stand.lua" with { type: "text" };

export interface RedisCacheOptions<Value> {
  readonly redis: Redis;
  readonly form: Form<Value>;
  /** Names the database whose links these are. By default, it is not compared. */
  readonly database?: string;
  /** How long a link is valid. An hour by default. */
  readonly lifeMs?: (key: string) => number;
  /** How long it is remembered that a link does not exist. Five minutes by default. */
  readonly missingMs?: number;
  /** Random variation of both, as a fraction up or down. */
  readonly jitter?: number;
  /** Called when a server starts empty, under new names. */
  readonly onEmpty?: () => void;
  /** Called when `put` has taken effect. */
  readonly written?: (kind: "link" | "missing", key: string) => void;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** When the reads of one turn begin. */
  readonly nextTurn?: (start: () => void) => void;
  /** When something is written: some milliseconds later by default. */
  readonly later?: (write: () => void) => void;
}

export interface RedisCache<Value> extends Tier<Value>, CorrectableTier {
  /** After a write: resolves when nothing older can be read here, and throws otherwise. */
  fenceOne(key: string, version: number): Promise<void>;
  /** For the operator. */
  inspect(key: string): Promise<InspectedEntry<Value>>;
}

export interface InspectedEntry<Value> {
  /** How far its server has been corrected. The position is empty if the server has none. */
  readonly stand: CorrectedUpTo;
  readonly node: string;
  readonly epoch: string;
  readonly shared: Shared<Value>;
  /** Until the key expires in Redis. */
  readonly keptMs: number;
}

const linkMs = 3_600_000;
const missingMsByDefault = 300_000;
const jitterByDefault = 0.08;
const keptMs = 86_400_000;
const fenceMs = 60_000;
/** The time from the query to SQL until the write here, far less than the lifetime of a fence. */
const ticketMs = 1_000;
const believedMs = 1_500;
const writesMost = 1_000;
const writesPerTurn = 50;
const writeAfterMs = 5;
const inSomeMs = (write: () => void): void => void setTimeout(write, writeAfterMs);
const fencesAtOnce = 100;
const keysPerRead = 256;
const plain = "0";

const scripts = { put: defineScript(putText), stand: defineScript(standText) };
export const cacheScripts = Object.values(scripts);

interface Server {
  readonly epoch: string;
  readonly generation: number;
  /** Redis's clock minus ours. */
  readonly offsetMs: number;
  believedAt: number;
}

interface Read {
  readonly key: string;
  /** Of the connection on which its server was trusted. */
  readonly generation: number;
}

export function createRedisCache<Value>(options: RedisCacheOptions<Value>): RedisCache<Value> {
  const { redis, form, written, clock = systemClock, random = Math.random, lifeMs = () => linkMs } = options;
  const { missingMs = missingMsByDefault, jitter = jitterByDefault, later = inSomeMs, database = "" } = options;
  const servers = new Map<string, Server>();
  /** Epochs of other databases, by server. */
  const foreign = new Map<string, string>();
  let writing = 0;
  const unsent: (() => void)[] = [];

  const serverOf = (key: string): Server | undefined => servers.get(redis.serverOf(`{${key}}`));

  /** Only if the server was seen on the current connection: after a reconnect it may be another server. */
  function known(key: string): Server | undefined {
    const server = serverOf(key);
    return server?.generation === redis.generation ? server : undefined;
  }

  async function put(
    epoch: string,
    key: string,
    words: readonly [version: number, kind: string, value: string, keepForMs: number, notAfter: number],
  ): Promise<boolean> {
    const reply = (await redis.script(scripts.put, keysOf(form.name, epoch, key), words.map(String))) as string[];
    if (reply[0] === "garbage") throw new Error(`${reply[1]} contains foreign data`);
    return reply[0] === "written";
  }

  async function fence(server: Server, key: string, version: number): Promise<void> {
    await put(server.epoch, key, [version, "fence", "", fenceMs, 0]);
  }

  async function stand(
    tag: string,
    words: readonly [position: string, from: string, epoch: string, instead: string],
  ): Promise<CorrectedUpTo> {
    const generation = redis.generation;
    const asked = clock.now();
    const key = positionKey(form.name, tag);
    const reply = (await redis.script(scripts.stand, [key], [...words, database])) as string[];
    const [epoch = "", position = "", touched = "0", now = "0"] = reply;
    if (epoch === "behind") throw new Error("Redis came back with older data, or another epoch has started");
    if (epoch === "garbage") throw new Error(`${position} contains foreign data or another format`);
    if (epoch === "foreign") {
      servers.delete(tag);
      foreign.set(tag, position);
      return { position: "", idleMs: Number(now) - Number(touched), isForeign: true };
    }
    foreign.delete(tag);
    const before = servers.get(tag);
    const same = before?.epoch === epoch && before.generation === generation;
    const believedAt = same ? before.believedAt : Number.NEGATIVE_INFINITY;
    if (epoch === "") servers.delete(tag);
    else servers.set(tag, { epoch, generation, offsetMs: Number(now) - asked, believedAt });
    return { position, idleMs: Number(now) - Number(touched) };
  }

  /** During a correction: fences sent to one server do not count for another. */
  function unchanged(tag: string): Server {
    const server = servers.get(tag);
    if (server?.generation === redis.generation) return server;
    throw new Error("Redis was flushed or reconnected meanwhile");
  }

  /** Visitors come first: of a crowd, some are written every few milliseconds, after their answers. */
  function sendLater(send: () => void): void {
    if (unsent.push(send) === 1) later(sendSome);
  }

  function sendSome(): void {
    for (const send of unsent.splice(0, writesPerTurn)) send();
    if (unsent.length > 0) later(sendSome);
  }

  const namesOf = (key: string) => keysOf(form.name, serverOf(key)?.epoch ?? plain, key);

  /**
   * Keys of one turn are read together: one command on a single server, and one for each slot of a Cluster. A server is
   * trusted on one connection: a read that waited while another one was opened must not be answered by it.
   */
  const readInTurn = gatherPerTurn<Read, Shared<Value>>(
    keysPerRead,
    async (reads) => {
      const current = redis.generation;
      const names = reads.flatMap(({ key, generation }) => (generation === current ? namesOf(key) : []));
      const [first] = names;
      const values = first === undefined ? [] : ((await redis.send(first, ["MGET", ...names])) as (string | null)[]);
      const now = clock.now();
      let place = 0;
      return reads.map(({ key, generation }) => {
        if (generation !== current) return new Error(`the connection changed before ${key} was read`);
        return read(form, values[place++] ?? null, values[place++] ?? null, now);
      });
    },
    { groupOf: ({ key }) => redis.slotOf(`{${key}}`), ...(options.nextTurn && { nextTurn: options.nextTurn }) },
  );

  const get = (key: string): Promise<Shared<Value>> => readInTurn({ key, generation: redis.generation });

  return {
    trusts(key) {
      const server = known(key);
      return server !== undefined && clock.elapsed() - server.believedAt < believedMs;
    },

    get,

    ticket(key) {
      const server = known(key);
      if (server === undefined || writing >= writesMost) return undefined;
      return { until: clock.now() + server.offsetMs + ticketMs, epoch: server.epoch };
    },

    put(key, { version, value }, { until, epoch }: Ticket) {
      const seconds = Math.floor(clock.now() / 1_000);
      writing++;
      sendLater(() => {
        const goodForMs = (value === undefined ? missingMs : lifeMs(key)) * (1 - jitter + 2 * jitter * random());
        const text =
          value === undefined
            ? ""
            : JSON.stringify({
                l: form.toJson(value),
                t: seconds,
                x: seconds + Math.round(goodForMs / 1_000),
                v: version,
              } satisfies Envelope);
        const kept = Math.round(value === undefined ? goodForMs : Math.max(keptMs, 2 * goodForMs));
        const kind = value === undefined ? "missing" : "link";
        put(epoch, key, [version, kind, text, kept, until])
          .then((done) => done && written?.(kind, key))
          .catch(() => {}) // the next read of SQL tries again
          .finally(() => writing--);
      });
    },

    async fenceOne(key, version) {
      const server = known(key);
      if (server !== undefined) await fence(server, key, version);
    },

    async inspect(key) {
      redis.servers();
      const tag = redis.serverOf(`{${key}}`);
      const whereItStands = await stand(tag, ["", "", "", ""]);
      const lives = namesOf(key).map((name) => redis.send(name, ["PTTL", name]));
      return {
        stand: whereItStands,
        node: redis.nodeOf(tag),
        epoch: servers.get(tag)?.epoch ?? "",
        shared: await get(key),
        keptMs: Math.max(0, ...(await Promise.all(lives)).map(Number)),
      };
    },

    servers: () => redis.servers(),

    stand: (tag) => stand(tag, ["", "", "", ""]),

    async begin(tag, position) {
      const over = servers.get(tag)?.epoch ?? foreign.get(tag) ?? "";
      const begun = await stand(tag, [position, "", randomBytes(3).toString("hex"), over]);
      options.onEmpty?.();
      return begun;
    },

    async fence(tag, changes) {
      const server = unchanged(tag);
      let writing: Promise<void>[] = [];
      let seen = 0;
      for (const change of changes) {
        for (const key of form.keysOf(change)) {
          if (redis.serverOf(`{${key}}`) === tag) writing.push(fence(server, key, change.version));
          seen++;
        }
        if (seen < fencesAtOnce) continue;
        await Promise.all(writing);
        // None may be of this server, and visitors must not wait for a page of other servers' keys.
        if (writing.length === 0) await othersTurn();
        writing = [];
        seen = 0;
      }
      await Promise.all(writing);
    },

    async moveOn(tag, from, position) {
      const { epoch } = unchanged(tag);
      const { isForeign } = await stand(tag, [position, from, "", epoch]);
      if (isForeign) throw new Error("Redis was taken over by servers of another database meanwhile");
    },

    believe(tag, began) {
      const server = servers.get(tag);
      if (server !== undefined) server.believedAt = began;
    },
  };
}

/** The database whose links this server has. Undefined if it has none, or a version before these names wrote them. */
export async function databaseOn(redis: Redis, form: string, tag: string): Promise<string | undefined> {
  const key = positionKey(form, tag);
  return ((await redis.send(key, ["HGET", key, "d"])) as string | null) || undefined;
}

const positionKey = (form: string, tag: string): string => `ql:${form}:feed:{${tag}}`;

const keysOf = (form: string, epoch: string, key: string): [link: string, missing: string] => {
  const head = epoch === plain ? `ql:${form}` : `ql:${form}.${epoch}`;
  return [`${head}:link:{${key}}`, `${head}:404:{${key}}`];
};

/**
 * What is stored for a link: its value, and the fields of the cache around it. The value has its own field, so their
 * names cannot collide. A fence is `{"v":7}`.
 */
interface Envelope {
  readonly l?: unknown;
  /** When it was written and until when it is valid, in seconds. */
  readonly t?: number;
  readonly x?: number;
  /** The version. It comes last, because `put.lua` looks for it at the end. */
  readonly v: number;
}

/** A value that cannot be read counts as missing: SQL is asked, and its answer does not replace the value. */
function read<Value>(form: Form<Value>, link: string | null, missing: string | null, now: number): Shared<Value> {
  const there = missing === null ? Number.NaN : Number(missing);
  if (Number.isSafeInteger(there)) return { kind: "value", answer: { version: there, value: undefined }, left: 1 };
  if (link === null) return { kind: "unknown" };
  try {
    const { l, t, x, v: version } = JSON.parse(link) as Envelope;
    if (!Number.isSafeInteger(version)) return { kind: "unknown" };
    if (l === undefined) return { kind: "fence", version };
    if (typeof t !== "number" || typeof x !== "number") return { kind: "unknown" };
    const answer: Versioned<Value> = { version, value: form.fromJson(l) };
    return { kind: "value", answer, left: (x - now / 1_000) / Math.max(1, x - t) };
  } catch {
    return { kind: "unknown" };
  }
}
