import { expect, test } from "bun:test";
import { nextPauseMs } from "./supervisor.ts";

test("the pause before a restart doubles while workers keep ending, up to ten seconds", () => {
  const pauses: number[] = [];
  for (let n = 0; n < 8; n++) pauses.push(nextPauseMs(pauses.at(-1) ?? 0, 100));
  expect(pauses).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
});

test("a worker that ran for half a minute resets the pause", () => {
  expect(nextPauseMs(10_000, 29_999)).toBe(10_000);
  expect(nextPauseMs(10_000, 30_000)).toBe(200);
});
