/**
 * The lease script on a real Redis and on the one in this process: the same calls give the same replies and leave the
 * same hash behind. Times are left out of the comparison, for two clocks do not read the same.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { dayMs } from "../../src/base/clock.ts";
import { monthOf } from "../../src/limits/window.ts";
import { connectRedis, defineScript, type Redis } from "../../src/redis/client.ts";
import leaseText from "../../src/redis/lease.lua" with { type: "text" };
import { connected, patientMs } from "../conformance/counter-stores.ts";
import { createLuaRedis, type LuaRedis, type Word } from "../ground/lua-redis.ts";
import { type RedisServer, startRedis } from "../ground/redis.ts";

const script = defineScript(leaseText);
const longMs = 1_000_000;

let server: RedisServer;
let redis: Redis;
let twin: LuaRedis;
let now = 0;

beforeAll(async () => {
  server = await startRedis();
  redis = connectRedis(server.url, { deadlineMs: patientMs });
  await connected(redis);
  twin = await createLuaRedis(() => now);
});
afterAll(async () => {
  await redis.close();
  await server.stop();
});

async function realTime(): Promise<number> {
  const [seconds, micros] = (await redis.send("any", ["TIME"])) as [string, string];
  return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
}

const ids = fc.constantFrom("a.1", "a.2", "a.3", "b.1", "b.2", "c.1");
/** Never, or always: nothing in between, where the two clocks could differ. */
const lives = fc.constantFrom(0, longMs);
const known = fc.constantFrom(-longMs, longMs);
const call = fc.record({
  kind: fc.constant("call" as const),
  month: fc.oneof(
    { weight: 9, arbitrary: fc.constant("now" as const) },
    { weight: 1, arbitrary: fc.constant("past" as const) },
  ),
  lives,
  known,
  total: fc.option(fc.nat({ max: 60 }), { nil: undefined }),
  fresh: fc.boolean(),
  id: fc.option(ids, { nil: "" }),
  max: fc.integer({ min: 0, max: 80 }),
  want: fc.integer({ min: 1, max: 40 }),
  most: fc.integer({ min: 1, max: 20 }),
  ended: fc.array(fc.tuple(ids, fc.oneof(fc.nat({ max: 25 }).map(String), fc.constant("all"))), { maxLength: 3 }),
});
const spoil = fc.record({
  kind: fc.constant("spoil" as const),
  field: fc.constantFrom("f", "u", "x", "l:a.1"),
  value: fc.constantFrom("2", "-1", "nonsense", "7:12345"),
});
const moves = fc.array(fc.oneof({ weight: 30, arbitrary: call }, { weight: 1, arbitrary: spoil }), {
  minLength: 5,
  maxLength: 40,
});

const withoutTimes = (reply: readonly unknown[]): unknown[] =>
  reply[0] === "granted" || reply[0] === "denied" ? reply.slice(0, 2) : reply[0] === "window" ? ["window"] : [...reply];

const fieldsWithoutTimes = (fields: Iterable<readonly [string, string]>): [string, string][] =>
  [...fields]
    .map(([name, value]): [string, string] => [name, name.startsWith("l:") ? value.replace(/:.*/, "") : value])
    .sort();

async function hashOf(key: string): Promise<[string, string][]> {
  const reply = (await redis.send(key, ["HGETALL", key])) as string[] | Record<string, string>;
  if (!Array.isArray(reply)) return fieldsWithoutTimes(Object.entries(reply));
  const pairs = Array.from(
    { length: reply.length / 2 },
    (_, i) => [reply[2 * i] ?? "", reply[2 * i + 1] ?? ""] as const,
  );
  return fieldsWithoutTimes(pairs);
}

test("the Redis of this process answers as a real one does, call by call", async () => {
  let round = 0;
  await fc.assert(
    fc.asyncProperty(moves, async (list) => {
      const key = `links:{lua${++round}}:hits`;
      for (const move of list) {
        now = await realTime();
        if (move.kind === "spoil") {
          await redis.send(key, ["HSET", key, move.field, move.value]);
          twin.command(["HSET", key, move.field, move.value]);
          continue;
        }
        const { startsAt, endsAt } = monthOf(move.month === "now" ? now : now - 40 * dayMs);
        const args = [
          ...[startsAt, endsAt, move.lives, move.known, move.total ?? "", move.fresh ? "fresh" : "", move.id],
          ...[move.max, move.want, 10, move.most, ...move.ended.flat()],
        ].map(String);
        const real = (await redis.script(script, [key], args)) as unknown[];
        expect(withoutTimes(twin.script(leaseText, [key], args) as Word[])).toEqual(withoutTimes(real));
        const { value, expiresAt } = twin.stored(key) ?? { value: new Map<string, string>(), expiresAt: -1 };
        expect(typeof value === "string" ? value : fieldsWithoutTimes(value)).toEqual(await hashOf(key));
        const until = Number(await redis.send(key, ["PEXPIRETIME", key]));
        expect(Number.isFinite(expiresAt) ? expiresAt : -1).toBe(Math.max(-1, until));
      }
    }),
    { numRuns: 60, endOnFailure: true },
  );
}, 120_000);

test("a month's key expires a day after it: a clock that is set back over the month's end finds it as it was", async () => {
  const { startsAt, endsAt } = monthOf(await realTime());
  const key = "links:{expires}:hits";
  const args = [startsAt, endsAt, 5_000, 10_000, 0, "fresh", "a.1", 100, 1, 10, 1].map(String);
  await redis.script(script, [key], args);
  expect(Number(await redis.send(key, ["PEXPIRETIME", key]))).toBe(endsAt + dayMs);
});

test("a lease ends with its month, and what remains is shared with the servers that hold one", async () => {
  const { startsAt, endsAt } = monthOf(Date.UTC(2026, 10, 16));
  const ask = (id: string, most: number) =>
    twin.script(
      leaseText,
      ["links:{last}:hits"],
      [startsAt, endsAt, 5_000, 10_000, 0, "fresh", id, 100, 100, 10, most].map(String),
    );
  now = endsAt - 2_000;
  expect(ask("a.1", 20)).toEqual(["granted", "20", "2000"]);
  now = endsAt - 1_500;
  expect(ask("b.1", 100)).toEqual(["granted", "20", "1500"]); // half of 80, for two of them
});

test("a clock that is set back prolongs no lease", () => {
  const { startsAt, endsAt } = monthOf(Date.UTC(2026, 10, 16));
  const ask = () =>
    twin.script(
      leaseText,
      ["links:{back}:hits"],
      [startsAt, endsAt, 5_000, 10_000, 0, "fresh", "a.1", 100, 10, 10, 10].map(String),
    );
  now = Date.UTC(2026, 10, 16);
  expect(ask()).toEqual(["granted", "10", "5000"]);
  now += 2_000;
  expect(ask()).toEqual(["granted", "10", "3000"]);
  now -= 1_800_000;
  expect(ask()).toEqual(["granted", "10", "5000"]);
});
