import { beforeEach, describe, expect, setSystemTime, test } from "bun:test";
import { type Breaker, createBreaker, createBreakers } from "./breaker.ts";
import { type ManualClock, manualClock } from "./clock.ts";
import { createMetrics } from "./metrics.ts";

const start = Date.UTC(2026, 10, 16);

let clock: ManualClock;
let changes: boolean[];
let breaker: Breaker;

beforeEach(() => {
  clock = manualClock(start);
  changes = [];
  breaker = createBreaker({
    rule: { failures: 5, windowMs: 10_000, share: 0.1, pauseMostMs: 30_000 },
    clock,
    onChange: (open) => changes.push(open),
  });
});

const answered = () => breaker.run(async () => "answer");
const failed = () => breaker.run(() => Promise.reject(new Error("no answer"))).catch(() => {});

async function times(count: number, call: () => Promise<unknown>): Promise<void> {
  for (let i = 0; i < count; i++) await call();
}

/** Whether a call gets as far as Redis. */
async function reaches(): Promise<boolean> {
  let reached = false;
  await breaker
    .run(async () => {
      reached = true;
      throw new Error("no answer");
    })
    .catch(() => {});
  return reached;
}

describe("a breaker for each node", () => {
  const rule = { failures: 5, windowMs: 10_000, share: 0.1, pauseMostMs: 30_000 };

  test("does not affect the others, and is reported to Prometheus; a node that leaves takes its breaker with it", async () => {
    const metrics = createMetrics();
    let nodes = ["a", "b"];
    const told: string[] = [];
    const breakers = createBreakers({
      of: "test",
      nodes: () => nodes,
      rule,
      metrics,
      clock,
      onChange: (open, node) => told.push(`${node} ${open}`),
    });
    const shown = async () => /^quicklink_breaker_open\{of="test"\} (\d)$/m.exec((await metrics.scrape()).text)?.[1];
    const dead = () => breakers.of("a").run(() => Promise.reject(new Error("no answer")));
    expect(await shown()).toBe("0");
    await times(6, () => dead().catch(() => {}));
    expect(await breakers.of("b").run(async () => "answer")).toBe("answer");
    expect([breakers.of("a").open, breakers.of("b").open]).toEqual([true, false]);
    expect(await shown()).toBe("1");
    nodes = ["b", "c"];
    expect(await shown()).toBe("0");
    expect(breakers.of("a").open).toBe(false);
    expect(told).toEqual(["a true"]);
  });
});

describe("the breaker", () => {
  test("opens with the sixth failure, and says so once", async () => {
    await times(5, failed);
    expect(breaker.open).toBe(false);
    await times(3, failed);
    expect(breaker.open).toBe(true);
    expect(changes).toEqual([true]);
  });

  test("stays closed while failures are less than a tenth of the calls", async () => {
    await times(100, answered);
    await times(10, failed);
    expect(breaker.open).toBe(false);
    await times(2, failed);
    expect(breaker.open).toBe(true);
  });

  test("forgets failures after ten seconds", async () => {
    await times(5, failed);
    clock.advance(10_000);
    await times(5, failed);
    expect(breaker.open).toBe(false);
  });

  test("fails calls at once while open, without asking", async () => {
    await times(6, failed);
    expect(await reaches()).toBe(false);
    await expect(answered()).rejects.toThrow();
  });

  test("lets one call try after a second, and the others fail at once meanwhile", async () => {
    await times(6, failed);
    clock.advance(700);
    expect(await reaches()).toBe(false);
    clock.advance(600);
    const trying = Promise.withResolvers<string>();
    const first = breaker.run(() => trying.promise);
    expect(await reaches()).toBe(false);
    trying.resolve("answer");
    expect(await first).toBe("answer");
    expect(breaker.open).toBe(false);
    expect(changes).toEqual([true, false]);
  });

  test("counts from nothing once it is closed again", async () => {
    await times(6, failed);
    clock.advance(1_300);
    await answered();
    await times(5, failed);
    expect(breaker.open).toBe(false);
  });

  test("is not kept open by a wall clock that is set back", async () => {
    try {
      await times(6, failed);
      setSystemTime(Date.now() - 3_600_000);
      clock.advance(1_300);
      expect(await answered()).toBe("answer");
    } finally {
      setSystemTime();
    }
  });

  test("waits twice as long after a try that failed", async () => {
    await times(6, failed);
    clock.advance(1_300);
    expect(await reaches()).toBe(true);
    clock.advance(1_500);
    expect(await reaches()).toBe(false);
    clock.advance(1_000);
    expect(await reaches()).toBe(true);
    expect(changes).toEqual([true]);
  });
});
