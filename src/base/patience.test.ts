import { expect, test } from "bun:test";
import { manualClock, systemClock } from "./clock.ts";
import { Late } from "./deadline.ts";
import { within } from "./patience.ts";

test("every wait is deducted from what the visitor has for that store, whether it was answered or failed", async () => {
  const clock = manualClock(0);
  const patience = { redis: 1_000, sql: 1_000 };
  const answer = Promise.withResolvers<string>();
  const waiting = within(patience, "redis", answer.promise, clock);
  clock.advance(300);
  answer.resolve("yes");
  expect(await waiting).toBe("yes");
  expect(patience).toEqual({ redis: 700, sql: 1_000 });
  const failing = Promise.withResolvers<string>();
  const failed = within(patience, "sql", failing.promise, clock);
  clock.advance(2_000);
  failing.reject(new Error("no"));
  await expect(failed).rejects.toThrow("no");
  expect(patience).toEqual({ redis: 700, sql: 0 });
});

test("a visitor without time left is late at once", async () => {
  const never = new Promise<never>(() => {});
  await expect(within({ redis: 0, sql: 0 }, "sql", never, manualClock(0))).rejects.toBeInstanceOf(Late);
});

test("a long wait uses up patience too, although only short ones are looked at every few milliseconds", async () => {
  const patience = { redis: 50, sql: 2_000 };
  await within(patience, "sql", new Promise((resolve) => setImmediate(resolve)), systemClock);
  expect(patience.sql).toBeLessThan(2_000);
});

test("all waits of a visit together end after ten times its patience, however busy the thread is", async () => {
  const clock = manualClock(0);
  const busy = { ...clock, attended: () => 0 };
  const patience = { redis: 50, sql: 100 };
  const wait = async (store: "redis" | "sql", ms: number) => {
    const answer = Promise.withResolvers<void>();
    const waiting = within(patience, store, answer.promise, busy);
    clock.advance(ms);
    answer.resolve();
    await waiting;
  };
  await wait("sql", 700);
  expect(patience).toEqual({ redis: 50, sql: 30 });
  await wait("sql", 200);
  await wait("redis", 600);
  expect(patience).toEqual({ redis: 0, sql: 10 });
});
