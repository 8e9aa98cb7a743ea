import { describe, expect, test } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import { createJobs, type Job } from "../../src/sql/jobs.ts";
import { databases } from "./databases.ts";

for (const database of databases) {
  describe(`jobs on ${database.name}`, () => {
    const job = (work: () => Promise<void>, more: Partial<Job> = {}): Job => ({
      name: "sweep",
      atMostMs: 60_000,
      next: (now) => now + 3_600_000,
      work,
      ...more,
    });

    test("of many that look at once one does it, and no other before it is due", async () => {
      const sql = await database.open();
      let done = 0;
      const work = async () => void done++;
      const ran = await Promise.all(
        Array.from({ length: 6 }, (_, i) => createJobs(sql, `p${i}`, systemClock).run(job(work))),
      );
      expect(ran.filter(Boolean)).toHaveLength(1);
      expect(await createJobs(sql, "late", systemClock).run(job(work))).toBe(false);
      expect(done).toBe(1);
      await sql.close();
    });

    test("what is due again is done again, by any process", async () => {
      const sql = await database.open();
      const again = job(async () => {}, { next: (now) => now });
      expect(await createJobs(sql, "a", systemClock).run(again)).toBe(true);
      expect(await createJobs(sql, "b", systemClock).run(again)).toBe(true);
      await sql.close();
    });

    test("what is planned for later is not done before, and a second plan changes nothing", async () => {
      const sql = await database.open();
      const jobs = createJobs(sql, "a", systemClock);
      await jobs.plan("sweep", systemClock.now() + 3_600_000);
      await jobs.plan("sweep", 0);
      expect(await jobs.run(job(async () => {}))).toBe(false);
      await jobs.plan("other", 0);
      expect(await jobs.run(job(async () => {}, { name: "other" }))).toBe(true);
      await sql.close();
    });

    test("unfinished work is taken over after its time, and a late end does not undo that", async () => {
      const sql = await database.open();
      const [begun, slow] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const work = (): Promise<void> => {
        begun.resolve();
        return slow.promise;
      };
      const first = createJobs(sql, "a", systemClock).run(job(work, { atMostMs: 1, next: () => 0 }));
      await begun.promise;
      let taken = false;
      while (!taken) taken = await createJobs(sql, "b", systemClock).run(job(async () => {}));
      slow.resolve();
      expect(await first).toBe(true);
      expect(await createJobs(sql, "c", systemClock).run(job(async () => {}))).toBe(false);
      await sql.close();
    });

    test("work that fails says so, and is not due at once", async () => {
      const sql = await database.open();
      const jobs = createJobs(sql, "a", systemClock);
      const failing = job(() => Promise.reject(new Error("no room")));
      await expect(jobs.run(failing)).rejects.toThrow("no room");
      expect(await jobs.run(failing)).toBe(false);
      await sql.close();
    });
  });
}
