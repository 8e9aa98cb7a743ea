import { expect, test } from "bun:test";
import { manualClock } from "../../base/clock.ts";
import { createReportCheck } from "./report-check.ts";

/** How often others had a turn while `work` ran. */
async function turnsDuring(work: () => Promise<void>): Promise<number> {
  let [turns, isOver] = [0, false];
  const turn = () => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  isOver = true;
  return turns;
}

test("a report lets others have a turn every few milliseconds, and not at each step", async () => {
  const clock = manualClock(0);
  const check = createReportCheck(clock);
  const steps = (ms: number) => async () => {
    for (let step = 0; step < 100; step++) {
      clock.advance(ms);
      await check();
    }
  };
  expect(await turnsDuring(steps(0))).toBe(0);
  expect(await turnsDuring(steps(1))).toBeWithin(15, 30);
  expect(await turnsDuring(steps(5))).toBeGreaterThanOrEqual(95);
});

test("a report that takes more than eight seconds is ended", async () => {
  const clock = manualClock(0);
  const check = createReportCheck(clock);
  clock.advance(8_000);
  await check();
  clock.advance(1);
  expect(check()).rejects.toMatchObject({ code: "busy" });
});
