/** The lenders that leases have to behave alike on: SQL on each database, one Redis, a Redis Cluster of three shards. */
import { afterAll, beforeAll, describe } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import { createLog } from "../../src/base/log.ts";
import { gatherPerTurn } from "../../src/base/per-turn.ts";
import { createRecorder } from "../../src/clicks/recorder.ts";
import type { Ask, EndedLease, FirstAnswer, FirstVisit, LeaseAnswer, Lender } from "../../src/limits/leases.ts";
import { createMeters, type Drained, type Meters } from "../../src/limits/meters.ts";
import type { Verdict } from "../../src/limits/verdict.ts";
import { monthName } from "../../src/limits/window.ts";
import { connectRedis, type Redis } from "../../src/redis/client.ts";
import { createRedisLeases } from "../../src/redis/leases.ts";
import { createSqlLeases } from "../../src/sql/leases.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { redisAvailable, startRedis, startRedisCluster } from "../ground/redis.ts";
import { connected, patientMs } from "./counter-stores.ts";
import { databases } from "./databases.ts";

/** A place that lends, and that several servers share. */
export interface Place {
  readonly lender: Lender;
  /** Where everything is recorded, whichever store lends. */
  readonly sql: Sql;
  instance(): Instance;
  /** Of this month: written down, and given out in all (written down included). */
  standing(code: string): Promise<{ counted: number; lent: number }>;
  stop(): Promise<void>;
}

export interface RedisPlace extends Place {
  readonly redis: Redis;
  /** FLUSHALL, on every shard. */
  forget(): Promise<void>;
}

/** One server's way of counting, put together as `src/server/limits.ts` does it. */
export interface Instance {
  readonly id: string;
  readonly meters: Meters;
  /** Under an unused ID. */
  ask(code: string, max: number, want?: number): Promise<LeaseAnswer>;
  acquire(ask: Ask): Promise<LeaseAnswer>;
  record(sequence: number, batch: readonly Drained[]): Promise<void>;
  visit(code: string, max: number | null): Verdict | Promise<Verdict>;
  /** How many of so many visits, one after the other, were granted. */
  visits(code: string, max: number, times: number): Promise<number>;
  /** In good order: everything is written down and given back. */
  stop(): Promise<void>;
}

export const reasons = ["counted", "bot"];
export const silent = createLog("silent", { write() {} }, false, systemClock.now);
export const thisMonth = () => monthName(systemClock.now());
export const sqlLeases = (sql: Sql) =>
  createSqlLeases(
    sql,
    systemClock,
    reasons,
    (code) => ({ domain: "", code }),
    () => 1,
  );

let names = 0;
/** A unique name of a link, a server or a lease. */
export const fresh = (what: string) => `${what}-${++names}`;

/** What an instance writes down when a lease is over and this much of it was spent. */
export function spentOf(answer: LeaseAnswer, code: string, spent: number): Drained {
  if (answer.kind !== "granted") throw new Error("there is no lease");
  const { lender, month, lease, size } = answer;
  const units = { spent: [spent, 0], units: spent, leased: spent, unspent: size - spent };
  return { key: code, draws: "hits", lender, month, lease, ...units };
}

export const endedOnRedis = ({ key, draws, month, lender, lease, unspent }: Drained): EndedLease[] =>
  lender === "redis" && lease !== undefined ? [{ key, draws, month, lease, unspent }] : [];

function newInstance(sql: Sql, redis: Redis | undefined): Instance {
  const id = fresh("instance");
  const fromSql = sqlLeases(sql);
  const fromRedis = redis && createRedisLeases({ redis, readTotal: fromSql.total });
  const store = fromRedis ?? fromSql;
  let leases = 0;
  const newLeaseId = () => `${id}.${++leases}`;

  async function record(sequence: number, batch: readonly Drained[]): Promise<void> {
    const totals = await fromSql.record(id, sequence, batch);
    fromRedis?.seen(totals);
    fromRedis?.end(batch.flatMap(endedOnRedis));
    await fromRedis?.flush();
  }

  const countFirst = gatherPerTurn<FirstVisit, FirstAnswer>(
    500,
    async (visits) => (await fromSql.countFirst(visits, () => true)).answers,
  );
  const meters = createMeters({
    reasons: reasons.length,
    store,
    countFirst: fromRedis === undefined && sql.dialect === "sqlite" ? countFirst : undefined,
    clock: systemClock,
    month: thisMonth,
    newLeaseId,
    patience: { redis: 5_000, sql: 5_000 },
    usedUp: () => recorder.soon(),
    flush: () => recorder.flush(),
  });
  const recorder = createRecorder({ meters, write: record, clock: systemClock, log: silent });
  const visit: Instance["visit"] = (code, max) => meters.spend(meters.of(code), "hits", max, 0);
  return {
    id,
    meters,
    record,
    visit,
    acquire: (ask) => store.acquire(ask),
    ask: (code, max, want = 1) => store.acquire({ id: newLeaseId(), key: code, draws: "hits", max, want }),
    async visits(code, max, times) {
      let granted = 0;
      for (let i = 0; i < times; i++) if ((await visit(code, max)).kind === "granted") granted++;
      return granted;
    },
    stop: () => recorder.stop(),
  };
}

async function quotaRow(sql: Sql, code: string): Promise<{ counted: number; reserved: number }> {
  const row = await sql.db
    .selectFrom("quotas")
    .select(["counted", "reserved"])
    .where("code", "=", code)
    .where("month", "=", thisMonth())
    .where("draws", "=", "hits")
    .executeTakeFirst();
  return row ?? { counted: 0, reserved: 0 };
}

async function onSql(open: () => Promise<Sql>): Promise<Place> {
  const sql = await open();
  return {
    lender: "sql",
    sql,
    instance: () => newInstance(sql, undefined),
    async standing(code) {
      const { counted, reserved } = await quotaRow(sql, code);
      return { counted, lent: counted + reserved };
    },
    stop: () => sql.close(),
  };
}

interface Servers {
  readonly url: string;
  flush(): Promise<void>;
  stop(): Promise<void>;
}

async function onRedis(start: () => Promise<Servers>): Promise<RedisPlace> {
  const [database] = databases;
  if (database === undefined) throw new Error("there is no database");
  const [sql, servers] = await Promise.all([database.open(), start()]);
  const redis = connectRedis(servers.url, { deadlineMs: patientMs });
  await connected(redis);
  return {
    lender: "redis",
    sql,
    redis,
    forget: servers.flush,
    instance: () => newInstance(sql, redis),
    async standing(code) {
      const { counted } = await quotaRow(sql, code);
      const key = monthKey(code);
      return { counted, lent: Number(await redis.send(key, ["HGET", key, "u"])) };
    },
    async stop() {
      await redis.close();
      await servers.stop();
      await sql.close();
    },
  };
}

export const monthKey = (code: string): string => `links:{${code}}:hits:${thisMonth()}`;

type Start<Kind> = readonly (readonly [name: string, start: () => Promise<Kind>])[];

const redisPlaces: Start<RedisPlace> = redisAvailable()
  ? [
      ["Redis", () => onRedis(startRedis)],
      ["Redis Cluster", () => onRedis(startRedisCluster)],
    ]
  : [];
const places: Start<Place> = [...databases.map(({ name, open }) => [name, () => onSql(open)] as const), ...redisPlaces];

/** Runs the suite once for each lender, and stops what it started. */
export const onEachLender = (suite: (place: () => Place) => void): void => onEach(places, suite);

export const onEachRedis = (suite: (place: () => RedisPlace) => void): void => onEach(redisPlaces, suite);

function onEach<Kind extends Place>(starts: Start<Kind>, suite: (place: () => Kind) => void): void {
  for (const [name, start] of starts) {
    describe(`leases from ${name}`, () => {
      let place: Kind | undefined;
      beforeAll(async () => {
        place = await start();
      });
      afterAll(async () => {
        await place?.stop();
      });
      suite(() => {
        if (place === undefined) throw new Error("the lender has not started");
        return place;
      });
    });
  }
}
