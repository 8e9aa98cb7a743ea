import { describe, expect, test } from "bun:test";
import { manualClock } from "../base/clock.ts";
import { createMemoryCounters } from "../in-memory/counters.ts";
import { unavailable } from "./counters.ts";
import {
  attemptsPerAddress,
  attemptsPerLink,
  createPasswordAttempts,
  type GrantedAttempt,
  type PasswordAttempts,
} from "./password-attempts.ts";

const secretFor = (purpose: string) => Buffer.from(purpose);

function open() {
  const clock = manualClock(Date.UTC(2026, 10, 16));
  const counters = createMemoryCounters({ clock });
  return { clock, attempts: createPasswordAttempts({ counters, clock, secretFor }) };
}

async function granted(attempts: PasswordAttempts, address: string, key = "abc"): Promise<GrantedAttempt> {
  const attempt = await attempts.begin(key, address);
  if (attempt.kind !== "granted") throw new Error(`the attempt was ${attempt.kind}`);
  return attempt;
}

describe("attempts at a password", () => {
  test("are limited per address and link, and possible again after a quarter of an hour", async () => {
    const { clock, attempts } = open();
    const kinds: string[] = [];
    for (let i = 0; i <= attemptsPerAddress; i++) kinds.push((await attempts.begin("abc", "192.0.2.1")).kind);
    expect(kinds).toEqual([...new Array(attemptsPerAddress).fill("granted"), "denied"]);
    expect((await attempts.begin("abd", "192.0.2.1")).kind).toBe("granted");
    expect((await attempts.begin("abc", "192.0.2.2")).kind).toBe("granted");
    const denied = await attempts.begin("abc", "192.0.2.1");
    if (denied.kind !== "denied") throw new Error(`the attempt was ${denied.kind}`);
    expect(denied.retryAfterSeconds).toBeWithin(900, 916);
    clock.advance(denied.retryAfterSeconds * 1_000);
    expect((await attempts.begin("abc", "192.0.2.1")).kind).toBe("granted");
  });

  test("are limited per link, from any number of addresses", async () => {
    const { attempts } = open();
    let granted = 0;
    for (let i = 0; i < attemptsPerLink + 50; i++) {
      if ((await attempts.begin("abc", `192.0.${i >> 8}.${i & 255}`)).kind === "granted") granted++;
    }
    expect(granted).toBe(attemptsPerLink);
  });

  test.each(["undo", "right"] as const)("that were given back do not count: %s", async (end) => {
    const { attempts } = open();
    for (let i = 0; i < 3 * attemptsPerAddress; i++) await (await granted(attempts, "192.0.2.1"))[end]();
  });

  describe("when those of a link are used up", () => {
    async function usedUp() {
      const opened = open();
      await (await granted(opened.attempts, "192.0.2.1")).right();
      await (await granted(opened.attempts, "192.0.2.2")).undo();
      for (let i = 0; i < attemptsPerLink; i++) await opened.attempts.begin("abc", `198.51.100.${i}`);
      return opened;
    }

    test("a network that got in that day keeps its own attempts, and no other does", async () => {
      const { attempts } = await usedUp();
      const kinds: string[] = [];
      for (let i = 0; i <= attemptsPerAddress; i++) kinds.push((await attempts.begin("abc", "192.0.2.1")).kind);
      expect(kinds).toEqual([...new Array(attemptsPerAddress).fill("granted"), "denied"]);
      expect((await attempts.begin("abc", "192.0.2.2")).kind).toBe("denied");
      expect((await attempts.begin("abc", undefined)).kind).toBe("denied");
    });

    test("it may enter again and again, and others learn when they can try again", async () => {
      const { clock, attempts } = await usedUp();
      for (let i = 0; i < 3 * attemptsPerAddress; i++) await (await granted(attempts, "192.0.2.1")).right();
      const denied = await attempts.begin("abc", "192.0.2.2");
      if (denied.kind !== "denied") throw new Error(`the attempt was ${denied.kind}`);
      expect(denied.retryAfterSeconds).toBeWithin(3_600, 3_661);
      clock.advance(denied.retryAfterSeconds * 1_000);
      await granted(attempts, "192.0.2.2");
    });

    test("it is known for that link only, and until the day is over", async () => {
      const { clock, attempts } = await usedUp();
      for (let i = 0; i < attemptsPerLink; i++) await attempts.begin("abd", `198.51.100.${i}`);
      expect((await attempts.begin("abd", "192.0.2.1")).kind).toBe("denied");
      clock.set(Date.UTC(2026, 10, 16, 23, 50));
      for (let i = 0; i < attemptsPerLink; i++) await attempts.begin("abc", `198.51.100.${i}`);
      expect((await attempts.begin("abc", "192.0.2.1")).kind).toBe("granted");
      clock.set(Date.UTC(2026, 10, 17, 0, 5));
      expect((await attempts.begin("abc", "192.0.2.1")).kind).toBe("denied");
    });
  });

  test("at a link on the longest host can be counted", async () => {
    const { attempts } = open();
    await (await granted(attempts, "192.0.2.1", `${"host.".repeat(50)}example/${"x".repeat(64)}`)).right();
  });

  test("from addresses that cannot be told apart count together", async () => {
    const { attempts } = open();
    for (let i = 0; i < attemptsPerAddress; i++) await attempts.begin("abc", undefined);
    expect((await attempts.begin("abc", undefined)).kind).toBe("denied");
  });

  test("are refused while they cannot be counted", async () => {
    const { clock } = open();
    const away = { ...createMemoryCounters({ clock }), take: async () => unavailable };
    const attempts = createPasswordAttempts({ counters: away, clock, secretFor });
    expect(await attempts.begin("abc", "192.0.2.1")).toEqual({ kind: "unavailable", retryAfterSeconds: 1 });
  });
});
