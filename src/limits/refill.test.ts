/** A visitor's wait for a lease: as long as their patience with the store that is waited for, and not longer. */
import { describe, expect, test } from "bun:test";
import { type Breaker, createBreaker } from "../base/breaker.ts";
import { manualClock, systemClock } from "../base/clock.ts";
import { Late } from "../base/deadline.ts";
import { degrading } from "./degrade.ts";
import type { Ask, LeaseAnswer, LeaseStore, Lender } from "./leases.ts";
import { startRefill } from "./refill.ts";

const turn = () => new Promise((resolve) => setTimeout(resolve));
const ask: Ask = { id: "1", key: "abc", draws: "hits", max: 1_000, want: 10 };
const lease = (lender: Lender): LeaseAnswer => ({
  ...{ kind: "granted", lender, lease: "1", size: 10, month: "2026-11", validForMs: 5_000 },
});
const rule = { failures: 1, windowMs: 10_000, share: 0.1, pauseMostMs: 30_000 };
const newBreaker = (): Breaker => createBreaker({ rule, clock: systemClock, onChange() {} });

/** A lease from two stores, for visitors with this much patience; `first` says what the first store does. */
function refill(
  first: LeaseStore["acquire"],
  second: Promise<LeaseAnswer>,
  { urgent = true, breaker = newBreaker() } = {},
) {
  const store = degrading(
    { acquire: first, cancel() {} },
    { acquire: () => second, cancel() {} },
    { waitMs: 1_000, breakerOf: () => breaker, clock: systemClock },
  );
  const answers: LeaseAnswer[] = [];
  const started = startRefill(systemClock, urgent, async (progress) => {
    answers.push(await store.acquire(ask, progress));
  });
  return { started, answers };
}

describe("a visitor who waits for a lease", () => {
  test("and has no more time for the first store is served by the second, whatever the first says later", async () => {
    const [redis, sql] = [Promise.withResolvers<void>(), Promise.withResolvers<LeaseAnswer>()];
    const { started, answers } = refill(async (_, progress) => {
      progress?.on("redis");
      await redis.promise;
      progress?.on("sql"); // the key is missing: its total is read, and Redis asked again
      await turn();
      progress?.on("redis");
      return new Promise(() => {});
    }, sql.promise);
    const waiting = started.wait({ redis: 0, sql: 10_000 });
    await turn();
    redis.resolve();
    for (let i = 0; i < 5; i++) await turn();
    sql.resolve(lease("sql"));
    await waiting;
    expect(answers).toEqual([lease("sql")]);
  });

  test("is late when there is no time left for SQL, although the first store is only reading there", async () => {
    const { started } = refill(
      (_, progress) => {
        progress?.on("redis");
        progress?.on("sql");
        return new Promise(() => {});
      },
      new Promise(() => {}),
    );
    await expect(started.wait({ redis: 10_000, sql: 0 })).rejects.toBeInstanceOf(Late);
  });
});

test("a visitor's patience is what is left of it after the wait", async () => {
  const clock = manualClock(0);
  const answer = Promise.withResolvers<void>();
  const started = startRefill(clock, true, () => answer.promise);
  const patience = { redis: 50, sql: 10_000 };
  const waiting = started.wait(patience);
  clock.advance(300);
  answer.resolve();
  await waiting;
  expect(patience).toEqual({ redis: 50, sql: 9_700 });
});

describe("the judgement of the first store", () => {
  test("does not count the time that it waits for SQL itself", async () => {
    const breaker = newBreaker();
    for (let i = 0; i < 3; i++) {
      const { started, answers } = refill(
        async (_, progress) => {
          progress?.on("redis");
          progress?.on("sql");
          await turn();
          return lease("redis");
        },
        Promise.resolve(lease("sql")),
        { breaker },
      );
      await started.wait({ redis: 10_000, sql: 10_000 });
      expect(answers).toEqual([lease("redis")]);
    }
    expect(breaker.open).toBe(false);
  });

  test("counts a visitor who had no more time for it", async () => {
    const breaker = newBreaker();
    for (let i = 0; i < 3; i++) {
      const { started, answers } = refill(
        (_, progress) => {
          progress?.on("redis");
          return new Promise(() => {});
        },
        Promise.resolve(lease("sql")),
        { breaker },
      );
      await started.wait({ redis: 0, sql: 10_000 });
      expect(answers).toEqual([lease("sql")]);
    }
    expect(breaker.open).toBe(true);
  });
});
