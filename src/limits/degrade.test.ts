import { describe, expect, test } from "bun:test";
import { createBreaker } from "../base/breaker.ts";
import { manualClock } from "../base/clock.ts";
import { degrading } from "./degrade.ts";
import type { Ask, LeaseAnswer, Lender } from "./leases.ts";
import { type RefillProgress, startRefill } from "./refill.ts";

/** Gives each id one lease of ten; can lose asks on their way, or answers on theirs. */
function lender(name: Lender) {
  const asked: string[] = [];
  const granted = new Set<string>();
  const cancelled: string[] = [];
  let lost: "ask" | "answer" | undefined;
  return {
    asked,
    granted,
    cancelled,
    lose(what: typeof lost) {
      lost = what;
    },
    async acquire({ id }: Ask): Promise<LeaseAnswer> {
      asked.push(id);
      if (lost === "ask") throw new Error("no answer");
      granted.add(id);
      if (lost === "answer") throw new Error("no answer");
      return { kind: "granted", lender: name, lease: id, size: 10, month: "2026-11", validForMs: 5_000 };
    },
    cancel({ id }: Ask) {
      cancelled.push(id);
    },
  };
}

const clock = manualClock(0);
const rule = { failures: 5, windowMs: 10_000, share: 0.1, pauseMostMs: 30_000 };
const newBreaker = () => createBreaker({ rule, clock, onChange() {} });
const judgement = { waitMs: 50, breakerOf: newBreaker, clock };

const ask = (id: string, key = "abc"): Ask => ({ id, key, draws: "hits", max: 1_000, want: 10 });

function world() {
  const [first, second] = [lender("redis"), lender("sql")];
  return { first, second, store: degrading(first, second, judgement) };
}

describe("while the first store answers", () => {
  test("the second is not asked", async () => {
    const { store, second } = world();
    expect(await store.acquire(ask("1"))).toMatchObject({ lender: "redis" });
    expect(second.asked).toEqual([]);
  });

  test("its denial is an answer", async () => {
    const { second } = world();
    const denied: LeaseAnswer = { kind: "denied", lender: "redis", outstanding: false, secondsToMonthEnd: 9 };
    const store = degrading({ acquire: async () => denied, cancel() {} }, second, judgement);
    expect(await store.acquire(ask("1"))).toEqual(denied);
    expect(second.asked).toEqual([]);
  });
});

describe("while the first store is slow", () => {
  const never = () => new Promise<never>(() => {});
  const progress = (urgent: boolean): RefillProgress => ({ urgent, on() {}, orSkip: (work) => work });

  /** Far more than the wait: time in which this process has no core does not count towards it, and on a busy machine that is long. */
  const slowMs = 150;

  function slowWorld() {
    const [first, second] = [lender("redis"), lender("sql")];
    const breaker = newBreaker();
    const slow = {
      ...first,
      async acquire(one: Ask) {
        const answer = await first.acquire(one);
        await Bun.sleep(slowMs);
        return answer;
      },
    };
    const store = degrading(slow, second, { waitMs: 5, breakerOf: () => breaker, clock });
    return { first, second, breaker, store };
  }

  test("visitors ask the second, and after some of them none asks the first", async () => {
    const { first, second, breaker, store } = slowWorld();
    for (let i = 0; i < 8; i++) {
      expect(await store.acquire(ask(`${i}`), progress(true))).toMatchObject({ lender: "sql" });
    }
    expect(breaker.open).toBe(true);
    expect(first.asked).toHaveLength(6);
    expect(second.asked).toHaveLength(8);
    expect(first.cancelled).toHaveLength(8);
  });

  test("its late answer is used if it comes before that of the second, which takes back its own", async () => {
    const { first, second, store } = slowWorld();
    second.acquire = never;
    expect(await store.acquire(ask("1"), progress(true))).toMatchObject({ lender: "redis", lease: "1" });
    expect(second.cancelled).toEqual(["1"]);
    expect(first.cancelled).toEqual([]);
  });

  test("it still lends to those who ask ahead: an answer that is slow but in their time counts as too slow for visitors", async () => {
    const { first, second, breaker, store } = slowWorld();
    for (let i = 0; i < 8; i++) {
      expect(await store.acquire(ask(`${i}`), progress(false))).toMatchObject({ lender: "redis" });
    }
    expect(breaker.open).toBe(true);
    expect(first.asked).toHaveLength(8);
    expect(second.asked).toHaveLength(0);
    expect(await store.acquire(ask("9"), progress(true))).toMatchObject({ lender: "sql" });
  });

  test("an ask ahead that visitors start to wait for continues at the second, and is taken back at the first", async () => {
    const [first, second] = [lender("redis"), lender("sql")];
    const store = degrading({ ...first, acquire: never }, second, { waitMs: 1_000, breakerOf: newBreaker, clock });
    const answers: LeaseAnswer[] = [];
    const refill = startRefill(clock, false, async (progress) => {
      progress.on("redis");
      answers.push(await store.acquire(ask("1"), progress));
    });
    const patience = { redis: 5, sql: 100 };
    await refill.wait(patience);
    expect(answers).toMatchObject([{ lender: "sql", lease: "1" }]);
    expect(first.cancelled).toEqual(["1"]);
  });
});

describe("while the first store does not answer", () => {
  test("the second lends, and what the first may have granted is taken back", async () => {
    const { store, first, second } = world();
    first.lose("answer");
    expect(await store.acquire(ask("1"))).toMatchObject({ lender: "sql", lease: "1" });
    expect([...second.granted]).toEqual(["1"]);
    expect(first.cancelled).toEqual(["1"]);
  });

  test("nothing is taken back before the second has answered: the ask may yet be repeated", async () => {
    const { store, first, second } = world();
    first.lose("answer");
    second.lose("ask");
    await expect(store.acquire(ask("1"))).rejects.toThrow("no answer");
    expect(first.cancelled).toEqual([]);
    first.lose(undefined);
    expect(await store.acquire(ask("1"))).toMatchObject({ lender: "redis", lease: "1" });
    expect(first.cancelled).toEqual([]);
  });

  test("an ask that the second may have granted is repeated there under its id, not replaced by the next", async () => {
    const { store, first, second } = world();
    first.lose("ask");
    second.lose("answer");
    await expect(store.acquire(ask("1"))).rejects.toThrow("no answer");
    second.lose(undefined);
    expect(await store.acquire(ask("2"))).toMatchObject({ lender: "sql", lease: "1" });
    expect([...second.granted]).toEqual(["1"]);
    expect(first.cancelled).toEqual(["2"]);
    expect(second.cancelled).toEqual([]);
  });

  test("an ask that the second may have granted is taken back there once the first answers", async () => {
    const { store, first, second } = world();
    first.lose("ask");
    second.lose("answer");
    await expect(store.acquire(ask("1"))).rejects.toThrow("no answer");
    first.lose(undefined);
    await store.acquire(ask("1"));
    expect(second.cancelled).toEqual(["1"]);
    expect(first.cancelled).toEqual([]);
  });

  test("the limits of links, and a link's two, are distinguished", async () => {
    const { store, first, second } = world();
    first.lose("ask");
    second.lose("answer");
    await expect(store.acquire(ask("1"))).rejects.toThrow();
    second.lose(undefined);
    expect(await store.acquire(ask("2", "other"))).toMatchObject({ lease: "2" });
    expect(await store.acquire({ ...ask("3"), draws: "exempt" })).toMatchObject({ lease: "3" });
    expect(await store.acquire(ask("4"))).toMatchObject({ lease: "1" });
  });
});
