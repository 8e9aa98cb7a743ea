import { expect, test } from "bun:test";
import { manualClock } from "../base/clock.ts";
import { createLateness, waitBy } from "./lateness.ts";

/** A clock whose timers are called late. */
function lateClock() {
  const clock = manualClock(0);
  let lateMs = 0;
  return {
    clock: {
      elapsed: clock.elapsed,
      after: (ms: number, work: () => void) => clock.after(ms + lateMs, work),
    },
    /** Time passes, timer by timer, each of which is late by so much. */
    async pass(ms: number, late = 0) {
      lateMs = late;
      clock.advance(5); // the timer that was set before
      for (let passed = 0; passed < ms; passed++) clock.advance(1);
    },
  };
}

test("the other thread is told the longest lateness since it last asked", async () => {
  const { clock, pass } = lateClock();
  const lateness = createLateness(clock);
  const { nowMs } = waitBy(lateness.shared);
  const work = Promise.withResolvers<string>();
  const done = lateness.during(() => work.promise);
  await pass(100, 8);
  await pass(100, 3);
  expect(await nowMs()).toBe(8);
  await pass(100, 3);
  expect(await nowMs()).toBe(3);
  work.resolve("done");
  expect(await done).toBe("done");
  await nowMs();
  await pass(100, 20);
  expect(await nowMs()).toBe(0);
});
