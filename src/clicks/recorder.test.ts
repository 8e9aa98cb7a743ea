import { describe, expect, test } from "bun:test";
import { manualClock } from "../base/clock.ts";
import { createLog } from "../base/log.ts";
import { createMeters } from "../limits/meters.ts";
import { createRecorder } from "./recorder.ts";

const silent = createLog("silent", { write() {} }, false, () => 0);

describe("the recorder", () => {
  test("sends a batch whose fate is unknown again as it was, under its number, before anything newer", async () => {
    const clock = manualClock(0);
    const sent: [number, number][] = [];
    let broken = true;
    const meters = createMeters({
      reasons: 1,
      store: { acquire: () => Promise.reject(new Error("not asked")) },
      clock,
      month: () => "2026-11",
      newLeaseId: () => "",
      patience: { redis: 50, sql: 100 },
      usedUp: () => {},
      flush: async () => {},
    });
    const recorder = createRecorder({
      meters,
      clock,
      log: silent,
      async write(sequence, batch) {
        sent.push([sequence, batch.reduce((sum, one) => sum + one.units, 0)]);
        if (broken) throw new Error("no answer");
      },
    });
    meters.spend(meters.of("a"), "hits", null, 0);
    await recorder.flush().catch(() => {});
    meters.drain(false);
    expect(meters.size).toBe(1); // not stored, so still owed
    meters.spend(meters.of("a"), "hits", null, 0);
    await recorder.flush().catch(() => {});
    broken = false;
    await recorder.stop();
    expect(sent).toEqual([
      [1, 1],
      [1, 1],
      [1, 1],
      [2, 1],
    ]);
  });
});
