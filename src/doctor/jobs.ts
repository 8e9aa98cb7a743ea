import { toIso } from "../base/clock.ts";
import { type JobState, readJobs } from "../sql/jobs.ts";
import { schemaState } from "../sql/migrate.ts";
import type { Sql } from "../sql/sql.ts";
import { type Finding, ok, warn } from "./finding.ts";

const name = "jobs";

/**
 * Jobs that one server runs for all, as the database has them: it does not matter whether a server is running. A job is
 * failing from a failed run to the next success; its figures in each process are metrics.
 */
export async function jobsOf(sql: Sql): Promise<Finding[]> {
  if ((await schemaState(sql)).pending.length > 0) return [];
  const jobs = await readJobs(sql);
  const failing = jobs.flatMap(judge);
  if (failing.length > 0) return failing;
  const succeeded = jobs.flatMap(({ succeededAt }) => succeededAt ?? []);
  const last =
    succeeded.length === 0 ? "none has run yet" : `the last one succeeded at ${toIso(Math.max(...succeeded))}`;
  return [ok(name, `none of ${jobs.length} is failing; ${last}`)];
}

function judge({ name: job, succeededAt, failures, error, unfinishedSince }: JobState): Finding[] {
  const since = succeededAt === null ? "it has never succeeded" : `it last succeeded at ${toIso(succeededAt)}`;
  if (failures > 0) {
    const times = failures === 1 ? "once" : `${failures} times`;
    return [
      warn(
        name,
        `${job} failed ${times}: ${error ?? "no reason known"}; ${since}`,
        'See "A job keeps failing" in docs/runbook.md.',
      ),
    ];
  }
  if (unfinishedSince === null) return [];
  const found = `${job} began at ${toIso(unfinishedSince)} and has not ended; ${since}`;
  return [warn(name, found, "A running server takes it over within 15 seconds. If none is running, start one.")];
}
