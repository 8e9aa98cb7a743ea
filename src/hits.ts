import { randomBytes } from "node:crypto";
import type { Logger } from "./base/log.ts";
import type { Metrics } from "./base/metrics.ts";
import { type Core, openUnforced } from "./core.ts";
import { type LimitsRedis, openRedisLeases, type Recorded, startCounting } from "./counting.ts";
import type { Meters } from "./limits/meters.ts";
import { splitKey } from "./links/link.ts";
import { reasons } from "./redirect/decide.ts";
import { createSqlLeases } from "./sql/leases.ts";

/**
 * Counting hits on this server's stores. On SQLite with a connection of its own that does not wait for the disk at every
 * commit: that is safe through kill -9, and after a power cut a second of counts may be missing.
 */
export interface Hits {
  readonly meters: Meters;
  close(): Promise<void>;
}

export interface HitSettings {
  readonly core: Core;
  /** Of the limits; without it, SQL lends. */
  readonly redis: LimitsRedis | undefined;
  /** How many instances may hold a lease of one limit. */
  readonly holders: () => number;
  /** Told of what was written down. */
  readonly recorded: Recorded;
  readonly metrics: Metrics;
  readonly log: Logger;
}

export async function openHits({ core, redis, holders, recorded, metrics, log }: HitSettings): Promise<Hits> {
  const { config, clock } = core;
  const { embedded, QL_HITS_OUTAGE: outage } = config;
  const sql = await openUnforced(core);
  const id = randomBytes(12).toString("base64url");
  const fromSql = createSqlLeases(sql, clock, reasons, splitKey, holders);
  const counting = startCounting({
    id,
    fromSql,
    fromRedis: redis && (await openRedisLeases(redis, fromSql, clock)),
    embedded,
    outage,
    wait: config.wait,
    visitorsBreakerOf: redis && (({ key }) => redis.visitors.of(redis.ownerOf(`{${key}}`))),
    recorded,
    clock,
    metrics,
    log,
  });
  return {
    meters: counting.meters,
    async close() {
      await counting.close();
      if (sql !== core.sql) await sql.close();
    },
  };
}
