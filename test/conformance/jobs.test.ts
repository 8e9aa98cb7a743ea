import { describe, expect, test } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import { Late } from "../../src/base/deadline.ts";
import type { ClaimedJob } from "../../src/base/jobs.ts";
import { createInstances, liveMs, silentMs } from "../../src/sql/instances.ts";
import { createJobClaims, type Holder, readJobs } from "../../src/sql/jobs.ts";
import { migrate } from "../../src/sql/migrate.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { until } from "../ground/process.ts";
import { databases } from "./databases.ts";

const hourMs = 3_600_000;
const minuteMs = 60_000;

const job = (work: ClaimedJob["work"], more: Partial<ClaimedJob> = {}): ClaimedJob => ({
  ...{ name: "sweep", deadlineMs: minuteMs, early: false, work },
  firstAt: systemClock.now() + hourMs,
  next: (now) => now + hourMs,
  ...more,
});

/** Time passes by moving the row: all times are the database's. */
async function makeDue(sql: Sql): Promise<void> {
  const values = { name: "sweep", due_at: 0 };
  await sql.db
    .insertInto("jobs")
    .values(values)
    .onConflict((conflict) => conflict.column("name").doUpdateSet(values))
    .execute();
}

async function silence(sql: Sql, id: string, ms: number): Promise<void> {
  await sql.db
    .updateTable("instances")
    .set((row) => ({ seen_at: row("seen_at", "-", ms) }))
    .where("id", "=", id)
    .execute();
}

const going = new AbortController().signal;
const none = async () => {};
/** Work that begins, and ends when the test says so. */
function slowWork() {
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const work = () => {
    begun.resolve();
    return end.promise;
  };
  return { work, begun: begun.promise, end: end.resolve };
}

/** A process that beats. */
async function holderOf(sql: Sql, id: string, lapse = going): Promise<Holder> {
  await instanceOf(sql, id).beat();
  return { id, lapse: () => lapse };
}

const instanceOf = (sql: Sql, id: string) => createInstances(sql, { id, host: id, pid: 1, shares: true });

const run = async (sql: Sql, holder: string, claimed: ClaimedJob, signal = going) =>
  createJobClaims(sql, await holderOf(sql, holder), systemClock).run(claimed, signal);

for (const database of databases) {
  describe(`claims on jobs on ${database.name}`, () => {
    test("a new job is due after one interval, and not planned twice", async () => {
      const sql = await database.open();
      expect(await run(sql, "a", job(none))).toMatchObject({ ran: false, succeededAt: null });
      const second = await run(sql, "b", job(none, { firstAt: 0 }));
      expect(second.ran).toBe(false);
      expect(second.dueInMs).toBeGreaterThan(hourMs - minuteMs);
      expect(second.dueInMs).toBeLessThanOrEqual(hourMs);
      await sql.close();
    });

    test("of many that look at once one runs it, and the others learn when it succeeded and is due again", async () => {
      const sql = await database.open();
      await makeDue(sql);
      let done = 0;
      const work = async () => void done++;
      const looks = await Promise.all(Array.from({ length: 6 }, (_, i) => run(sql, `p${i}`, job(work))));
      expect(looks.filter(({ ran }) => ran)).toHaveLength(1);
      const late = await run(sql, "late", job(work));
      expect(done).toBe(1);
      expect(late).toMatchObject({ ran: false, succeededAt: looks.find(({ ran }) => ran)?.succeededAt });
      expect(late.dueInMs).toBeGreaterThan(hourMs - minuteMs);
      await sql.close();
    });

    test("what is due again is run again, by any process", async () => {
      const sql = await database.open();
      for (const holder of ["a", "b", "a"]) {
        await makeDue(sql);
        expect((await run(sql, holder, job(none))).ran).toBe(true);
      }
      await sql.close();
    });

    test("it can be run early, but not while it is running", async () => {
      const sql = await database.open();
      await makeDue(sql);
      await run(sql, "a", job(none));
      const slow = slowWork();
      const first = run(sql, "a", job(slow.work, { early: true }));
      await slow.begun;
      expect((await run(sql, "b", job(none, { early: true }))).ran).toBe(false);
      slow.end();
      expect((await first).ran).toBe(true);
      expect((await run(sql, "b", job(none))).ran).toBe(false);
      expect((await run(sql, "b", job(none, { early: true }))).ran).toBe(true);
      await sql.close();
    });

    test("what a process left behind is taken over, counts as a failure, and a late end does not undo that", async () => {
      const sql = await database.open();
      await makeDue(sql);
      const slow = slowWork();
      const first = run(sql, "a", job(slow.work, { next: () => 0 }));
      await slow.begun;
      expect(await readJobs(sql)).toMatchObject([{ name: "sweep", unfinishedSince: null }]);
      await makeDue(sql);
      expect(await readJobs(sql)).toMatchObject([{ name: "sweep", unfinishedSince: expect.any(Number) }]);
      const work = async () => {
        expect(await readJobs(sql)).toMatchObject([{ failures: 1, error: expect.stringContaining("took too long") }]);
      };
      expect((await run(sql, "b", job(work))).ran).toBe(true);
      slow.end();
      await first;
      expect((await run(sql, "c", job(none))).ran).toBe(false);
      expect(await readJobs(sql)).toMatchObject([{ failures: 0, error: null, unfinishedSince: null }]);
      await sql.close();
    });

    test("work that fails is due again in a minute, and the row says why until it succeeds", async () => {
      const sql = await database.open();
      const secret = Object.assign(
        new Error(`no route to https://user:secret@s3.test/a?sig=secret ${"x".repeat(999)}`),
        {
          code: "ENETUNREACH",
        },
      );
      for (const failures of [1, 2]) {
        await makeDue(sql);
        await expect(
          run(
            sql,
            "a",
            job(() => Promise.reject(secret)),
          ),
        ).rejects.toThrow("no route");
        const { ran, dueInMs } = await run(sql, "a", job(none));
        expect([ran, dueInMs > 0, dueInMs <= minuteMs]).toEqual([false, true, true]);
        const [state] = await readJobs(sql);
        expect(state).toMatchObject({ failures, succeededAt: null });
        expect(state?.error).toStartWith("ENETUNREACH: no route to https://s3.test/a x");
        expect(state?.error?.length).toBe(200);
        expect(state?.error).not.toContain("secret");
      }
      await makeDue(sql);
      await run(sql, "a", job(none));
      expect(await readJobs(sql)).toMatchObject([{ failures: 0, error: null, succeededAt: expect.any(Number) }]);
      await sql.close();
    });

    test("work that is told to stop has not failed and is due at once; work that is late has failed", async () => {
      const sql = await database.open();
      await makeDue(sql);
      const stopping = new AbortController();
      const aborted = job(async (signal) => {
        stopping.abort(new Error("stopping"));
        signal.throwIfAborted();
      });
      await expect(run(sql, "a", aborted, stopping.signal)).rejects.toThrow("stopping");
      expect(await readJobs(sql)).toMatchObject([{ failures: 0, error: null }]);
      const late = new AbortController();
      const slow = job(async () => late.abort(new Late("did not end in time")));
      await expect(run(sql, "b", slow, late.signal)).rejects.toThrow("did not end in time");
      expect(await readJobs(sql)).toMatchObject([{ failures: 1, error: "did not end in time" }]);
      // It has done its work: the next run is at its usual time.
      const { dueInMs } = await run(sql, "a", job(none));
      expect(dueInMs).toBeGreaterThan(hourMs / 2);
      await sql.close();
    });

    test("a job with nothing to do is not failing any more, and no claim is left; a running one is left alone", async () => {
      const sql = await database.open();
      const clear = async () => expect((await run(sql, "b", job(none, { when: async () => false }))).ran).toBe(false);
      await clear(); // there was no such row
      await makeDue(sql);
      const failing = job(async () => {
        throw new Error("broken");
      });
      await expect(run(sql, "a", failing)).rejects.toThrow("broken");
      await makeDue(sql);
      await clear();
      expect(await readJobs(sql)).toMatchObject([{ failures: 0, error: null }]);

      const slow = slowWork();
      const running = run(sql, "a", job(slow.work));
      await slow.begun;
      await clear();
      expect((await run(sql, "b", job(none, { early: true }))).ran).toBe(false);
      await makeDue(sql); // its time has run out
      await clear();
      expect(await readJobs(sql)).toMatchObject([{ unfinishedSince: null, failures: 0 }]);
      slow.end();
      await running;
      await sql.close();
    });

    test("a job is asked when it is due, and runs anyway if it was due for too long, failed or was left behind", async () => {
      const sql = await database.open();
      const due = (ms: number) =>
        sql.db
          .updateTable("jobs")
          .set({ due_at: systemClock.now() - ms })
          .execute();
      let asked = 0;
      const when = async () => {
        asked++;
        return false;
      };
      const sweep = (more: Partial<ClaimedJob> = {}) => job(none, { when, anywayMs: hourMs, ...more });
      expect((await run(sql, "a", sweep())).ran).toBe(false);
      expect(asked).toBe(0); // it is planned, and not due

      await due(hourMs - minuteMs);
      const idle = await run(sql, "a", sweep());
      expect(idle).toMatchObject({ ran: false, dueInMs: hourMs });
      expect(idle.succeededAt).toBeGreaterThan(systemClock.now() - minuteMs);
      expect(asked).toBe(1);
      await due(hourMs + minuteMs);
      expect((await run(sql, "a", sweep())).ran).toBe(true);

      await due(0);
      const broken = sweep({
        when: async () => true,
        async work() {
          throw new Error("broken");
        },
      });
      await expect(run(sql, "a", broken)).rejects.toThrow("broken");
      await due(0);
      expect((await run(sql, "a", sweep())).ran).toBe(true);

      await sql.db.updateTable("jobs").set({ holder: "gone" }).execute();
      expect((await run(sql, "a", sweep())).ran).toBe(true);
      await sql.close();
    });

    test("work that is told to stop and goes on until its process ends leaves no claim", async () => {
      const sql = await database.open();
      await makeDue(sql);
      const stopping = new AbortController();
      const endless = slowWork();
      const first = run(sql, "a", job(endless.work), stopping.signal);
      await endless.begun;
      stopping.abort(new Error("stopping"));
      await until("another process to run it", async () => (await run(sql, "b", job(none))).ran || undefined);
      endless.end();
      await first;
      expect(await readJobs(sql)).toMatchObject([{ failures: 0, error: null, succeededAt: expect.any(Number) }]);
      await sql.close();
    });

    test("a process that beats, or did within the last minute, keeps its claim until the deadline", async () => {
      const sql = await database.open();
      await makeDue(sql);
      const slow = slowWork();
      const first = run(sql, "a", job(slow.work));
      await slow.begun;
      const looks = async () => [
        (await run(sql, "b", job(none))).ran,
        (await run(sql, "b", job(none, { early: true }))).ran,
      ];
      expect(await looks()).toEqual([false, false]);
      for (const ms of [liveMs, silentMs - liveMs - 5_000]) {
        await silence(sql, "a", ms);
        await instanceOf(sql, "c").join(); // a server that starts meanwhile
        await instanceOf(sql, "b").removeSilent();
        expect(await looks()).toEqual([false, false]);
      }
      slow.end();
      expect((await first).ran).toBe(true);
      expect(await readJobs(sql)).toMatchObject([{ failures: 0, succeededAt: expect.any(Number) }]);
      await sql.close();
    });

    test("the claim of a process whose row was removed is free at once, for one process, and counts as a failure", async () => {
      const sql = await database.open();
      await makeDue(sql);
      const endless = slowWork();
      const killed = run(sql, "a", job(endless.work, { next: () => 0 }));
      await endless.begun;
      await silence(sql, "a", silentMs);
      expect((await run(sql, "b", job(none))).ran).toBe(false);
      await instanceOf(sql, "b").removeSilent();
      const slow = slowWork();
      const second = run(sql, "b", job(slow.work));
      await slow.begun;
      expect(await readJobs(sql)).toMatchObject([{ failures: 1, error: expect.stringContaining("ended") }]);
      const looks = await Promise.all(["c", "d", "e"].map((id) => run(sql, id, job(none))));
      expect(looks.map(({ ran }) => ran)).toEqual([false, false, false]);
      slow.end();
      expect((await second).ran).toBe(true);
      endless.end(); // as if it had only been paused: its end changes nothing any more
      await killed;
      expect((await run(sql, "c", job(none))).ran).toBe(false);
      await sql.close();
    });

    test("work is told to end when its process could not beat, keeps its claim until it has, and has failed", async () => {
      const sql = await database.open();
      await makeDue(sql);
      const lapse = new AbortController();
      const begun = Promise.withResolvers<void>();
      const end = Promise.withResolvers<void>();
      const obedient = job(async (signal) => {
        begun.resolve();
        await end.promise;
        signal.throwIfAborted();
      });
      const claims = createJobClaims(sql, await holderOf(sql, "a", lapse.signal), systemClock);
      const first = claims.run(obedient, going);
      await begun.promise;
      lapse.abort(new Error("cut off"));
      expect((await run(sql, "b", job(none))).ran).toBe(false);
      end.resolve();
      await expect(first).rejects.toThrow("cut off");
      expect(await readJobs(sql)).toMatchObject([{ failures: 1, error: "cut off", unfinishedSince: null }]);
      await sql.close();
    });

    test("a claim that a process could not give back is no obstacle to the same process", async () => {
      const place = await database.create();
      const [sql, own] = [place.connect(), place.connect()];
      await migrate(sql);
      await makeDue(sql);
      const cutOff = job(async () => {
        await own.close();
        throw new Error("cut off");
      });
      await expect(run(own, "a", cutOff)).rejects.toThrow();
      expect((await run(sql, "b", job(none))).ran).toBe(false);
      expect((await run(sql, "a", job(none))).ran).toBe(true);
      await sql.close();
    });
  });
}
