import { describe, expect, test } from "bun:test";
import { manualClock } from "../base/clock.ts";
import { createMemoryCounters } from "../memory/counters.ts";
import { attemptsPerAddress, attemptsPerLink, createAttempts } from "./attempts.ts";
import { unavailable } from "./counters.ts";

const secretFor = (purpose: string) => Buffer.from(purpose);

function open() {
  const clock = manualClock(Date.UTC(2026, 10, 16));
  const counters = createMemoryCounters({ clock });
  return { clock, attempts: createAttempts({ counters, clock, secretFor }) };
}

describe("attempts at a password", () => {
  test("are so many for an address and a link, and more after a quarter of an hour", async () => {
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

  test("are so many for a link, from however many addresses", async () => {
    const { attempts } = open();
    let granted = 0;
    for (let i = 0; i < attemptsPerLink + 50; i++) {
      if ((await attempts.begin("abc", `192.0.${i >> 8}.${i & 255}`)).kind === "granted") granted++;
    }
    expect(granted).toBe(attemptsPerLink);
  });

  test("that were right do not count", async () => {
    const { attempts } = open();
    for (let i = 0; i < 3 * attemptsPerAddress; i++) {
      const attempt = await attempts.begin("abc", "192.0.2.1");
      if (attempt.kind !== "granted") throw new Error(`the attempt ${i} was ${attempt.kind}`);
      await attempt.undo();
    }
  });

  test("from addresses that cannot be told apart count together", async () => {
    const { attempts } = open();
    for (let i = 0; i < attemptsPerAddress; i++) await attempts.begin("abc", undefined);
    expect((await attempts.begin("abc", undefined)).kind).toBe("denied");
  });

  test("are not to be had while nobody can count them", async () => {
    const { clock } = open();
    const away = { ...createMemoryCounters({ clock }), take: async () => unavailable };
    const attempts = createAttempts({ counters: away, clock, secretFor });
    expect(await attempts.begin("abc", "192.0.2.1")).toEqual({ kind: "unavailable", retryAfterSeconds: 1 });
  });
});
