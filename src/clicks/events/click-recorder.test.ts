import { expect, test } from "bun:test";
import { manualClock } from "../../base/clock.ts";
import { createLog } from "../../base/log.ts";
import type { ClickBatch } from "../click.ts";
import { createClickRecorder } from "./click-recorder.ts";
import { noneWritten } from "./writer.ts";

const clock = manualClock(0);
const log = createLog("silent", { write() {} }, false, clock.now);
const batch = { at: new Float64Array(1) } as ClickBatch;

/** A recorder with so many batches, whose first writes fail. */
function recorderOf(batches: number, failures: number, ready?: Promise<void>) {
  const written: number[] = [];
  let [waiting, failed] = [batches, 0];
  const recorder = createClickRecorder({
    capture: {
      drain: () => (waiting-- > 0 ? batch : undefined),
      get waiting() {
        return Math.max(0, waiting);
      },
      ...(ready && { ready }),
    },
    async write(sequence) {
      if (failed++ < failures) throw new Error("the lock is not free");
      written.push(sequence);
      return noneWritten;
    },
    onWritten() {},
    clock,
    log,
  });
  return { recorder, written };
}

async function whileTimePasses(work: Promise<void>): Promise<void> {
  let isDone = false;
  const done = work.then(() => {
    isDone = true;
  });
  while (!isDone) {
    await new Promise(setImmediate);
    clock.advance(100);
  }
  await done;
}

test("a stop writes everything in order, although some writes fail", async () => {
  const { recorder, written } = recorderOf(3, 4);
  await whileTimePasses(recorder.stop());
  expect(written).toEqual([1, 2, 3]);
});

test("a stop gives up on a database that stays away", async () => {
  const { recorder, written } = recorderOf(3, Number.POSITIVE_INFINITY);
  await whileTimePasses(recorder.stop());
  expect(written).toEqual([]);
});

test("a stop in the first moments writes the clicks that wait for the tables of their facts", async () => {
  const loaded = Promise.withResolvers<void>();
  const { recorder, written } = recorderOf(2, 0, loaded.promise);
  const stopped = recorder.stop();
  await new Promise(setImmediate);
  expect(written).toEqual([]);
  loaded.resolve();
  await whileTimePasses(stopped);
  expect(written).toEqual([1, 2]);
});

test("clicks that come while others are written wait for the next second", async () => {
  let arrived = 100;
  const sizes: number[] = [];
  const recorder = createClickRecorder({
    capture: {
      drain(most) {
        const taken = Math.min(most, arrived);
        arrived -= taken;
        return taken === 0 ? undefined : ({ at: new Float64Array(taken) } as ClickBatch);
      },
      get waiting() {
        return arrived;
      },
    },
    async write(_, { at }) {
      sizes.push(at.length);
      arrived += 3;
      return noneWritten;
    },
    onWritten() {},
    clock,
    log,
  });
  await recorder.flush();
  expect(sizes).toEqual([100]);
  await recorder.flush();
  expect(sizes).toEqual([100, 3]);
});

test("what was counted without facts is written with each round, however many clicks with facts come", async () => {
  let bare = 5;
  const written: string[] = [];
  const recorder = createClickRecorder({
    capture: {
      drain(most) {
        if (most > 0) return { at: new Float64Array(most) } as ClickBatch;
        const batch = bare > 0 ? ({ at: new Float64Array(0) } as ClickBatch) : undefined;
        bare = 0;
        return batch;
      },
      get waiting() {
        return 40_000 + bare;
      },
    },
    async write(_, { at }) {
      written.push(String(at.length));
      return noneWritten;
    },
    onWritten() {},
    clock,
    log,
  });
  await recorder.flush();
  expect(written).toEqual(["30000", "10005", "0"]);
});

test("a round ends with the counts, also if visits that exclude themselves never stop", async () => {
  let written = 0;
  const recorder = createClickRecorder({
    capture: { drain: () => ({ at: new Float64Array(0) }) as ClickBatch, waiting: 1 },
    async write() {
      if (++written > 10) throw new Error("the round does not end");
      return noneWritten;
    },
    onWritten() {},
    clock,
    log,
  });
  await recorder.flush();
  expect(written).toBe(1);
});
