/** What only a store that may forget has to show: where its figures come from, and what happens when they are gone. */
import { describe, expect, test } from "bun:test";
import { createBreaker } from "../../src/base/breaker.ts";
import { dayMs, manualClock, systemClock } from "../../src/base/clock.ts";
import { degrading } from "../../src/limits/degrade.ts";
import { largestLease } from "../../src/limits/lease-size.ts";
import type { Ask, LeaseAnswer, MonthOf } from "../../src/limits/leases.ts";
import { monthEnd } from "../../src/limits/window.ts";
import type { Redis } from "../../src/redis/client.ts";
import { createRedisLeases } from "../../src/redis/leases.ts";
import { fresh, monthKey, onEachRedis, spentOf, sqlLeases, thisMonth } from "./lenders.ts";

onEachRedis((place) => {
  const monthOf = (code: string): MonthOf => ({ key: code, draws: "hits", month: thisMonth() });
  const askFor = (code: string, max = 1_000, want = 10): Ask => {
    const id = `${fresh("instance")}.1`;
    return { id, key: code, draws: "hits", max, want };
  };
  const command = (code: string, name: string, ...words: string[]) =>
    place().redis.send(monthKey(code), [name, monthKey(code), ...words]);
  const lent = async (code: string) => (await place().standing(code)).lent;

  /** Redis' side alone, with what SQL would say of a month. */
  function leases(readTotal: (month: MonthOf) => Promise<number> = sqlLeases(place().sql).total, clock = systemClock) {
    return createRedisLeases({ redis: place().redis, readTotal, clock });
  }

  /** The same over a line that can lose what is asked, or the answer. What is only looked up arrives. */
  function leasesOverABadLine() {
    const { redis } = place();
    const line: { loses?: "ask" | "answer" | undefined } = {};
    const script: Redis["script"] = async (...call) => {
      const [, , words] = call;
      if (words.length === 0) return await redis.script(...call);
      if (line.loses === "ask") throw new Error("lost");
      const reply = await redis.script(...call);
      if (line.loses === "answer") throw new Error("lost");
      return reply;
    };
    const readTotal = sqlLeases(place().sql).total;
    return { line, store: createRedisLeases({ redis: { ...redis, script }, readTotal }) };
  }

  const sized = (answer: LeaseAnswer): number => {
    if (answer.kind !== "granted") throw new Error("it was denied");
    return answer.size;
  };

  describe("a key that is not there", () => {
    test("is made with SQL's total as it is after the miss, not as it was last seen", async () => {
      const code = fresh("missing");
      let total = 30;
      const store = leases(async () => {
        total += 5;
        return total;
      });
      store.seen([{ ...monthOf(code), total: 1 }]);
      const size = sized(await store.acquire(askFor(code)));
      expect(await lent(code)).toBe(35 + size);
    });

    test("is found missing together with others: one script for all, and one for each", async () => {
      const { redis } = place();
      const scripts: number[] = [];
      const script: Redis["script"] = (...call) => {
        scripts.push(call[1].length);
        return redis.script(...call);
      };
      const readTotal = sqlLeases(place().sql).total;
      // A Cluster has one for each slot: a single server is asked for all at once.
      const store = createRedisLeases({ redis: { ...redis, script }, readTotal });
      const codes = Array.from({ length: 20 }, () => fresh("crowd"));
      await Promise.all(codes.map((code) => store.acquire(askFor(code))));
      const slots = new Set(codes.map((code) => redis.slotOf(`{${code}}`)));
      expect(scripts).toHaveLength(slots.size + codes.length);
      expect(scripts.slice(0, slots.size).reduce((sum, keys) => sum + keys, 0)).toBe(codes.length);
      for (const code of codes) expect(await lent(code)).toBe(10);
    });

    test("is not made when SQL cannot be asked", async () => {
      const code = fresh("blind");
      const store = leases(() => Promise.reject(new Error("SQL is away")));
      await expect(store.acquire(askFor(code))).rejects.toThrow("SQL is away");
      expect(await command(code, "EXISTS")).toBe(0);
    });

    test("is not made by a lease that ends", async () => {
      const code = fresh("ended");
      const store = leases();
      store.end([{ ...monthOf(code), lease: "gone.1", unspent: 5 }]);
      await store.flush();
      expect(await command(code, "EXISTS")).toBe(0);
    });
  });

  test("hits that a move brings to a month that Redis knows are known to every server", async () => {
    const code = fresh("moved");
    const [asked, other] = [askFor(code), askFor(code)];
    let total = 0;
    await leases(async () => total).acquire(asked);
    total = other.max;
    const { key, draws } = asked;
    await leases(async () => total).raise({ key, draws });
    // It has never seen a total of this month.
    expect((await leases(() => Promise.reject(new Error("SQL is away"))).acquire(other)).kind).toBe("denied");
  });

  test("a total that was seen in SQL raises what is used, and one that is lower changes nothing", async () => {
    const code = fresh("raised");
    const store = leases();
    const first = sized(await store.acquire(askFor(code)));
    store.seen([{ ...monthOf(code), total: 500 }]);
    const second = sized(await store.acquire(askFor(code)));
    expect(await lent(code)).toBe(500 + second);
    store.seen([{ ...monthOf(code), total: first }]);
    const third = sized(await store.acquire(askFor(code)));
    expect(await lent(code)).toBe(500 + second + third);
  });

  test("a lease that is ended twice returns its units once, and one that was never granted returns nothing", async () => {
    const code = fresh("twice");
    const store = leases();
    const others = sized(await store.acquire(askFor(code)));
    const ask = askFor(code);
    await store.acquire(ask);
    for (let i = 0; i < 2; i++) {
      store.end([{ ...monthOf(code), lease: ask.id, unspent: 10 }]);
      store.end([{ ...monthOf(code), lease: fresh("unknown"), unspent: 10 }]);
      await store.flush();
    }
    expect(await lent(code)).toBe(others);
    store.end([{ ...monthOf(code), lease: fresh("unknown"), unspent: "all" }]);
    await store.flush();
    expect(await lent(code)).toBe(others);
  });

  test("a lease gives back no more than it was, and nothing goes below what SQL has counted", async () => {
    const code = fresh("excess");
    const store = leases();
    const [one, other] = [askFor(code), askFor(code)];
    const size = sized(await store.acquire(one));
    await store.acquire(other);
    store.end([{ ...monthOf(code), lease: one.id, unspent: 1_000_000 }]);
    await store.flush();
    expect(await lent(code)).toBe(size);
    store.seen([{ ...monthOf(code), total: size }]);
    store.end([{ ...monthOf(code), lease: other.id, unspent: "all" }]);
    await store.flush();
    expect(await lent(code)).toBe(size);
  });

  test("FLUSHALL in between: over by no more than what was lent and not yet written down", async () => {
    const code = fresh("flushed");
    const max = 1_000;
    const servers = [place().instance(), place().instance()];
    let granted = 0;
    for (const server of servers) granted += await server.visits(code, max, 205);
    await place().forget();
    for (const server of servers) granted += await server.visits(code, max, 500);
    for (const server of servers) await server.stop();
    const last = place().instance();
    granted += await last.visits(code, max, 50);
    await last.stop();
    expect(granted).toBeGreaterThanOrEqual(max);
    expect(granted).toBeLessThanOrEqual(max + 2 * largestLease(max) * servers.length);
    expect((await place().standing(code)).counted).toBe(granted);
  });

  test("the key expires a day after its month, which is set with every write", async () => {
    const code = fresh("expiring");
    const store = leases();
    const expires = async () => Number(await command(code, "PEXPIRETIME"));
    const end = monthEnd(systemClock.now()) + dayMs;
    const ask = askFor(code);
    await store.acquire(ask);
    expect(await expires()).toBe(end);
    await command(code, "PERSIST");
    await store.acquire(askFor(code));
    expect(await expires()).toBe(end);
    await command(code, "PERSIST");
    store.end([{ ...monthOf(code), lease: ask.id, unspent: 1 }]);
    await store.flush();
    expect(await expires()).toBe(end);
  });

  describe("what is not ours, or of another version", () => {
    const spoilt: [string, readonly [string, ...string[]]][] = [
      ["a hash that another version of the code has written", ["HSET", "f", "2", "used", "7", "x:1", "what it likes"]],
      ["a hash without a format", ["HSET", "u", "7"]],
      ["a count that is no number", ["HSET", "f", "1", "u", "many"]],
      ["a count below zero", ["HSET", "f", "1", "u", "-1"]],
      ["a lease that cannot be read", ["HSET", "f", "1", "u", "1", "l:a.1", "large"]],
      ["a text", ["SET", "7"]],
    ];

    test.each(spoilt)("%s is left as it is: an error, and SQL lends instead", async (_, write) => {
      const code = fresh("garbage");
      await command(code, ...write);
      const before = await command(code, "DUMP");
      const store = leases();
      await expect(store.acquire(askFor(code))).rejects.toThrow();
      const sql = sqlLeases(place().sql);
      const rule = { failures: 5, windowMs: 10_000, share: 0.1, pauseMostMs: 30_000 };
      const breaker = createBreaker({ rule, clock: systemClock, onChange() {} });
      const judgement = { waitMs: 5_000, breakerOf: () => breaker, clock: systemClock };
      expect(await degrading(store, sql, judgement).acquire(askFor(code))).toMatchObject({
        kind: "granted",
        lender: "sql",
      });
      // Also the report of ended leases, as it was cancelled above.
      await store.flush().catch(() => {});
      expect(await command(code, "DUMP")).toEqual(before);
    });
  });

  describe("an ask that another has answered meanwhile", () => {
    test("is taken back when it had been granted, and is not given again", async () => {
      const code = fresh("after");
      const { store, line } = leasesOverABadLine();
      const ask = askFor(code);
      const others = sized(await store.acquire(askFor(code)));
      line.loses = "answer";
      await expect(store.acquire(ask)).rejects.toThrow("lost");
      line.loses = undefined;
      store.cancel(ask);
      await store.flush();
      expect(await lent(code)).toBe(others);
      await expect(leases().acquire(ask)).rejects.toThrow("closed"); // a copy that was long under way
      expect(await lent(code)).toBe(others);
    });

    test("is not granted when it arrives after that was told, though nothing was lent there before", async () => {
      const code = fresh("first");
      const { store, line } = leasesOverABadLine();
      const ask = askFor(code);
      line.loses = "ask";
      await expect(store.acquire(ask)).rejects.toThrow("lost");
      line.loses = undefined;
      store.cancel(ask);
      await store.flush();
      await expect(leases().acquire(ask)).rejects.toThrow("closed"); // a copy that was long under way
      expect(await lent(code)).toBe(0);
    });

    test("is not granted when it arrives after that was told", async () => {
      const code = fresh("before");
      const { store, line } = leasesOverABadLine();
      const ask = askFor(code);
      const others = sized(await store.acquire(askFor(code)));
      line.loses = "ask";
      await expect(store.acquire(ask)).rejects.toThrow("lost");
      line.loses = undefined;
      store.cancel(ask);
      await store.flush();
      await expect(leases().acquire(ask)).rejects.toThrow("closed"); // a copy that was long under way
      expect(await lent(code)).toBe(others);
    });
  });

  test.each([
    ["ahead", 32],
    ["behind", -32],
  ])("a clock that is a month %s is corrected by the server's", async (_, days) => {
    const code = fresh("clock");
    const clock = manualClock(systemClock.now() + days * dayMs);
    const store = leases(undefined, clock);
    const ask = askFor(code);
    const answer = await store.acquire(ask);
    expect(answer).toMatchObject({ kind: "granted", month: thisMonth() });
    store.end([{ ...monthOf(code), lease: ask.id, unspent: sized(answer) }]);
    await store.flush();
    expect(await lent(code)).toBe(0);
  });

  test("the rest of a past month is not reported, and is forgotten", async () => {
    const code = fresh("over");
    const store = leases();
    const size = sized(await store.acquire(askFor(code)));
    store.end([{ ...monthOf(code), month: "2001-01", lease: "old.1", unspent: 5 }]);
    await store.flush();
    expect(await lent(code)).toBe(size);
    expect(await place().redis.send(code, ["EXISTS", `links:{${code}}:hits:2001-01`])).toBe(0);
  });

  test("a lease that came from SQL while Redis was unavailable is recorded there, and Redis learns its total", async () => {
    const code = fresh("both");
    const [sql, store] = [sqlLeases(place().sql), leases()];
    sized(await store.acquire(askFor(code)));
    const lease = await sql.acquire(askFor(code, 100_000, 300));
    store.seen(await sql.record(fresh("instance"), 1, [spentOf(lease, code, 300)]));
    const size = sized(await store.acquire(askFor(code)));
    expect(await lent(code)).toBe(300 + size);
  });
});
