import { expect, test } from "bun:test";
import { manualClock } from "../base/clock.ts";
import { createThrottle } from "./throttle.ts";

test("rows come at their rate, with the time that they took themselves, and lost time is not made up for", async () => {
  const clock = manualClock(0);
  const rests: number[] = [];
  const rest = createThrottle(1_000, clock, async (ms) => {
    rests.push(ms);
    clock.advance(ms);
  });
  for (const tookMs of [0, 100, 5_000, 0]) {
    clock.advance(tookMs);
    await rest(250);
  }
  expect(rests).toEqual([250, 150, 250]);
});
