import { type Breaker, createBreaker } from "./base/breaker.ts";
import type { Clock } from "./base/clock.ts";
import { withDeadline } from "./base/deadline.ts";
import type { Logger } from "./base/log.ts";
import type { Metrics } from "./base/metrics.ts";
import { createRecorder, type Recorder } from "./clicks/recorder.ts";
import { type Cancelling, degrading } from "./limits/degrade.ts";
import type { EndedLease, LeaseStore, Total } from "./limits/leases.ts";
import { createMeters, type Drained, type Meters } from "./limits/meters.ts";
import { createMonth } from "./limits/month.ts";
import { type Outage, watched } from "./limits/watch.ts";
import { reasons } from "./redirect/decide.ts";
import type { Redis } from "./redis/client.ts";
import type { RedisLeases } from "./redis/leases.ts";
import type { SqlLeases } from "./sql/leases.ts";

/**
 * Counting hits on lenders that are there: meters spend leases, Redis or SQL lends them, the recorder writes down in SQL
 * what was spent, and Redis is told of leases that are over. `npm run prove -- limits` runs this very composition on
 * stores and clocks that fail.
 */
export interface Counting {
  readonly meters: Meters;
  /** Ends all leases and writes down the rest. */
  close(): Promise<void>;
}

/** What was written down, and what the months have come to. */
export type Recorded = (batch: readonly Drained[], totals: readonly Total[]) => void;

export interface CountingSettings {
  /** Of this instance, new with every start: its leases and recordings are known by it. */
  readonly id: string;
  readonly fromSql: SqlLeases;
  /** Without it, SQL lends. */
  readonly fromRedis: RedisLeases | undefined;
  readonly embedded: boolean;
  readonly outage: Outage;
  /** Told of what was written down. */
  readonly recorded: Recorded;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Logger;
}

const sqlDeadlineMs = 500;
const endMs = 1_000;
const redisFailures = 0.1;

export function startCounting(settings: CountingSettings): Counting {
  const { id, fromSql, fromRedis, embedded, outage, recorded, clock, metrics, log } = settings;
  let leases = 0;
  const store = lenderOf(fromRedis, inTime(fromSql, embedded), outage === "degrade");
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
      recorded(batch, totals);
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
    },
  };
}

/** One for everybody who asks the Redis of limits: whoever notices that it fails notices for all. */
export const createLimitsBreaker = ({
  clock,
  metrics,
  log,
}: Pick<CountingSettings, "clock" | "metrics" | "log">): Breaker =>
  createBreaker({
    of: "limits",
    metrics,
    clock,
    share: redisFailures,
    onChange: (open) =>
      open
        ? log.warn("Redis fails too often; limits leave it alone for a while")
        : log.info("Redis answers limits again"),
  });

export async function openRedisLeases(
  redis: Pick<Redis, "script">,
  sql: SqlLeases,
  clock: Clock,
): Promise<RedisLeases> {
  const { createRedisLeases } = await import("./redis/leases.ts");
  return createRedisLeases({ redis, clock, readTotal: sql.total });
}

function lenderOf(fromRedis: RedisLeases | undefined, fromSql: Cancelling, degrade: boolean): LeaseStore {
  if (fromRedis === undefined) return fromSql;
  return degrade ? degrading(fromRedis, fromSql) : fromRedis;
}

const endedOnRedis = ({ key, draws, month, lender, lease, unspent }: Drained): EndedLease[] =>
  lender === "redis" && lease !== undefined ? [{ key, draws, month, lease, unspent }] : [];

/** SQLite answers before a timer could run. A visitor does not wait for PostgreSQL as long as a statement may take. */
const inTime = (store: SqlLeases, embedded: boolean): Cancelling =>
  embedded ? store : { ...store, acquire: (ask) => withDeadline(store.acquire(ask), sqlDeadlineMs, "PostgreSQL") };
