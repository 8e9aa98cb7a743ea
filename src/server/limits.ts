import { randomBytes } from "node:crypto";
import { type Breaker, type BreakerRule, type Breakers, createBreakers } from "../base/breaker.ts";
import type { Clock } from "../base/clock.ts";
import { Late, withDeadline } from "../base/deadline.ts";
import type { Logger } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import type { Patience } from "../base/patience.ts";
import { gatherPerTurn } from "../base/per-turn.ts";
import { repeat } from "../base/repeat.ts";
import { createRecorder, type Recorder } from "../clicks/recorder.ts";
import type { OutagePolicy } from "../limits/call-limiter.ts";
import { type Cancelling, degrading } from "../limits/degrade.ts";
import { monitorLeases } from "../limits/lease-monitor.ts";
import type { Ask, EndedLease, FirstAnswer, FirstVisit, LeaseStore, RecordedTotal } from "../limits/leases.ts";
import { createMeters, type Drained, type LinkHits, type Meters } from "../limits/meters.ts";
import { createMonth } from "../limits/window.ts";
import { type LinkKey, splitKey } from "../links/link.ts";
import { hitReasons } from "../redirect/decide.ts";
import type { Redis } from "../redis/client.ts";
import type { RedisLeases } from "../redis/leases.ts";
import type { SqlLeases } from "../sql/leases.ts";
import { createSqlLeases } from "../sql/leases.ts";
import type { Sql } from "../sql/sql.ts";
import type { Wiring } from "./wiring.ts";

/**
 * Counts hits with this server's stores. On SQLite it uses a connection that does not wait for the disk at every
 * commit: safe through kill -9, and after a power cut up to a second of counts may be missing.
 */
export type Hits = Pick<Counting, "meters" | "moved">;

export interface HitSettings {
  /** Of `openVisits`. */
  readonly visits: Sql;
  /** The Redis of limits; without it, SQL lends. */
  readonly redis: LimitsRedis | undefined;
  /** How many instances may hold a lease of one limit. */
  readonly holders: () => number;
  /** Called with what was recorded. */
  readonly onRecorded: HitsRecorded;
}

export async function openHits(
  { core, metrics, log, opened }: Wiring,
  { visits, redis, holders, onRecorded }: HitSettings,
): Promise<Hits> {
  const { config, clock } = core;
  const { embedded, QL_HITS_OUTAGE: outage } = config;
  const id = randomBytes(12).toString("base64url");
  const fromSql = createSqlLeases(visits, clock, hitReasons, splitKey, holders);
  const counting = startCounting({
    id,
    fromSql,
    fromRedis: redis && (await openRedisLeases(redis, fromSql, clock)),
    embedded,
    outage,
    wait: config.wait,
    visitorsBreakerOf: redis && (({ key }) => redis.visitors.of(redis.ownerOf(`{${key}}`))),
    onRecorded,
    clock,
    metrics,
    log,
  });
  opened.defer(() => counting.close());
  metrics.gauge("quicklink_meters", "Links whose hits are counted.", () => counting.meters.size);
  return counting;
}

/**
 * Counts hits with the given lenders: meters spend leases, Redis or SQL lends them, the recorder stores in SQL what was
 * spent, and Redis is told of ended leases. `npm run prove -- limits` runs this composition on failing stores and
 * clocks.
 */
export interface Counting {
  readonly meters: Meters;
  /** A link has this key now, with hits of another one. Redis may know an earlier month of the key, with fewer. */
  moved(key: LinkKey): Promise<void>;
  /** Ends all leases and records the rest. */
  close(): Promise<void>;
}

/** What was recorded, and the new totals of the months. */
export type HitsRecorded = (hits: readonly LinkHits[], totals: readonly RecordedTotal[]) => void;

export interface CountingSettings {
  /** ID of this instance, new with every start: identifies its leases and recordings. */
  readonly id: string;
  readonly fromSql: SqlLeases;
  /** Without it, SQL lends. */
  readonly fromRedis: RedisLeases | undefined;
  readonly embedded: boolean;
  readonly outage: OutagePolicy;
  /** How long a visitor waits. A lease requested ahead has a second for each store. */
  readonly wait: Readonly<Patience>;
  /** Of the Redis node that has the limit: whether it is fast enough for visitors. */
  readonly visitorsBreakerOf: ((ask: Ask) => Breaker) | undefined;
  /** Called with what was recorded. */
  readonly onRecorded: HitsRecorded;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Logger;
}

const sqlDeadlineMs = 1_000;
/** On SQLite, where the serving thread writes them: about a millisecond. */
const rowsAtOnce = 64;
/** First visits in one transaction. */
const firstMost = 500;
const endMs = 1_000;
const endDeadlineMs = 30_000;

export function startCounting(settings: CountingSettings): Counting {
  const { id, fromSql, fromRedis, embedded, outage, wait, onRecorded, clock, metrics, log } = settings;
  let leases = 0;
  const second = inTime(fromSql, embedded, clock);
  const breakerOf = outage === "degrade" ? settings.visitorsBreakerOf : undefined;
  const degraded = fromRedis && breakerOf && degrading(fromRedis, second, { waitMs: wait.redis, breakerOf, clock });
  const store: LeaseStore = degraded ?? fromRedis ?? second;
  const monitor = monitorLeases({ usual: fromRedis ? "redis" : "sql", outage, clock, metrics, log });
  let recorder: Recorder | undefined;

  /** Visits of the same turn of the event loop share the commit, and the wait for it. */
  const countFirst = gatherPerTurn<FirstVisit, FirstAnswer>(firstMost, async (visits) => {
    let areAwaited = true;
    const counted = fromSql
      .countFirst(visits, () => areAwaited)
      .then(
        ({ answers, totals }) => {
          monitor.first(visits.length);
          onRecorded(totals.map(oneHit), totals);
          return answers;
        },
        (error: unknown) => {
          if (!(error instanceof Late)) monitor.first(visits.length, error);
          throw error;
        },
      );
    try {
      return await withDeadline(counted, wait.sql, "SQLite", clock);
    } catch (error) {
      areAwaited = false;
      throw error;
    }
  });

  const meters = createMeters({
    reasons: hitReasons.length,
    store: monitor.of(store),
    countFirst: embedded && fromRedis === undefined ? countFirst : undefined,
    clock,
    month: createMonth(clock),
    newLeaseId: () => `${id}.${++leases}`,
    patience: wait,
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
      onRecorded(batch, totals);
    },
    ...(embedded && { rowsMost: rowsAtOnce }),
    clock,
    log,
  });
  metrics.gauge(
    "quicklink_recorder_failing",
    "1 while hits cannot be recorded and are kept in memory.",
    () => Number(recorder.failing),
    "max",
  );
  const tell = async () => fromRedis?.flush().catch(() => {}); // it is retried, and the breaker reports what is wrong
  const telling = repeat({
    name: "telling Redis of ended leases",
    ...{ everyMs: endMs, deadlineMs: endDeadlineMs, stopMs: endMs, work: tell, clock, log },
  });
  return {
    meters,
    async moved(key) {
      for (const draws of ["hits", "exempt"] as const) await fromRedis?.raise({ key, draws });
    },
    async close() {
      await telling.stop();
      await recorder.stop().catch(() => log.error("the last hits could not be recorded and are lost"));
      await tell();
    },
  };
}

export interface LimitsBreakers {
  /** One breaker per node of the limits Redis, shared by all callers: a failure seen by one counts for all. */
  readonly all: Breakers;
  /** In front of those, for visitors, who have less time. */
  readonly visitors: Breakers;
}

/** The Redis of limits, behind its circuit breakers. */
export interface LimitsRedis extends Redis {
  readonly visitors: LimitsBreakers["visitors"];
}

/**
 * An answer of the node that has `key`, for a waiting visitor: late answers count as failures, and after too many they
 * are not awaited.
 */
export const forVisitors =
  ({ visitors, ownerOf }: Pick<LimitsRedis, "visitors" | "ownerOf">, waitMs: number) =>
  <Result>(key: string, answer: Promise<Result>): Promise<Result> =>
    visitors.of(ownerOf(key)).run(() => withDeadline(answer, waitMs, "Redis"));

export function createLimitsBreakers({
  nodes,
  rule,
  clock,
  metrics,
  log,
}: Pick<CountingSettings, "clock" | "metrics" | "log"> & {
  readonly nodes: () => readonly string[];
  readonly rule: BreakerRule;
}): LimitsBreakers {
  const both = { nodes, rule, clock, metrics };
  return {
    all: createBreakers({
      ...both,
      of: "limits",
      onChange: (open, node) =>
        open
          ? log.warn({ node }, "Redis fails too often; pausing limits in Redis")
          : log.info({ node }, "Redis is available for limits again"),
    }),
    visitors: createBreakers({
      ...both,
      of: "limits_visitors",
      onChange: (open, node) =>
        open
          ? log.warn({ node }, "Redis is too slow for waiting visitors; using SQL for them for a while")
          : log.info({ node }, "Redis is fast enough for waiting visitors again"),
    }),
  };
}

export async function openRedisLeases(
  redis: Pick<Redis, "script"> & Partial<Pick<Redis, "slotOf">>,
  sql: SqlLeases,
  clock: Clock,
): Promise<RedisLeases> {
  const { createRedisLeases } = await import("../redis/leases.ts");
  return createRedisLeases({ redis, clock, readTotal: sql.total });
}

const oneHit = ({ key }: RecordedTotal): LinkHits => ({ key, units: 1 });

const endedOnRedis = ({ key, draws, month, lender, lease, unspent }: Drained): EndedLease[] =>
  lender === "redis" && lease !== undefined ? [{ key, draws, month, lease, unspent }] : [];

/** SQLite answers before a timer could fire; PostgreSQL may take longer than a lease is worth waiting for. */
const inTime = (store: SqlLeases, embedded: boolean, clock: Clock): Cancelling =>
  embedded
    ? store
    : { ...store, acquire: (ask) => withDeadline(store.acquire(ask), sqlDeadlineMs, "PostgreSQL", clock) };
