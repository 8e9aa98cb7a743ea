import { expect, test } from "bun:test";
import { Late, withDeadline } from "./deadline.ts";

test("work that is done in time is answered", async () => {
  expect(await withDeadline(Promise.resolve(42), 100, "SQL")).toBe(42);
});

test("work that fails in time fails as it did", async () => {
  const reason = new Error("no");
  await expect(withDeadline(Promise.reject(reason), 100, "SQL")).rejects.toBe(reason);
});

test("work that takes too long is late, and its result is ignored", async () => {
  const slow = Promise.withResolvers<number>();
  const error = await withDeadline(slow.promise, 10, "SQL").catch((late: unknown) => late);
  expect(error).toBeInstanceOf(Late);
  expect(error).toHaveProperty("message", "SQL did not answer within 10 ms");
  slow.reject(new Error("after all"));
});
