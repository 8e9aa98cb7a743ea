import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { createBreaker } from "./base/breaker.ts";
import { withDeadline } from "./base/deadline.ts";
import type { Logger } from "./base/log.ts";
import type { Metrics } from "./base/metrics.ts";
import { createRecorder, type Recorder } from "./clicks/recorder.ts";
import type { Core } from "./core.ts";
import { degrading } from "./limits/degrade.ts";
import type { EndedLease, LeaseStore } from "./limits/leases.ts";
import { createMeters, type Drained, type Meters } from "./limits/meters.ts";
import { createMonth } from "./limits/month.ts";
import { watched } from "./limits/watch.ts";
import { ownDomain } from "./links/link.ts";
import { reasons } from "./redirect/decide.ts";
import type { Redis } from "./redis/client.ts";
import type { RedisLeases } from "./redis/leases.ts";
import { createSqlLeases, type SqlLeases } from "./sql/leases.ts";
import type { Sql } from "./sql/sql.ts";

/**
 * Counting hits, put together: meters spend leases, Redis or SQL lends them, the recorder writes down in SQL what was
 * spent. On SQLite with a connection of its own that does not wait for the disk at every commit: that is safe through
 * kill -9, and after a power cut a second of counts may be missing.
 */
export interface Hits {
  readonly meters: Meters;
  close(): Promise<void>;
}

export interface HitSettings {
  readonly core: Core;
  /** Of the limits; without it, SQL lends. */
  readonly redis: Redis | undefined;
  /** How many instances may hold a lease of one limit. */
  readonly holders: () => number;
  /** Told of what was written down. */
  readonly recorded: (batch: readonly Drained[]) => void;
  readonly metrics: Metrics;
  readonly log: Logger;
}

const sqlDeadlineMs = 500;
const endMs = 1_000;
const redisFailures = 0.1;

export async function openHits({ core, redis, holders, recorded, metrics, log }: HitSettings): Promise<Hits> {
  const { config, clock } = core;
  const outage = config.QL_HITS_OUTAGE;
  const sql = config.embedded ? await openCounting(join(config.QL_DATA, "quicklink.sqlite")) : core.sql;
  const id = randomBytes(12).toString("base64url");
  let leases = 0;
  const split = (key: string) => ({ domain: ownDomain, code: key });
  const fromSql = createSqlLeases(sql, clock, reasons, split, holders);
  const fromRedis = redis && (await openRedisLeases(redis, fromSql, { core, metrics, log }));
  const store = lenderOf(fromRedis, inTime(fromSql, config.embedded), outage === "degrade");
  let recorder: Recorder | undefined;
  const meters = createMeters({
    reasons: reasons.length,
    store: watched(store, { usual: fromRedis ? "redis" : "sql", outage, clock, metrics, log }),
    clock,
    month: createMonth(clock),
    newLeaseId: () => `${id}.${++leases}`,
    usedUp: () => recorder?.soon(),
    flush: async () => recorder?.flush(),
    open: outage === "open",
  });
  recorder = createRecorder({
    meters,
    async write(sequence, batch) {
      const totals = await fromSql.record(id, sequence, batch);
      fromRedis?.seen(totals);
      fromRedis?.end(batch.flatMap(endedOnRedis));
      recorded(batch);
    },
    log,
  });
  metrics.gauge(
    "quicklink_recorder_failing",
    "1 while hits cannot be written down; they are kept in memory.",
    () => Number(recorder.failing),
    "max",
  );
  const tell = async () => fromRedis?.flush().catch(() => {}); // it is told again, and the breaker says what is wrong
  const timer = setInterval(tell, endMs);
  return {
    meters,
    async close() {
      clearInterval(timer);
      await recorder.stop().catch(() => log.error("the last hits could not be written down and are lost"));
      await tell();
      if (sql !== core.sql) await sql.close();
    },
  };
}

function lenderOf(fromRedis: RedisLeases | undefined, fromSql: LeaseStore, degrade: boolean): LeaseStore {
  if (fromRedis === undefined) return fromSql;
  return degrade ? degrading(fromRedis, fromSql) : fromRedis;
}

const endedOnRedis = ({ key, draws, month, lender, lease, unspent }: Drained): EndedLease[] =>
  lender === "redis" && lease !== undefined ? [{ key, draws, month, lease, unspent }] : [];

/** SQLite answers before a timer could run. A visitor does not wait for PostgreSQL as long as a statement may take. */
const inTime = (store: SqlLeases, embedded: boolean): LeaseStore =>
  embedded ? store : { acquire: (ask) => withDeadline(store.acquire(ask), sqlDeadlineMs, "PostgreSQL") };

async function openRedisLeases(
  redis: Redis,
  sql: SqlLeases,
  { core: { clock }, metrics, log }: Pick<HitSettings, "core" | "metrics" | "log">,
): Promise<RedisLeases> {
  const { createRedisLeases } = await import("./redis/leases.ts");
  const { guarded } = await import("./redis/guarded.ts");
  const breaker = createBreaker({
    of: "limits",
    metrics,
    clock,
    share: redisFailures,
    onChange: (open) =>
      open
        ? log.warn("Redis fails too often; limits leave it alone for a while")
        : log.info("Redis answers limits again"),
  });
  return createRedisLeases({ redis: guarded(redis, breaker), clock, readTotal: sql.total });
}

async function openCounting(path: string): Promise<Sql> {
  const { openSqlite } = await import("./sql/sqlite.ts");
  return openSqlite(path, "normal");
}
