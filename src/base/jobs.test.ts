import { describe, expect, test } from "bun:test";
import { manualClock } from "./clock.ts";
import { type ClaimedJob, type Job, type JobClaims, nextTime, startJobs } from "./jobs.ts";
import { createLog } from "./log.ts";
import { createMetrics } from "./metrics.ts";

const second = 1_000;
const hour = 3_600_000;
const start = Date.UTC(2026, 10, 17, 1);

/** One process, with claims that are always granted when due. */
function setUp(...jobs: Partial<Job>[]) {
  const clock = manualClock(start);
  const metrics = createMetrics();
  const log = createLog("silent", { write() {} }, false, clock.now);
  const looks: number[] = [];
  let due = start + hour;
  let succeededAt: number | null = null;
  const claims: JobClaims = {
    async run(job: ClaimedJob, signal) {
      looks.push(clock.elapsed());
      if (due > clock.now() && !job.early) return { ran: false, dueInMs: due - clock.now(), succeededAt };
      if (job.when && !(await job.when())) return { ran: false, dueInMs: hour, succeededAt: clock.now() };
      await job.work(signal);
      due = job.next(clock.now());
      return { ran: true, dueInMs: due - clock.now(), succeededAt: clock.now() };
    },
  };
  const ran: string[] = [];
  const all = jobs.map(
    (job, i): Job => ({
      ...{ name: `job-${i}`, everyMs: hour, scope: "every process", deadlineMs: 60 * second },
      work: async () => void ran.push(`job-${i} ${clock.elapsed()}`),
      ...job,
    }),
  );
  return {
    clock,
    ran,
    looks,
    running: startJobs(all, { claims, metrics, clock, log }),
    elsewhere(at: number) {
      succeededAt = at;
      due = at + hour;
    },
    async pass(ms: number) {
      clock.advance(ms);
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    },
    async figure(name: string, job: string) {
      const { text } = await metrics.scrape();
      const found = new RegExp(`^quicklink_job_${name}\\{job_name="${job}"\\} (.*)$`, "m").exec(text)?.[1];
      return found === undefined ? undefined : Number(found);
    },
  };
}

describe("jobs", () => {
  test("of every process run soon after the start and then at their interval", async () => {
    const { pass, ran, running } = setUp({ everyMs: 5 * second });
    for (let i = 0; i < 11; i++) await pass(second);
    expect(ran).toEqual(["job-0 1000", "job-0 6000", "job-0 11000"]);
    await running.stop();
  });

  test("that are one for all run when due, looked for every 15 s at most, and at once when asked", async () => {
    const { pass, ran, looks, running } = setUp({ scope: "one for all" });
    for (let i = 0; i < 61; i++) await pass(second);
    expect(ran).toEqual([]);
    expect(looks).toEqual([1, 16, 31, 46, 61].map((at) => at * second));
    running.soon("job-0");
    await pass(0);
    expect(ran).toEqual([`job-0 ${61 * second}`]);
    running.soon("no such job");
    await running.stop();
  });

  test("that are one for all are looked at with others, and not before they are due", async () => {
    const { pass, looks, running, elsewhere } = setUp({ scope: "one for all" }, { everyMs: second / 2 });
    elsewhere(start + 10_300 - hour);
    for (let ms = 0; ms < 12_000; ms += 50) await pass(50);
    expect(looks).toEqual([1_000, 10_500]);
    await running.stop();
  });

  test("that have nothing to do have succeeded, and are asked again within 15 s", async () => {
    let wanted = false;
    const { pass, ran, running, elsewhere, clock, figure } = setUp({ scope: "one for all", when: async () => wanted });
    elsewhere(start - hour); // so it is due
    await pass(second);
    expect(ran).toEqual([]);
    expect(await figure("last_success_timestamp_seconds", "job-0")).toBe(clock.now() / 1_000);
    expect(await figure("duration_seconds", "job-0")).toBeUndefined();
    wanted = true;
    await pass(15 * second);
    expect(ran).toEqual([`job-0 ${16 * second}`]);
    await running.stop();
  });

  test("show their last success, duration and failures, and a success elsewhere counts", async () => {
    const faults = [undefined, new Error("away"), undefined];
    const work = async () => {
      const fault = faults.shift();
      if (fault) throw fault;
    };
    const { pass, figure, running, elsewhere } = setUp({ everyMs: second, work }, { scope: "one for all" });
    const at = (ms: number) => (start + ms) / 1_000;
    expect(await figure("last_success_timestamp_seconds", "job-0")).toBe(at(0));
    expect(await figure("duration_seconds", "job-0")).toBeUndefined();
    await pass(second);
    await pass(second);
    expect(await figure("last_success_timestamp_seconds", "job-0")).toBe(at(second));
    expect(await figure("failures_total", "job-0")).toBe(1);
    expect(await figure("duration_seconds", "job-0")).toBe(0);
    expect(await figure("interval_seconds", "job-1")).toBe(3_600);
    expect(await figure("last_success_timestamp_seconds", "job-1")).toBe(at(0));
    elsewhere(start + 2 * second);
    await pass(15 * second);
    expect(await figure("last_success_timestamp_seconds", "job-1")).toBe(at(2 * second));
    expect(await figure("duration_seconds", "job-1")).toBeUndefined();
    await running.stop();
  });

  test("a run that hangs counts as failed at its deadline, and its job does not look like one that works", async () => {
    const { pass, figure, running } = setUp({
      everyMs: second,
      deadlineMs: 5 * second,
      work: () => new Promise(() => {}),
    });
    await pass(second);
    await pass(5 * second);
    await pass(60 * second);
    expect(await figure("failures_total", "job-0")).toBe(1);
    expect(await figure("last_success_timestamp_seconds", "job-0")).toBe(start / 1_000);
    const stopped = running.stop();
    await pass(second);
    await stopped;
  });

  test("with a time of day are due the next time that it is that time", () => {
    const job = { everyMs: 24 * hour, atMs: 3 * hour };
    const at = (day: number, hours: number) => Date.UTC(2026, 10, day, hours);
    expect(nextTime(job, at(17, 1))).toBe(at(17, 3));
    expect(nextTime(job, at(17, 3))).toBe(at(18, 3));
    expect(nextTime(job, at(17, 23))).toBe(at(18, 3));
  });
});
