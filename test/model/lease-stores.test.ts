/**
 * Random calls against every lender, each compared with a reference that knows of each lease what it was given and what
 * was spent of it. After every call the store must hold as used exactly what the reference says: so a grant over the
 * limit, an id that is answered twice or an undo that creates credit is seen at once.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { systemClock } from "../../src/base/clock.ts";
import { largestLease } from "../../src/limits/lease-size.ts";
import type { Ask, LeaseAnswer, LeaseStore } from "../../src/limits/leases.ts";
import { connectRedis, type Redis } from "../../src/redis/client.ts";
import { createRedisLeases } from "../../src/redis/leases.ts";
import { createSqlLeases } from "../../src/sql/leases.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { connected, patientMs } from "../conformance/counter-stores.ts";
import { databases } from "../conformance/databases.ts";
import { until } from "../ground/process.ts";
import { type RedisServer, redisAvailable, startRedis } from "../ground/redis.ts";

type Granted = Extract<LeaseAnswer, { kind: "granted" }>;

/** A lender, and what an instance does with its leases. */
interface Lending extends LeaseStore {
  /** So much of it was spent, the rest goes back. `again` repeats the last one as it was. */
  finish(ask: Ask, lease: Granted, spent: number, again: boolean): Promise<void>;
  takeBack(ask: Ask, month: string): Promise<void>;
  used(key: string, month: string): Promise<number>;
  stop(): Promise<void>;
}

let names = 0;

async function onSql(sql: Sql): Promise<Lending> {
  const store = createSqlLeases(
    sql,
    systemClock,
    ["counted"],
    (code) => ({ domain: "", code }),
    () => 1,
  );
  const recorder = `recorder-${++names}`;
  let sequence = 0;
  const used = (key: string, month: string) => store.total({ key, draws: "hits", month });
  return {
    acquire: store.acquire,
    async finish({ key, draws }, { lease, size, month }, spent, again) {
      if (!again) sequence++;
      const units = { spent: [spent], units: spent, leased: spent, unspent: size - spent };
      await store.record(recorder, sequence, [{ key, draws, month, lender: "sql", ...units, lease }]);
    },
    async takeBack(ask) {
      store.cancel(ask);
      // An ask that is answered later shows that it is done: they are worked off in turn.
      const isThere = () => sql.db.selectFrom("leases").select("id").where("id", "=", ask.id).executeTakeFirst();
      await until("the ask to be taken back", async () => (await isThere()) === undefined || undefined);
    },
    used,
    stop: () => sql.close(),
  };
}

async function onRedis(): Promise<Lending> {
  const server: RedisServer = await startRedis();
  const redis: Redis = connectRedis(server.url, { deadlineMs: patientMs });
  await connected(redis);
  const leases = createRedisLeases({ redis, readTotal: async () => 0 });
  const end = async ({ id, key, draws }: Ask, month: string, unspent: number | "all") => {
    leases.end([{ key, draws, month, lease: id, unspent }]);
    await leases.flush();
  };
  return {
    acquire: leases.acquire,
    finish: (ask, { size, month }, spent) => end(ask, month, size - spent),
    takeBack: (ask, month) => end(ask, month, "all"),
    async used(key, month) {
      const name = `links:{${key}}:hits:${month}`;
      return Number((await redis.send(name, ["HGET", name, "u"])) ?? 0);
    },
    async stop() {
      await redis.close();
      await server.stop();
    },
  };
}

interface Lease {
  readonly ask: Ask;
  readonly answer: Granted;
  state: "open" | "finished" | "back";
  spent: number;
}

class Reference {
  readonly leases = new Map<number, Lease>();
  max = 300;

  constructor(readonly key: string) {}

  get used(): number {
    let used = 0;
    for (const { state, answer, spent } of this.leases.values()) used += state === "open" ? answer.size : spent;
    return used;
  }
}

type Step = fc.AsyncCommand<Reference, Lending>;

const ids = fc.nat({ max: 30 });

function step(text: string, run: (reference: Reference, lending: Lending) => Promise<void>): Step {
  return {
    check: () => true,
    toString: () => text,
    async run(reference, lending) {
      await run(reference, lending);
      const [lease] = reference.leases.values();
      if (lease !== undefined) expect(await lending.used(reference.key, lease.answer.month)).toBe(reference.used);
    },
  };
}

const steps = [
  fc.tuple(ids, fc.integer({ min: 1, max: 50 })).map(([id, want]) =>
    step(`acquire(${id}, ${want})`, async (reference, lending) => {
      const before = reference.leases.get(id);
      if (before !== undefined && before.state !== "open") return; // no instance asks again for what it has ended
      const { key, max, used } = reference;
      const ask: Ask = before?.ask ?? { id: `${key}.${id}`, key, draws: "hits", max, want };
      const answer = await lending.acquire(ask);
      if (before !== undefined) {
        expect(answer).toMatchObject({ kind: "granted", size: before.answer.size, month: before.answer.month });
      } else if (answer.kind === "denied") {
        expect(used).toBeGreaterThanOrEqual(max);
      } else {
        expect(used + answer.size).toBeLessThanOrEqual(max);
        expect(answer.size).toBeLessThanOrEqual(largestLease(max));
        reference.leases.set(id, { ask, answer, state: "open", spent: 0 });
      }
    }),
  ),
  fc.tuple(ids, fc.float({ min: 0, max: 1, noNaN: true }), fc.boolean()).map(([id, share, again]) =>
    step(`finish(${id}, ${share}, ${again})`, async (reference, lending) => {
      const lease = reference.leases.get(id);
      if (lease === undefined || lease.state !== "open") return;
      lease.spent = Math.floor(lease.answer.size * share);
      lease.state = "finished";
      await lending.finish(lease.ask, lease.answer, lease.spent, false);
      if (again) await lending.finish(lease.ask, lease.answer, lease.spent, true);
    }),
  ),
  fc.tuple(ids, fc.boolean()).map(([id, again]) =>
    step(`takeBack(${id}, ${again})`, async (reference, lending) => {
      const lease = reference.leases.get(id);
      if (lease === undefined) return;
      // One that has ended, or was taken back before, gives nothing back any more.
      await lending.takeBack(lease.ask, lease.answer.month);
      if (again) await lending.takeBack(lease.ask, lease.answer.month);
      if (lease.state === "open") lease.state = "back";
    }),
  ),
  fc.tuple(fc.nat({ max: 20 })).map(([id]) =>
    step(`takeBack of what was never given (${id})`, async (reference, lending) => {
      const [lease] = reference.leases.values();
      if (lease === undefined) return;
      const ask = { ...lease.ask, id: `${reference.key}.never${id}` };
      await lending.takeBack(ask, lease.answer.month);
    }),
  ),
  fc.integer({ min: 0, max: 600 }).map((max) =>
    step(`the limit becomes ${max}`, async (reference) => {
      reference.max = max;
    }),
  ),
];

const lenders: readonly (readonly [name: string, start: () => Promise<Lending>, runs: number])[] = [
  ...databases.map(({ name, open }) => [name, async () => onSql(await open()), name === "SQLite" ? 40 : 10] as const),
  ...(redisAvailable() ? [["Redis", onRedis, 40] as const] : []),
];

for (const [name, start, runs] of lenders) {
  describe(name, () => {
    let lending: Lending;
    beforeAll(async () => {
      lending = await start();
    });
    afterAll(() => lending.stop());

    test("lends as the reference does, in any order of calls", async () => {
      const calls = fc.commands(steps, { maxCommands: 60, size: "max" });
      await fc.assert(
        fc.asyncProperty(calls, async (commands) => {
          const setUp = () => ({ model: new Reference(`model-${++names}`), real: lending });
          await fc.asyncModelRun(setUp, commands);
        }),
        { numRuns: runs, endOnFailure: true },
      );
    }, 120_000);
  });
}
