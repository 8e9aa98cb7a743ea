import { sql as raw } from "kysely";
import type { Metrics } from "../base/metrics.ts";
import type { Sql } from "./sql.ts";

/**
 * The lag of a replica: the age of the last commit it has replayed. Servers write to the primary every two seconds, so
 * it is below that while all is well, and grows when the replica falls behind or loses its primary. Sampled every five
 * seconds; a replica that does not answer has no value, and neither has a server without one.
 */
export function watchReplica(replica: Sql | undefined, metrics: Metrics): (() => Promise<void>) | undefined {
  let lagSeconds: number | undefined;
  metrics.series(
    "gauge",
    {
      name: "quicklink_replica_lag_seconds",
      help: "Age of the last commit that DATABASE_REPLICA_URL has replayed, by its clock and that of the primary.",
      labels: [],
      merged: "max",
    },
    () => (lagSeconds === undefined ? [] : [[{}, lagSeconds]]),
  );
  if (replica === undefined) return undefined;
  return async () => {
    lagSeconds = await readLag(replica).catch((error: unknown) => {
      lagSeconds = undefined;
      throw error;
    });
  };
}

/** `undefined` before its first commit. A server that is not a replica is never behind. */
async function readLag({ db }: Sql): Promise<number | undefined> {
  const { rows } = await raw<{ replica: boolean; seconds: number | null }>`
    select pg_is_in_recovery() as replica,
      extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8 as seconds`.execute(db);
  const [row] = rows;
  if (row === undefined || row.seconds === null) return row?.replica === false ? 0 : undefined;
  return Math.max(0, row.seconds);
}
