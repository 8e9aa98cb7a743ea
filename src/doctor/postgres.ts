import { sql as raw } from "kysely";
import { systemClock } from "../base/clock.ts";
import type { Config } from "../config/config.ts";
import type { Sql } from "../sql/sql.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** Checks of PostgreSQL itself, and of a replica. */
type Look = (sql: Sql) => Promise<Finding[]>;

export const encoding: Look = async (sql) => {
  const found = await ask(sql, raw<Value>`select current_setting('server_encoding') as value`);
  if (found === "UTF8") return [];
  const advice = "Create a database with: createdb --encoding=UTF8 --template=template0 NAME";
  return [fail("database encoding", `${found}: cannot store all titles and tags`, advice)];
};

/** Connections of this machine only; other machines need theirs from the same maximum. */
export const connections =
  ({ QL_WORKERS: workers, QL_DATABASE_POOL: pool }: Config): Look =>
  async (sql) => {
    const most = Number(
      await ask(
        sql,
        raw<Value>`select (current_setting('max_connections')::int
          - current_setting('superuser_reserved_connections')::int)::text as value`,
      ),
    );
    const name = "database connections";
    const found = `${workers} × ${pool} for this machine, of ${most}`;
    if (workers * pool <= most) return [ok(name, found)];
    return [fail(name, found, "Lower QL_DATABASE_POOL or QL_WORKERS, or raise PostgreSQL's max_connections.")];
  };

const lagMostMs = 1_000;
const lookMs = 50;

/** Waits until the replica has replayed everything the primary has written so far; the time this takes is its lag. */
export const replicaOf =
  (primary: Sql): Look =>
  async (replica) => {
    const name = "database replica";
    const following = await ask(replica, raw<Value>`select pg_is_in_recovery()::text as value`);
    if (following !== "true") {
      const advice = "Set DATABASE_REPLICA_URL to a streaming replica of DATABASE_URL, or unset it.";
      return [fail(name, "is not a replica: it accepts writes and would never show edits", advice)];
    }
    const written = await ask(primary, raw<Value>`select pg_current_wal_lsn()::text as value`);
    const started = systemClock.elapsed();
    for (;;) {
      const behind = Number(
        await ask(
          replica,
          raw<Value>`select pg_wal_lsn_diff(${written}::pg_lsn, pg_last_wal_replay_lsn())::text as value`,
        ),
      );
      const ms = systemClock.elapsed() - started;
      if (behind <= 0) return [ok(name, `lags by ${ms.toFixed(0)} ms`)];
      if (ms > lagMostMs) {
        const advice =
          "Find the cause in pg_stat_replication on the primary: a paused replay, or a long query on the replica.";
        return [warn(name, `is more than a second behind, by ${behind} bytes: edits are seen as late`, advice)];
      }
      await new Promise((resolve) => setTimeout(resolve, lookMs));
    }
  };

interface Value {
  readonly value: string;
}

async function ask({ db }: Sql, question: ReturnType<typeof raw<Value>>): Promise<string> {
  return (await question.execute(db)).rows[0]?.value ?? "";
}
