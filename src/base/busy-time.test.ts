import { expect, test } from "bun:test";
import { busyMsOf, threadBusyMs } from "./busy-time.ts";

/** The least of some tries: whoever else uses the machine can only add to it. */
async function leastBusyMs(work: () => Promise<void>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 5; tries++) {
    const before = threadBusyMs();
    await work();
    least = Math.min(least, threadBusyMs() - before);
  }
  return least;
}

test("a thread that waits for a core is as busy as one that runs", () => {
  expect(busyMsOf("11103230 1375096 4\n")).toBeCloseTo(12.478326);
});

test("a thread that works is busy all the time, whether or not it has a core", async () => {
  const workMs = 40;
  const busyMs = await leastBusyMs(async () => {
    for (const end = performance.now() + workMs; performance.now() < end; );
  });
  expect(busyMs).toBeGreaterThan(0.8 * workMs);
});

test("a thread that waits for an answer is not busy", async () => {
  const waitMs = 40;
  expect(await leastBusyMs(() => Bun.sleep(waitMs))).toBeLessThan(0.5 * waitMs);
});
