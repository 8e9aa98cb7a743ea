import { expect, test } from "bun:test";
import { manualClock } from "../base/clock.ts";
import { createBatchSize } from "./batch-size.ts";

function sized() {
  const clock = manualClock(0);
  const others = { wrote: false };
  const size = createBatchSize(async () => others.wrote, clock);
  const after = async (ms: number) => {
    clock.advance(ms);
    return await size();
  };
  return { after, others };
}

test("batches are large once nobody else has written for more than a second, and small again as soon as somebody does", async () => {
  const { after, others } = sized();
  others.wrote = true;
  expect(await after(5_000)).toBe(512);
  others.wrote = false;
  expect([await after(1_000), await after(99), await after(1), await after(60_000)]).toEqual([512, 512, 2_048, 2_048]);
  others.wrote = true;
  expect(await after(100)).toBe(512);
  others.wrote = false;
  expect([await after(1_099), await after(1)]).toEqual([512, 2_048]);
});

test("beside other writers a batch has as many rows as take 10 ms, by the time of the one before", async () => {
  const { after, others } = sized();
  others.wrote = true;
  expect(await after(0)).toBe(512);
  expect([await after(4), await after(8), await after(12.8), await after(20)]).toEqual([1_024, 1_280, 1_000, 512]);
  expect([await after(1), await after(1), await after(16)]).toEqual([1_024, 2_048, 1_280]);
  expect(await after(10_000)).toBe(512); // the import had to pause
});

test("an import begins with small batches: it does not know yet who else writes, nor how long a row takes", async () => {
  const { after } = sized();
  expect(await after(0)).toBe(512);
});

test("batches are large from the beginning where others do not wait for them", async () => {
  expect(await createBatchSize(undefined, manualClock(0))()).toBe(2_048);
});
