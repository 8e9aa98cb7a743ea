import { describe, expect, test } from "bun:test";
import { manualClock } from "../base/clock.ts";
import { createLog } from "../base/log.ts";
import { createMeters } from "../limits/meters.ts";
import { createRecorder, type Recorder } from "./recorder.ts";

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
    meters.drain("usual");
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

  describe("while leases are used up all the time", () => {
    const leaseSize = 10;

    /** A link that uses up a lease every 10 ms, and one with a visitor every 400 ms. */
    async function record(ms: number) {
      const clock = manualClock(0);
      const written: { readonly at: number; readonly keys: readonly string[] }[] = [];
      let lent = 0;
      let recorder: Recorder | undefined;
      const meters = createMeters({
        reasons: 1,
        store: {
          acquire: async () => ({
            ...{ kind: "granted", lender: "sql", lease: `lease-${++lent}`, size: leaseSize, month: "2026-11" },
            validForMs: 5_000,
          }),
        },
        clock,
        month: () => "2026-11",
        newLeaseId: () => "",
        patience: { redis: 50, sql: 100 },
        usedUp: () => recorder?.soon(),
        flush: async () => recorder?.flush(),
      });
      recorder = createRecorder({
        ...{ meters, clock, log: silent },
        async write(_, batch) {
          written.push({ at: clock.elapsed(), keys: batch.filter(({ units }) => units > 0).map(({ key }) => key) });
        },
      });
      for (let at = 0; at < ms; at++) {
        await meters.spend(meters.of("busy"), "hits", 1_000_000, 0);
        if (at % 400 === 0) await meters.spend(meters.of("quiet"), "hits", 1_000_000, 0);
        clock.advance(1);
        await Bun.sleep(0);
      }
      return written;
    }

    test("others are recorded once a second, and no later", async () => {
      const quiet = (await record(3_500)).filter(({ keys }) => keys.includes("quiet"));
      expect(quiet.map(({ at }) => at)).toEqual([1_000, 2_000, 3_000]);
    });

    test("the link itself is recorded at once, but 50 times a second at most", async () => {
      const busy = (await record(1_000)).filter(({ keys }) => keys.includes("busy"));
      expect(busy[0]?.at).toBeLessThanOrEqual(leaseSize + 1);
      expect(busy.length).toBeGreaterThan(40);
      expect(busy.length).toBeLessThanOrEqual(51);
    });
  });
});
