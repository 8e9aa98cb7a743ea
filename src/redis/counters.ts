/**
 * Counters in Redis, shared by all servers. The scripts decide; their headers state the invariants.
 *
 * **Keys.** A limit's key holds what is used, and its sister key `…:holds` what is held. An id has a record at
 * `limits:id:<id>`: what was charged, where, and the outcome. On a single server, a call is one script over all of
 * them. If an id has the hash tag of its limits (`{ten_…}/mail/7`), the same is true in a Cluster.
 *
 * **Several slots.** Otherwise, in a Cluster, a call has one part for each slot of its limits, and each part has its
 * own record in the same slot, `limits:part:{tag}:<id>`. `limits:id:<id>` lists the parts. The parts are held one after
 * the other, ordered by slot, so that two calls never wait for each other's leftovers in opposite order. When all are
 * held, a take settles them and only then is granted. Until then the caller has no answer, so:
 * - one part denies: the earlier ones are aborted, as if they had never been made;
 * - one part does not answer: the others stay, because the same id will be asked again. If it is not, they expire after
 *   30 s;
 * - one part expires before it is settled: the others are aborted, and the answer is unavailable.
 * A crash in between can leave a settled part that is never used. This over-counts, and never under-counts.
 *
 * **Time** is the server's. Key names contain the month, so a script refuses a month that is not current and returns
 * its time. The difference from our clock is kept for the next call.
 */
import { type Clock, systemClock } from "../base/clock.ts";
import {
  type Charge,
  type Counters,
  type CounterVerdict,
  type HoldsLost,
  invalidCall,
  type Limit,
  type LimitStatus,
  maxOf,
  openHoldsMost,
  type Released,
  refuseCall,
  refuseId,
  refuseLimits,
  refuseTruth,
  rememberDenialMs,
  rememberLeastMs,
  rememberMostMs,
  type Settled,
  type StatusAnswer,
  type Synced,
  seedOf,
  type Truth,
  type Unavailable,
  unavailable,
} from "../limits/counters.ts";
import { granted } from "../limits/verdict.ts";
import { bucketAt, keyAt, leavingBuckets, monthOf, sum, type Window } from "../limits/window.ts";
import chargeText from "./charge.lua" with { type: "text" };
import { defineScript, type Redis } from "./client.ts";
import releaseText from "./release.lua" with { type: "text" };
import settleText from "./settle.lua" with { type: "text" };
import statusText from "./status.lua" with { type: "text" };
import syncText from "./sync.lua" with { type: "text" };

const scripts = {
  charge: defineScript(chargeText),
  settle: defineScript(settleText),
  release: defineScript(releaseText),
  status: defineScript(statusText),
  sync: defineScript(syncText),
};
export const counterScripts = Object.values(scripts);

export interface RedisCountersOptions {
  readonly redis: Redis;
  readonly clock?: Clock;
  /** Called with the reason whenever an answer is `unavailable`. */
  readonly onUnavailable?: (reason: unknown) => void;
}

type Kind = "take" | "hold";
type Mode = "release" | "abort";

/** The charges of a call that are in one slot, and their record. */
interface Part {
  readonly slot: number;
  readonly record: string;
  readonly charges: readonly Charge[];
}

/** A part, read from its record. */
interface StoredPart {
  readonly record: string;
  readonly kind: Kind;
  readonly charges: readonly StoredCharge[];
}

interface StoredCharge {
  readonly base: string;
  readonly used: string;
  readonly holds: string;
  readonly amount: number;
  readonly window: Window;
}

/** Long enough to hold in every slot and settle, short enough to free what a crash leaves behind. */
const takeHeldMs = 30_000;
/** A month may end, and a key may expire, between two attempts. More attempts than this indicate a bug. */
const attemptsMost = 4;
const format = "1";

class Garbage extends Error {}

export function createRedisCounters(options: RedisCountersOptions): Counters {
  const { redis, clock = systemClock } = options;
  let offsetMs = 0;
  const now = () => clock.now() + offsetMs;

  function heed(serverTime: unknown): void {
    offsetMs = Number(serverTime) - clock.now();
  }

  async function run(script: keyof typeof scripts, keys: readonly string[], args: readonly string[]): Promise<Reply> {
    const reply = (await redis.script(scripts[script], keys, args)) as Reply;
    if (reply[0] === "garbage") throw new Garbage(`${reply[1]} contains foreign data or another format`);
    return reply;
  }

  /** Retries until the month that we name is current by the server's clock. */
  async function inTime(attempt: (now: number) => Promise<Reply>): Promise<Reply> {
    for (let tries = 1; ; tries++) {
      const reply = await attempt(now());
      if (reply[0] !== "window") return reply;
      heed(reply[1]);
      if (tries === attemptsMost) throw new Error("the window never matches the server's time");
    }
  }

  function partsOf(id: string, charges: readonly Charge[]): Part[] {
    const home = homeOf(id);
    const bySlot = Map.groupBy(charges, ({ limit }) => redis.slotOf(limit.key));
    return [...bySlot]
      .toSorted(([one], [other]) => one - other)
      .map(([slot, group]) => {
        const alone = bySlot.size === 1 && slot === redis.slotOf(home);
        return { slot, charges: group, record: alone ? home : `limits:part:{${tagOf(group)}}:${id}` };
      });
  }

  async function charge(
    id: string,
    kind: Kind,
    { record, charges }: Part,
    ttlMs: number,
    truth?: Truth,
  ): Promise<Reply> {
    const seeds = new Map<Limit, number>();
    for (let tries = 1; tries <= attemptsMost; tries++) {
      const reply = await inTime((time) =>
        run(
          "charge",
          [record, ...charges.flatMap(({ limit }) => [keyAt(limit.key, limit.window, time), holdsKey(limit.key)])],
          [
            ...[id, kind, ttlMs, rememberLeastMs, rememberMostMs, rememberDenialMs, openHoldsMost].map(String),
            ...charges.flatMap(({ limit, amount }) => [
              ...[String(amount), String(maxOf(limit)), ...windowArguments(limit.window, time), limit.key],
              limit.seed === undefined ? "" : String(seeds.get(limit) ?? "?"),
            ]),
            ...(truth === undefined ? [] : [truth.used, truth.version, truth.held].map(String)),
          ],
        ),
      );
      if (reply[0] !== "seed") return reply;
      for (const index of reply.slice(1)) {
        const limit = charges[Number(index) - 1]?.limit;
        if (limit !== undefined) seeds.set(limit, await seedOf(limit));
      }
    }
    throw new Error("the counters keep disappearing");
  }

  async function ask(id: string, kind: Kind, charges: readonly Charge[], ttlMs: number): Promise<CounterVerdict> {
    const parts = partsOf(id, charges);
    const [only] = parts;
    if (only !== undefined && parts.length === 1) {
      const reply = await charge(id, kind, only, ttlMs);
      if (reply[0] !== "granted") return refusal(reply, only);
      // Held, although this is a take: it began as one of several parts, before the limits moved into one slot.
      if (kind === "take" && reply[1] === "held") return await grant(id, parts, reply[2]);
      if (only.record !== homeOf(id)) await writePlaces(id, parts, reply[2]);
      return granted;
    }
    const replies: Reply[] = [];
    for (const part of parts) {
      const reply = await charge(id, kind, part, kind === "take" ? takeHeldMs : ttlMs);
      if (reply[0] !== "granted") {
        if (reply[0] === "denied") await abort(id, parts.slice(0, replies.length));
        return refusal(reply, part);
      }
      replies.push(reply);
    }
    const until = String(Math.max(...replies.map((reply) => Number(reply[2]))));
    if (kind === "take" && replies.some((reply) => reply[1] === "held")) return await grant(id, parts, until);
    await writePlaces(id, parts, until);
    return granted;
  }

  async function holdInSync(
    id: string,
    charged: Charge,
    ttlMs: number,
    truth: Truth,
  ): Promise<CounterVerdict | HoldsLost> {
    const [part] = partsOf(id, [charged]);
    if (part === undefined) throw new Error("a charge without a slot");
    const reply = await charge(id, "hold", part, ttlMs, truth);
    if (reply[0] === "lost") return { kind: "lost" };
    if (reply[0] !== "granted") return refusal(reply, part);
    if (part.record !== homeOf(id)) await writePlaces(id, [part], reply[2]);
    return granted;
  }

  /** Makes a take final in every slot. The caller must not hear that it is granted before that. */
  async function grant(id: string, parts: readonly Part[], until: unknown): Promise<CounterVerdict> {
    const [stored] = await Promise.all([
      readParts(parts.map(({ record }) => record)),
      parts.length > 1 ? writePlaces(id, parts, until) : undefined,
    ]);
    const settled = await Promise.all(stored.map((part) => settlePart(id, part)));
    const isSettled = (reply: Reply) => reply[0] === "settled" || (reply[0] === "already" && reply[1] === "settled");
    if (stored.length === parts.length && settled.every(isSettled)) {
      const longest = Math.max(Number(until), ...settled.map((reply) => Number(reply[1]) || 0));
      if (longest > Number(until)) await writePlaces(id, parts, String(longest));
      return granted;
    }
    await Promise.all(stored.map((part) => releasePart(id, part, "abort")));
    throw new Error(`a part of ${id} ran out before it was settled`);
  }

  async function abort(id: string, parts: readonly Part[]): Promise<void> {
    try {
      const stored = await readParts(parts.map(({ record }) => record));
      await Promise.all(stored.map((part) => releasePart(id, part, "abort")));
    } catch (error) {
      // The answer stays denied. Parts that could not be aborted expire.
      options.onUnavailable?.(error);
    }
  }

  async function writePlaces(id: string, parts: readonly Part[], until: unknown): Promise<void> {
    const home = homeOf(id);
    const places = JSON.stringify({ f: format, parts: parts.map(({ record }) => record) });
    await redis.send(home, ["SET", home, places, "PXAT", String(until)]);
  }

  /** The charges of an id, or `undefined` if the id is unknown. */
  async function find(id: string): Promise<StoredPart[] | undefined> {
    const home = homeOf(id);
    const text = await redis.send(home, ["GET", home]);
    if (text === null || text === undefined) return undefined;
    const record = parseRecord(home, text);
    const records = record.parts === undefined ? [home] : record.parts;
    const parts = await readParts(records);
    return parts.length === 0 ? undefined : parts;
  }

  async function readParts(records: readonly string[]): Promise<StoredPart[]> {
    const parts = await Promise.all(
      records.map(async (record) => {
        const text = await redis.send(record, ["GET", record]);
        return text === null || text === undefined ? undefined : storedPart(record, parseRecord(record, text));
      }),
    );
    return parts.filter((part) => part !== undefined);
  }

  async function settlePart(id: string, { record, charges }: StoredPart): Promise<Reply> {
    return await inTime((time) =>
      run(
        "settle",
        [record, ...charges.flatMap(({ base, window, holds }) => [keyAt(base, window, time), holds])],
        [
          ...[id, rememberLeastMs, rememberMostMs].map(String),
          ...charges.flatMap(({ window }) => windowArguments(window, time)),
        ],
      ),
    );
  }

  async function releasePart(id: string, part: StoredPart, mode: Mode): Promise<Reply> {
    return await run(
      "release",
      [part.record, ...part.charges.flatMap(({ used, holds }) => [used, holds])],
      [id, mode, String(rememberLeastMs)],
    );
  }

  /** In order: the first part was held first and expires first, so it decides for all. */
  async function settle(id: string): Promise<Settled> {
    const parts = await find(id);
    if (parts === undefined) return { kind: "unknown" };
    let answer: Reply = ["unknown"];
    for (const [index, part] of parts.entries()) {
      const reply = await settlePart(id, part);
      if (index === 0 || reply[0] === "settled") answer = reply;
      const lost = reply[0] === "unknown" || (reply[0] === "already" && reply[1] !== "settled");
      if (!lost) continue;
      // All or nothing.
      await Promise.all(parts.slice(0, index).map((earlier) => releasePart(id, earlier, "abort")));
      return ended(reply);
    }
    return answer[0] === "settled" ? { kind: "settled" } : ended(answer);
  }

  async function release(id: string): Promise<Released> {
    const parts = await find(id);
    if (parts === undefined) return { kind: "unknown" };
    const replies = await Promise.all(parts.map((part) => releasePart(id, part, "release")));
    if (replies.some((reply) => reply[0] === "released")) return { kind: "released" };
    return ended(replies.find((reply) => reply[0] === "already") ?? ["unknown"]);
  }

  async function status(limits: readonly Limit[]): Promise<LimitStatus[]> {
    const groups = Map.groupBy(limits, ({ key }) => redis.slotOf(key));
    const found = new Map<Limit, LimitStatus>();
    await Promise.all(
      [...groups.values()].map(async (group) => {
        for (const one of await statusInSlot(group)) found.set(one.limit, one);
      }),
    );
    return limits.map((limit) => found.get(limit)).filter((one) => one !== undefined);
  }

  async function statusInSlot(limits: readonly Limit[]): Promise<LimitStatus[]> {
    const keysAt = (time: number) => limits.flatMap(({ key, window }) => [keyAt(key, window, time), holdsKey(key)]);
    let keys = keysAt(now());
    let reply = await run("status", keys, []);
    const time = Number(reply[0]);
    if (keysAt(time).join() !== keys.join()) {
      heed(time);
      keys = keysAt(time);
      reply = await run("status", keys, []);
    }
    return await Promise.all(
      limits.map(async (limit, i) => {
        const [usedKey = "", holds = ""] = keys.slice(2 * i);
        const fields = readHash(usedKey, reply[1 + 2 * i]);
        const buckets = new Map([...fields].filter(([name]) => name !== "v" && name !== "s").map(bucketOf(usedKey)));
        if (fields.size === 0 && limit.seed !== undefined)
          buckets.set(bucketAt(limit.window, time), await seedOf(limit));
        const used = leavingBuckets(limit.window, buckets, time);
        const held = [...readHash(holds, reply[2 + 2 * i])].map(holdOf(holds)).filter(({ at }) => at > time);
        const last = used.at(-1)?.at ?? Number.POSITIVE_INFINITY;
        const resetsAt = Number.isFinite(last) ? last : null;
        return { limit, used: sum(used), held: sum(held), max: limit.max, resetsAt };
      }),
    );
  }

  async function answerOrUnavailable<Answer>(work: () => Promise<Answer>): Promise<Answer | Unavailable> {
    try {
      return await work();
    } catch (error) {
      options.onUnavailable?.(error);
      return unavailable;
    }
  }

  return {
    async take(id, charges) {
      return refuseCall(id, charges) ?? (await answerOrUnavailable(() => ask(id, "take", charges, 0)));
    },

    async hold(id, charges, ttlMs) {
      return refuseCall(id, charges, ttlMs) ?? (await answerOrUnavailable(() => ask(id, "hold", charges, ttlMs)));
    },

    async holdInSync(id, charged, ttlMs, truth) {
      const refused = refuseCall(id, [charged], ttlMs) ?? refuseTruth(charged.limit, truth);
      return refused ?? (await answerOrUnavailable(() => holdInSync(id, charged, ttlMs, truth)));
    },

    async settle(id) {
      return refuseId(id) ?? (await answerOrUnavailable(() => settle(id)));
    },

    async release(id) {
      return refuseId(id) ?? (await answerOrUnavailable(() => release(id)));
    },

    async status(limits) {
      const known = async (): Promise<StatusAnswer> => ({ kind: "known", limits: await status(limits) });
      return refuseLimits(limits) ?? (await answerOrUnavailable(known));
    },

    async sync(limit, used, version) {
      const refused = refuseLimits([limit]) ?? refuseTruth(limit, { used, version, held: 0 });
      if (refused) return refused;
      return await answerOrUnavailable(async (): Promise<Synced> => {
        const reply = await run("sync", [limit.key], [String(used), String(version)]);
        return { kind: reply[0] === "synced" ? "synced" : "older" };
      });
    },
  };
}

type Reply = readonly unknown[];

const homeOf = (id: string): string => `limits:id:${id}`;

function refusal(reply: Reply, { charges }: Part): CounterVerdict {
  switch (reply[0]) {
    case "denied": {
      const limit = charges[Number(reply[1]) - 1]?.limit ?? charges[0]?.limit;
      if (limit === undefined) throw new Error("a denial without a limit");
      const retryAt = Number(reply[2]);
      return { kind: "denied", limit, retryAfterMs: retryAt < 0 ? null : Math.max(0, retryAt - Number(reply[3])) };
    }
    case "closed":
      return { kind: "closed", how: reply[1] === "released" ? "released" : "expired" };
    case "id_in_use":
      return invalidCall("id_in_use");
    default:
      throw new Error(`unknown answer: ${String(reply[0])}`);
  }
}

function ended(reply: Reply): { kind: "unknown" } | { kind: "already"; how: "settled" | "released" | "expired" } {
  if (reply[0] !== "already") return { kind: "unknown" };
  const how = reply[1] === "settled" || reply[1] === "released" ? reply[1] : "expired";
  return { kind: "already", how };
}

/** The sister key, in the same slot: `quota:tenant:{id}:used` has `quota:tenant:{id}:holds`. */
function holdsKey(key: string): string {
  return isTagged(key) ? `${key.replace(/:used$/, "")}:holds` : `{${key}}:holds`;
}

/**
 * The hash tag as Redis reads it: the text between the first opening brace and the next closing one, if it is not
 * empty.
 */
function isTagged(key: string): boolean {
  return /^[^{]*\{[^}]+\}/.test(key);
}

function tagOf(charges: readonly Charge[]): string {
  const key = charges[0]?.limit.key ?? "";
  return /^[^{]*\{([^}]+)\}/.exec(key)?.[1] ?? key;
}

function windowArguments(window: Window, now: number): [kind: string, a: string, b: string] {
  if (window.kind === "sliding") return ["sliding", String(window.bucketMs), String(window.buckets)];
  if (window.kind === "total") return ["total", "0", "0"];
  const { startsAt, endsAt } = monthOf(now);
  return ["month", String(startsAt), String(endsAt)];
}

interface StoredRecord {
  readonly kind?: Kind;
  readonly parts?: readonly string[];
  readonly charges?: readonly {
    readonly base: string;
    readonly used: string;
    readonly amount: string;
    readonly window: string;
    readonly a: string;
    readonly b: string;
  }[];
}

function parseRecord(key: string, text: unknown): StoredRecord {
  try {
    const record = JSON.parse(String(text)) as StoredRecord & { f?: unknown };
    if (record.f === format) return record;
  } catch {
    // Falls through: text that is not JSON is not ours.
  }
  throw new Garbage(`${key} contains foreign data or another format`);
}

/** `undefined` for a denial, which charged nothing. */
function storedPart(record: string, stored: StoredRecord): StoredPart | undefined {
  if (stored.charges === undefined) return undefined;
  const charges = stored.charges.map(({ base, used, amount, window, a, b }) => ({
    base,
    used,
    holds: holdsKey(base),
    amount: Number(amount),
    window: toWindow(window, Number(a), Number(b)),
  }));
  return { record, kind: stored.kind === "hold" ? "hold" : "take", charges };
}

function toWindow(kind: string, a: number, b: number): Window {
  if (kind === "sliding") return { kind, bucketMs: a, buckets: b };
  return { kind: kind === "month" ? "month" : "total" };
}

function readHash(key: string, flat: unknown): Map<string, string> {
  const texts = (flat as unknown[]).map(String);
  const fields = new Map<string, string>();
  for (let i = 0; i + 1 < texts.length; i += 2) fields.set(texts[i] ?? "", texts[i + 1] ?? "");
  if (fields.size > 0 && fields.get("f") !== format) throw new Garbage(`${key} is of another format`);
  fields.delete("f");
  return fields;
}

const bucketOf =
  (key: string) =>
  ([name, amount]: readonly [string, string]): [number, number] => {
    if (!/^\d+$/.test(name) || !/^\d+$/.test(amount)) throw new Garbage(`${key} contains foreign data`);
    return [Number(name), Number(amount)];
  };

const holdOf =
  (key: string) =>
  ([, value]: readonly [string, string]): { amount: number; at: number } => {
    const match = /^(\d+):(\d+)$/.exec(value);
    if (match === null) throw new Garbage(`${key} contains foreign data`);
    return { amount: Number(match[1]), at: Number(match[2]) };
  };
