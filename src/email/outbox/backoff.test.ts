import { expect, test } from "bun:test";
import { attemptsMost, nextAsk, nextTry, waitMostMs } from "./backoff.ts";

const tried = { ageMs: 0, retryAfterMs: null };

test("each wait is twice the one before, up to an hour", () => {
  const seconds = [1, 2, 3, 4, 5, 6, 7].map((attempt) => (nextTry({ ...tried, attempt }, 0) ?? 0) / 1_000);
  expect(seconds).toEqual([30, 60, 120, 240, 480, 960, 1_920]);
  expect(nextTry({ ...tried, attempt: 1 }, 1)).toBe(45_000);
});

test("a provider may ask for longer, but not for more than an hour", () => {
  expect(nextTry({ ...tried, attempt: 1, retryAfterMs: 600_000 }, 0)).toBe(600_000);
  expect(nextTry({ ...tried, attempt: 1, retryAfterMs: 86_400_000 }, 0)).toBe(3_600_000);
  expect(nextTry({ ...tried, attempt: 4, retryAfterMs: 1_000 }, 0)).toBe(240_000);
});

test("after eight attempts or a day it is over", () => {
  expect(nextTry({ ...tried, attempt: attemptsMost }, 0)).toBeUndefined();
  expect(nextTry({ ...tried, attempt: 1, ageMs: waitMostMs }, 0)).toBeUndefined();
  expect(nextAsk(waitMostMs, 1_000)).toBe(1_000);
  expect(nextAsk(waitMostMs + 1, 1_000)).toBeUndefined();
});

test("a limited email asks again when there is room, and at least a second later", () => {
  expect(nextAsk(0, 5_000)).toBe(5_000);
  expect(nextAsk(0, 0)).toBe(1_000);
  expect(nextAsk(0, null)).toBe(3_600_000);
});
