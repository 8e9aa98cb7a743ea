import { expect, test } from "bun:test";
import { manualClock } from "../base/clock.ts";
import { createBatchSize } from "./batch-size.ts";

test("batches are large once nobody else has written for more than a second, and small again as soon as somebody does", async () => {
  const clock = manualClock(0);
  let wrote = true;
  const size = createBatchSize(async () => wrote, clock);
  const after = async (ms: number) => {
    clock.advance(ms);
    return size();
  };
  expect(await after(5_000)).toBe(512);
  wrote = false;
  expect([await after(1_000), await after(99), await after(1), await after(60_000)]).toEqual([512, 512, 2_048, 2_048]);
  wrote = true;
  expect(await after(0)).toBe(512);
  wrote = false;
  expect([await after(1_099), await after(1)]).toEqual([512, 2_048]);
});

test("an import begins with small batches: it does not know yet who else writes", async () => {
  const clock = manualClock(0);
  const size = createBatchSize(async () => false, clock);
  expect(await size()).toBe(512);
});
