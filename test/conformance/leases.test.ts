import { describe, expect, test } from "bun:test";
import { manualClock, systemClock } from "../../src/base/clock.ts";
import { createLog } from "../../src/base/log.ts";
import { createRecorder } from "../../src/clicks/recorder.ts";
import { createMeters, type Drained } from "../../src/limits/meters.ts";
import { monthName } from "../../src/limits/month.ts";
import { createSqlLeases } from "../../src/sql/leases.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { until } from "../ground/process.ts";
import { onEachDatabase } from "./databases.ts";

const reasons = ["counted", "bot"];
const silent = createLog("silent", { write() {} }, false, systemClock.now);
const split = (code: string) => ({ domain: "", code });
let names = 0;
const fresh = (what: string) => `${what}-${++names}`;

/** One server's way of counting, on a database that others share. */
function instance(sql: Sql, holders = 1) {
  const id = fresh("instance");
  const store = createSqlLeases(sql, systemClock, reasons, split, () => holders);
  let leases = 0;
  const meters = createMeters({
    reasons: reasons.length,
    store,
    clock: systemClock,
    month: () => monthName(systemClock.now()),
    newLeaseId: () => `${id}.${++leases}`,
    usedUp: () => recorder.soon(),
    flush: () => recorder.flush(),
  });
  const recorder = createRecorder({
    meters,
    write: (sequence, batch) => store.record(id, sequence, batch),
    log: silent,
  });
  return {
    id,
    store,
    meters,
    recorder,
    visit: (code: string, max: number | null) => meters.spend(meters.of(code), "hits", max, 0),
  };
}

async function quota(sql: Sql, code: string) {
  const row = await sql.db
    .selectFrom("quotas")
    .select(["counted", "reserved"])
    .where("code", "=", code)
    .executeTakeFirst();
  return row && [row.counted, row.reserved];
}

onEachDatabase(({ open }) => {
  describe("leases", () => {
    test("a limit is spent to the last unit and not beyond, by one server", async () => {
      const sql = await open();
      const { visit, recorder } = instance(sql);
      const code = fresh("one");
      const kinds: string[] = [];
      for (let i = 0; i < 320; i++) kinds.push((await visit(code, 300)).kind);
      await recorder.stop();
      expect(kinds.filter((kind) => kind === "granted")).toHaveLength(300);
      expect(await quota(sql, code)).toEqual([300, 0]);
    });

    test("several servers together never grant more, and between them all of it", async () => {
      const sql = await open();
      const servers = [instance(sql, 3), instance(sql, 3), instance(sql, 3)];
      const code = fresh("shared");
      const rounds = await Promise.all(
        servers.map(async ({ visit }) => {
          let granted = 0;
          for (let i = 0; i < 300; i++) if ((await visit(code, 400)).kind === "granted") granted++;
          return granted;
        }),
      );
      for (const { recorder } of servers) await recorder.stop();
      const granted = rounds.reduce((sum, one) => sum + one, 0);
      expect(granted).toBeLessThanOrEqual(400);
      // What one of them still held when another was refused: at most a lease each, and 4 is the largest of 400.
      expect(granted).toBeGreaterThanOrEqual(400 - 3 * 4);
      expect(await quota(sql, code)).toEqual([granted, 0]);
    });

    test("an ask repeated under its id gets the same lease, once", async () => {
      const sql = await open();
      const { store } = instance(sql);
      const code = fresh("again");
      const ask = { id: fresh("lease"), key: code, draws: "hits" as const, max: 10_000, want: 50 };
      const [first, second] = [await store.acquire(ask), await store.acquire(ask)];
      expect(first).toMatchObject({ kind: "granted", size: 50 });
      expect(second).toMatchObject({ kind: "granted", size: 50 });
      expect(await quota(sql, code)).toEqual([0, 50]);
    });

    test("an ask that is taken back gives back what it was given, once, and waiting repeats of it are not answered", async () => {
      const sql = await open();
      const { store } = instance(sql);
      const code = fresh("back");
      const ask = { id: fresh("lease"), key: code, draws: "hits" as const, max: 10_000, want: 50 };
      await store.acquire(ask);
      const other = { ...ask, id: fresh("lease") };
      const repeat = store.acquire(ask);
      store.cancel(ask);
      store.cancel(ask);
      store.cancel({ ...ask, id: fresh("never-asked") });
      await expect(repeat).rejects.toThrow("taken back");
      await until("the lease to be taken back", async () => (await quota(sql, code))?.[1] === 0 || undefined);
      await store.acquire(other);
      expect(await quota(sql, code)).toEqual([0, 50]);
    });

    test("a recording that is sent twice counts once", async () => {
      const sql = await open();
      const { store, id } = instance(sql);
      const code = fresh("twice");
      const ask = { id: fresh("lease"), key: code, draws: "hits" as const, max: 10_000, want: 20 };
      const answer = await store.acquire(ask);
      if (answer.kind !== "granted") throw new Error("no lease");
      const batch: Drained[] = [
        {
          key: code,
          draws: "hits",
          lender: "sql",
          month: answer.month,
          spent: [7, 0],
          units: 7,
          leased: 7,
          unspent: 13,
          lease: ask.id,
        },
      ];
      await store.record(id, 1, batch);
      await store.record(id, 1, batch);
      expect(await quota(sql, code)).toEqual([7, 0]);
      expect(await sql.db.selectFrom("leases").select("id").where("id", "=", ask.id).execute()).toEqual([]);
    });

    test("what a crash leaves behind stays reserved: never over the limit, short by at most two leases", async () => {
      const sql = await open();
      const code = fresh("crash");
      const crashed = instance(sql);
      for (let i = 0; i < 5; i++) await crashed.visit(code, 1_000);
      const survivor = instance(sql);
      let granted = 5;
      for (let i = 0; i < 1_100; i++) if ((await survivor.visit(code, 1_000)).kind === "granted") granted++;
      await survivor.recorder.stop();
      expect(granted).toBeLessThanOrEqual(1_000);
      expect(granted).toBeGreaterThanOrEqual(1_000 - 2 * 10);
      await crashed.recorder.stop();
    });

    test("without a limit hits are counted all the same, by reason", async () => {
      const sql = await open();
      const { meters, recorder, visit } = instance(sql);
      const code = fresh("free");
      for (let i = 0; i < 30; i++) visit(code, null);
      meters.spend(meters.of(code), "exempt", null, 1);
      await recorder.stop();
      const rows = await sql.db
        .selectFrom("hits")
        .select(["reason", "hits"])
        .where("code", "=", code)
        .orderBy("reason")
        .execute();
      expect(rows).toEqual([
        { reason: "bot", hits: 1 },
        { reason: "counted", hits: 30 },
      ]);
    });
  });
});

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
      usedUp: () => {},
      flush: async () => {},
    });
    const recorder = createRecorder({
      meters,
      log: silent,
      async write(sequence, batch) {
        sent.push([sequence, batch.reduce((sum, one) => sum + one.units, 0)]);
        if (broken) throw new Error("no answer");
      },
    });
    meters.spend(meters.of("a"), "hits", null, 0);
    await recorder.flush().catch(() => {});
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
