import { expect, test } from "bun:test";
import { type Edit, mutant } from "../ground/mutant.ts";
import { until } from "../ground/process.ts";
import { redisAvailable, startRedis } from "../ground/redis.ts";
import { startServer } from "../ground/server.ts";
import { databases, newDatabase, query, type Site, siteOf, startSite } from "./servers.ts";

interface Finding {
  readonly status: string;
  readonly check: string;
  readonly found: string;
}

/** Copies of the program that look at the table every two seconds. */
const soon: Edit = { file: "base/jobs.ts", from: "lookMs = 15_000", to: "lookMs = 2_000" };
const source = mutant([soon]);

const jobFindings = async ({ cli }: Site) =>
  (JSON.parse((await cli("doctor", "--json")).stdout) as Finding[]).filter(({ check }) => check === "jobs");

const figure = async ({ visit }: Site, name: string, job: string) =>
  new RegExp(`^quicklink_job_${name}\\{job_name="${job}"\\} (.*)$`, "m").exec((await visit("/metrics")).text)?.[1];

/** Jobs are planned a second after the start; then time passes by moving their rows. */
const makeDue = (site: Pick<Site, "env">, ...jobs: string[]) =>
  until("the jobs to be planned", async () => {
    const names = jobs.map((job) => `'${job}'`).join(", ");
    const rows = await query(site.env, `update jobs set due_at = 0 where name in (${names}) returning name`);
    return rows.length === jobs.length || undefined;
  });

// They mostly wait for the next look at the table.
test.concurrent.each([...databases])(
  "on %s doctor and metrics show a job that fails, and that it works again",
  async (database) => {
    const site = await startSite(database, {}, source);
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
  const site = await startSite("SQLite", {}, source);
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
  const again = await startServer({ env: site.env, dataDir: site.server.dataDir, key: site.server.key, source });
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
    const one = await startSite("PostgreSQL", { REDIS_URL: redis.url }, source);
    const env = { ...one.env, REDIS_URL: redis.url };
    const other = siteOf(await startServer({ env, dataDir: one.server.dataDir, key: one.server.key, source }), one.env);
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

  test("what a server was running when it was killed is taken over by another, long before the deadline", async () => {
    const redis = await startRedis();
    // A copy of the program that waits for seconds instead of a minute.
    const source = mutant([
      soon,
      { file: "sql/instances.ts", from: "silentMs = 60_000", to: "silentMs = 9_000" },
      { file: "sql/heartbeat.ts", from: "lapseMs = 40_000", to: "lapseMs = 7_000" },
    ]);
    const first = await newDatabase("PostgreSQL");
    const env = { ...first, REDIS_URL: redis.url };
    const one = await startServer({ env, source });
    const other = await startServer({ env, source, key: one.key });
    const claim = async () => {
      const held = `select j.started_at, i.pid from jobs j left join instances i on i.id = j.holder
        where j.name = 'clean' and j.holder is not null`;
      return ((await query(env, held)) as { started_at: string; pid: string | null }[])[0];
    };
    try {
      for (const statement of unendedClaims) await query(env, statement);
      await makeDue({ env }, "clean");
      const held = await until("the job to be claimed", claim, 45_000);
      const [victim, heir] = Number(held.pid) === one.pid ? [one, other] : [other, one];
      expect(Number(held.pid)).toBe(victim.pid);
      await victim.kill();
      const taken = await until(
        "the other to take over",
        async () => {
          const now = await claim();
          return now?.started_at === held.started_at ? undefined : now;
        },
        60_000,
      );
      expect(Number(taken?.pid)).toBe(heir.pid);
      expect(await heir.stop()).toBe(0);
    } finally {
      await Promise.all([one.kill(), other.kill()]);
      await redis.stop();
    }
  }, 180_000);
}

/** As if no run ended: claims stay until an hour from now. */
const unendedClaims = [
  `create function unended() returns trigger language plpgsql as $$
    begin new.holder = old.holder; new.due_at = old.due_at; return new; end $$`,
  `create trigger unended before update of holder on jobs for each row
    when (new.holder is null and old.holder is not null) execute function unended()`,
];

interface Success {
  readonly succeeded_at: string | number | null;
}
