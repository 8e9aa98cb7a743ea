import { expect, test } from "bun:test";
import { until } from "../ground/process.ts";
import { redisAvailable, startRedis } from "../ground/redis.ts";
import { startServer } from "../ground/server.ts";
import { databases, query, type Site, siteOf, startSite } from "./servers.ts";

interface Finding {
  readonly status: string;
  readonly check: string;
  readonly found: string;
}

const jobFindings = async ({ cli }: Site) =>
  (JSON.parse((await cli("doctor", "--json")).stdout) as Finding[]).filter(({ check }) => check === "jobs");

const figure = async ({ visit }: Site, name: string, job: string) =>
  new RegExp(`^quicklink_job_${name}\\{job_name="${job}"\\} (.*)$`, "m").exec((await visit("/metrics")).text)?.[1];

/** Jobs are planned a second after the start; then time passes by moving their rows. */
const makeDue = (site: Site, ...jobs: string[]) =>
  until("the jobs to be planned", async () => {
    const names = jobs.map((job) => `'${job}'`).join(", ");
    const rows = await query(site.env, `update jobs set due_at = 0 where name in (${names}) returning name`);
    return rows.length === jobs.length || undefined;
  });

// They mostly wait for the next look at the table: side by side that takes a third of the time.
test.concurrent.each([...databases])(
  "on %s doctor and metrics show a job that fails, and that it works again",
  async (database) => {
    const site = await startSite(database);
    try {
      expect(await jobFindings(site)).toMatchObject([{ status: "ok" }]);
      // The sync of files cannot add up the tenants' rows.
      await query(site.env, "alter table tenant_storage rename to away");
      await makeDue(site, "files-sync", "clean");
      await until(
        "the failure",
        async () => (await figure(site, "failures_total", "files-sync")) === "1" || undefined,
        45_000,
      );
      const [failing, ...others] = await jobFindings(site);
      expect(others).toEqual([]);
      expect(failing).toMatchObject({
        status: "warn",
        found: expect.stringMatching(/^files-sync failed once: .*tenant_storage.*; it has never succeeded$/),
      });

      await query(site.env, "alter table away rename to tenant_storage");
      await makeDue(site, "files-sync");
      await until("the success", async () => (await jobFindings(site))[0]?.status === "ok" || undefined, 45_000);
      expect(Number(await figure(site, "last_success_timestamp_seconds", "clean"))).toBeGreaterThan(0);
    } finally {
      await site.server.stop();
    }
    // The database alone is enough.
    expect(await jobFindings(site)).toMatchObject([
      { status: "ok", found: expect.stringContaining("succeeded at 20") },
    ]);
  },
  120_000,
);

test.concurrent("an embedded server that was killed in the middle of a job runs it again when it starts", async () => {
  const site = await startSite("SQLite");
  const started = async () => (await query(site.env, "select started_at from jobs where name = 'clean'"))[0];
  // As if the run did not end: the claim stays.
  const unended = `create trigger unended after update of holder on jobs when new.holder is null begin
    update jobs set holder = old.holder, due_at = 9000000000000000 where name = new.name; end`;
  await query(site.env, unended);
  await makeDue(site, "clean");
  const first = await until(
    "the job to be claimed",
    async () => {
      const [row] = await query(site.env, "select started_at from jobs where name = 'clean' and holder is not null");
      return row;
    },
    45_000,
  );
  await site.server.kill();
  await query(site.env, "drop trigger unended");
  const again = await startServer({ env: site.env, dataDir: site.server.dataDir, key: site.server.key });
  try {
    await until("the job to run again", async () => !Bun.deepEquals(await started(), first) || undefined, 45_000);
  } finally {
    await again.stop();
  }
}, 120_000);

/** Notes each run of a job. */
const noteRuns = [
  "create table job_runs (name text)",
  `create function note_run() returns trigger language plpgsql as $$
    begin insert into job_runs values (new.name); return new; end $$`,
  `create trigger note_run after update of started_at on jobs for each row
    when (new.started_at is distinct from old.started_at) execute function note_run()`,
];

if (redisAvailable() && databases.includes("PostgreSQL")) {
  test.concurrent("of two servers one runs a job that is one for all, once per interval, and both know when", async () => {
    const redis = await startRedis();
    const one = await startSite("PostgreSQL", { REDIS_URL: redis.url });
    const env = { ...one.env, REDIS_URL: redis.url };
    const other = siteOf(await startServer({ env, dataDir: one.server.dataDir, key: one.server.key }), one.env);
    const intervals = 2;
    try {
      for (const statement of noteRuns) await query(one.env, statement);
      let last = 0;
      for (let interval = 0; interval < intervals; interval++) {
        await makeDue(one, "clean");
        const known = async (site: Site) => {
          const at = Number(await figure(site, "last_success_timestamp_seconds", "clean"));
          const [row] = (await query(one.env, "select succeeded_at from jobs where name = 'clean'")) as Success[];
          const succeeded = Number(row?.succeeded_at) / 1_000;
          return (succeeded > last && at >= succeeded) || undefined;
        };
        for (const site of [one, other]) await until("the success to be known", () => known(site), 60_000);
        last = Number(await figure(one, "last_success_timestamp_seconds", "clean"));
      }
      expect(await query(one.env, "select name from job_runs where name = 'clean'")).toHaveLength(intervals);
    } finally {
      await Promise.all([one.server.stop(), other.server.stop()]);
      await redis.stop();
    }
  }, 180_000);
}

interface Success {
  readonly succeeded_at: string | number | null;
}
