import { expect, test } from "bun:test";
import { manualClock } from "../base/clock.ts";
import { createPace } from "./pace.ts";

function paced(idleMs: number) {
  const waits = { idleMs, nowMs: 0, asked: 0 };
  const pauses: number[] = [];
  const clock = manualClock(0);
  const pace = createPace(
    {
      async idleMs() {
        waits.asked++;
        return waits.idleMs;
      },
      nowMs: async () => waits.nowMs,
    },
    clock,
    async (ms) => pauses.push(ms),
  );
  const batches = async (count: number, nowMs: number): Promise<number[]> => {
    waits.nowMs = nowMs;
    for (let i = 0; i < count; i++) await pace(500);
    return pauses.splice(0);
  };
  return { batches, waits, clock };
}

test("an import does not pause while redirects wait at most twice as long as without it", async () => {
  const { batches } = paced(3);
  expect(await batches(20, 6)).toEqual([]);
});

test("an import does not pause for waits that nobody notices", async () => {
  const { batches } = paced(0.1);
  expect(await batches(20, 1)).toEqual([]);
});

test("an import pauses longer and longer while redirects wait, up to a bound, and then ever shorter", async () => {
  const { batches } = paced(3);
  expect(await batches(1, 7)).toEqual([]); // without the import
  expect(await batches(8, 7)).toEqual([5, 10, 20, 40, 80, 160, 250, 250]);
  expect(await batches(9, 6)).toEqual([125, 62.5, 31.25, 15.625, 7.8125, 3.90625, 1.953125]);
  expect(await batches(1, 7)).toEqual([5]);
});

test("an import rests every two seconds to measure what redirects wait without it, however many batches that is", async () => {
  const { batches, waits, clock } = paced(3);
  await batches(500, 7);
  clock.advance(1_999);
  await batches(1, 7);
  expect(waits.asked).toBe(1);
  waits.idleMs = 10;
  clock.advance(1);
  await batches(10, 7);
  expect(waits.asked).toBe(2);
  expect((await batches(20, 20)).every((ms) => ms < 250)).toBe(true);
  expect(waits.asked).toBe(2);
});

test("an import whose batches take seconds gives way too", async () => {
  const { batches, waits, clock } = paced(3);
  const pauses: number[] = [];
  for (let batch = 0; batch < 21; batch++) {
    clock.advance(2_100);
    pauses.push(...(await batches(1, 7)));
  }
  expect(waits.asked).toBe(3);
  expect(pauses).toHaveLength(18);
});
