import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { Late, withDeadline } from "./deadline.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test("work that is done in time is answered, and no timer is left", async () => {
  expect(await withDeadline(Promise.resolve(42), 100, "SQL")).toBe(42);
  expect(jest.getTimerCount()).toBe(0);
});

test("work that fails in time fails as it did, and no timer is left", async () => {
  const reason = new Error("no");
  await expect(withDeadline(Promise.reject(reason), 100, "SQL")).rejects.toBe(reason);
  expect(jest.getTimerCount()).toBe(0);
});

test("work that takes too long is late, and its result is ignored", async () => {
  const slow = Promise.withResolvers<number>();
  const outcome = withDeadline(slow.promise, 100, "SQL").catch((error: unknown) => error);
  jest.advanceTimersByTime(99);
  jest.advanceTimersByTime(1);
  const error = await outcome;
  expect(error).toBeInstanceOf(Late);
  expect(error).toHaveProperty("message", "SQL did not answer within 100 ms");
  slow.reject(new Error("after all"));
});
