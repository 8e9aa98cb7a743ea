import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createFairQueue, type FairQueueSettings } from "./fair-queue.ts";

interface Item {
  readonly holder: string;
}

/** A queue and an account of it that is kept apart. */
function observed(settings: Pick<FairQueueSettings<Item>, "atOnce" | "waitingMost">) {
  const running: Item[] = [];
  const waiting: Item[] = [];
  const started: Item[] = [];
  const refused: Item[] = [];
  const of = (items: readonly Item[], holder: string) => items.filter((item) => item.holder === holder).length;
  const take = (items: Item[], item: Item) => items.splice(items.indexOf(item), 1);
  const queue = createFairQueue<Item>({
    ...settings,
    start(item) {
      const free = settings.atOnce - running.length;
      // The total, and the share: the holder that takes a place leaves at least as many as it had.
      expect(free).toBeGreaterThan(0);
      expect(of(running, item.holder)).toBeLessThan(free);
      take(waiting, item);
      running.push(item);
      started.push(item);
    },
    refuse(item) {
      const lengths = new Set(waiting.map(({ holder }) => of(waiting, holder)));
      expect(waiting.length).toBe(settings.waitingMost + 1);
      expect(of(waiting, item.holder)).toBe(Math.max(...lengths));
      take(waiting, item);
      refused.push(item);
    },
  });
  return {
    queue,
    running,
    waiting,
    started,
    refused,
    of,
    add(holder: string) {
      const item = { holder };
      waiting.push(item);
      queue.add(holder, item);
    },
    end(at: number) {
      const [item] = running.splice(at % running.length, 1);
      if (item !== undefined) queue.end(item.holder);
    },
    withdraw(at: number) {
      const [item] = waiting.splice(at % waiting.length, 1);
      if (item !== undefined) expect(queue.withdraw(item.holder, item)).toBe(true);
    },
  };
}

const holder = fc.constantFrom("a", "b", "c", "d");
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("add" as const), holder }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("end" as const), at: fc.nat(50) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("withdraw" as const), at: fc.nat(50) }) },
);
const sizes = fc.record({ atOnce: fc.integer({ min: 1, max: 9 }), waitingMost: fc.integer({ min: 0, max: 12 }) });
const story = fc.array(step, { maxLength: 200 });

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

function play(seen: ReturnType<typeof observed>, next: Step): void {
  if (next.kind === "add") seen.add(next.holder);
  else if (next.kind === "end" && seen.running.length > 0) seen.end(next.at);
  else if (next.kind === "withdraw" && seen.waiting.length > 0) seen.withdraw(next.at);
}

describe("whatever comes, ends and leaves", () => {
  test("total, shares and queue hold, and the queue's own figures are right", () => {
    fc.assert(
      fc.property(sizes, story, (size, steps) => {
        const seen = observed(size);
        for (const next of steps) {
          play(seen, next);
          expect(seen.queue.running).toBe(seen.running.length);
          expect(seen.queue.waiting).toBe(seen.waiting.length);
          expect(seen.waiting.length).toBeLessThanOrEqual(size.waitingMost);
          expect(seen.queue.holders).toBe(new Set([...seen.running, ...seen.waiting].map((one) => one.holder)).size);
        }
      }),
    );
  });

  test("no place stays free while a holder waits that may have it", () => {
    fc.assert(
      fc.property(sizes, story, (size, steps) => {
        const seen = observed(size);
        for (const next of steps) {
          play(seen, next);
          const free = size.atOnce - seen.running.length;
          for (const one of seen.waiting) expect(seen.of(seen.running, one.holder)).toBeGreaterThanOrEqual(free);
        }
      }),
    );
  });

  test("a holder that runs nothing is served before any other is served twice", () => {
    fc.assert(
      fc.property(sizes, story, (size, steps) => {
        const seen = observed(size);
        const since = new Map<string, number>();
        for (const next of steps) {
          play(seen, next);
          const hungry = new Set(
            seen.waiting.map((one) => one.holder).filter((name) => seen.of(seen.running, name) === 0),
          );
          for (const name of since.keys()) if (!hungry.has(name)) since.delete(name);
          for (const name of hungry) {
            const from = since.get(name) ?? seen.started.length;
            since.set(name, from);
            const others = seen.started.slice(from).map((one) => one.holder);
            expect(new Set(others).size).toBe(others.length);
          }
        }
      }),
    );
  });

  test("when all has ended or left, nothing is remembered", () => {
    fc.assert(
      fc.property(sizes, story, (size, steps) => {
        const seen = observed(size);
        for (const next of steps) play(seen, next);
        while (seen.waiting.length > 0) seen.withdraw(0);
        while (seen.running.length > 0) seen.end(0);
        expect([seen.queue.running, seen.queue.waiting, seen.queue.holders]).toEqual([0, 0, 0]);
      }),
    );
  });
});

describe("shares", () => {
  function flood(atOnce: number, holders: readonly string[], each: number) {
    const seen = observed({ atOnce, waitingMost: 10_000 });
    for (let n = 0; n < each; n++) for (const name of holders) seen.add(name);
    return seen;
  }

  test("one that is alone gets half, and several get equal parts with one part left for a newcomer", () => {
    expect(flood(64, ["a"], 100).running.length).toBe(32);
    const three = flood(64, ["a", "b", "c"], 100);
    expect(["a", "b", "c"].map((name) => three.of(three.running, name))).toEqual([16, 16, 16]);
    expect(flood(2, ["a"], 10).running.length).toBe(1);
    expect(flood(1, ["a"], 10).running.length).toBe(1);
  });

  test("one that had half while it was alone is brought down to its part by others as its items end", () => {
    const seen = flood(60, ["a"], 1_000);
    for (let n = 0; n < 200; n++) for (const name of ["b", "c"]) seen.add(name);
    for (let n = 0; n < 2_000 && seen.waiting.length > 0; n++) {
      seen.end(n * 7);
      if (n > 200 && n < 400)
        for (const name of ["a", "b", "c"]) expect(seen.of(seen.running, name)).toBeCloseTo(15, -1);
    }
  });

  test("a flood pushes out itself: a newcomer always gets a place in a full queue", () => {
    const seen = observed({ atOnce: 1, waitingMost: 10 });
    for (let n = 0; n < 100; n++) seen.add("flood");
    expect(seen.refused.length).toBe(89);
    seen.add("newcomer");
    expect(seen.of(seen.waiting, "newcomer")).toBe(1);
    seen.end(0);
    seen.end(0);
    expect(seen.started.at(-1)?.holder).toBe("newcomer");
  });
});
