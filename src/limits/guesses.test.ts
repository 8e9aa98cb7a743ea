import { beforeEach, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { dayMs, type ManualClock, manualClock } from "../base/clock.ts";
import { createMemoryCounters } from "../in-memory/counters.ts";
import { type Counters, unavailable } from "./counters.ts";
import { createGuesses, type Guesses } from "./guesses.ts";

const start = Date.UTC(2026, 10, 16, 12);

describe("guesses", () => {
  let clock: ManualClock;
  let keys: string[];
  let counters: Counters;

  beforeEach(() => {
    clock = manualClock(start);
    keys = [];
    const store = createMemoryCounters({ clock });
    counters = {
      ...store,
      take: (id, charges) => {
        keys.push(...charges.map(({ limit }) => limit.key), id);
        return store.take(id, charges);
      },
    };
  });

  const guess = (perMinute: number | null = 3): Guesses =>
    createGuesses({
      counters,
      perMinute,
      clock,
      secretFor: (purpose) => createHmac("sha256", "a salt for tests").update(purpose).digest(),
    });

  async function misses(guesses: Guesses, address: string | undefined, times: number): Promise<number> {
    let refused = 0;
    for (let i = 0; i < times; i++) if ((await guesses.missed(address)) !== undefined) refused++;
    return refused;
  }

  test("are free up to the limit; then the address must wait, and may again afterwards", async () => {
    const guesses = guess();
    expect(await misses(guesses, "203.0.113.7", 3)).toBe(0);
    expect(guesses.blockedFor("203.0.113.7")).toBeUndefined();
    expect(await guesses.missed("203.0.113.7")).toBe(61);
    expect(guesses.blockedFor("203.0.113.7")).toBe(61);
    expect(guesses.blockedFor("203.0.113.8")).toBeUndefined();
    clock.advance(61_000);
    expect(guesses.blockedFor("203.0.113.7")).toBeUndefined();
    expect(await misses(guesses, "203.0.113.7", 4)).toBe(1);
  });

  test("of an address that must wait cost no call", async () => {
    const guesses = guess();
    await misses(guesses, "203.0.113.7", 4);
    const asked = keys.length;
    expect(await misses(guesses, "203.0.113.7", 100)).toBe(100);
    expect(keys.length).toBe(asked);
  });

  test("are shared by the addresses of one network, and by all servers", async () => {
    const [one, two] = [guess(), guess()];
    await misses(one, "2001:db8::1", 2);
    await misses(two, "2001:db8::ffff:1", 1);
    expect(await misses(one, "2001:db8::2", 1)).toBe(1);
    expect(await misses(one, "2001:db8:0:1::2", 1)).toBe(0);
  });

  test("from an unknown address are not limited, nor any without a limit", async () => {
    expect(await misses(guess(), undefined, 10)).toBe(0);
    expect(await misses(guess(), "unix", 10)).toBe(0);
    expect(await misses(guess(null), "203.0.113.7", 10)).toBe(0);
    expect(keys).toEqual([]);
  });

  test("are answered like any other miss while the counters are unavailable", async () => {
    const guesses = createGuesses({
      counters: { ...counters, take: async () => unavailable },
      perMinute: 3,
      clock,
      secretFor: () => new Uint8Array(32),
    });
    expect(await misses(guesses, "203.0.113.7", 10)).toBe(0);
  });

  test("are counted under a name that is not the address, and is another tomorrow", async () => {
    const guesses = guess();
    await misses(guesses, "203.0.113.7", 1);
    clock.advance(dayMs);
    await misses(guesses, "203.0.113.7", 1);
    expect(keys.join()).not.toContain("203");
    const [today, , tomorrow] = keys;
    expect(today).toMatch(/^guesses:\{[\w-]{22}\}$/);
    expect(tomorrow).not.toBe(today as string);
  });

  test("remember a bounded number of addresses", async () => {
    const guesses = guess(1);
    for (let i = 0; i < 10_050; i++) await misses(guesses, `10.1.${i >> 8}.${i & 255}`, 2);
    expect(guesses.blocked).toBe(10_000);
  });

  test("that are counted too slowly delay no visitor, and still block the next guess", async () => {
    const gate = Promise.withResolvers<void>();
    const slow: Counters = { ...counters, take: (id, charges) => gate.promise.then(() => counters.take(id, charges)) };
    const guesses = createGuesses({
      ...{ counters: slow, perMinute: 3, clock },
      secretFor: (purpose) => createHmac("sha256", "a salt for tests").update(purpose).digest(),
      inTime: () => Promise.reject(new Error("too slow")),
    });
    expect(await misses(guesses, "203.0.113.9", 5)).toBe(0);
    gate.resolve();
    await new Promise((resolve) => setTimeout(resolve));
    expect(guesses.blockedFor("203.0.113.9")).toBeGreaterThan(0);
  });
});
