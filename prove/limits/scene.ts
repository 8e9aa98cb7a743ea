/** What one seed plays on: clocks, stores, links and instances. */
import { type Clock, systemClock } from "../../src/base/clock.ts";
import type { Draws } from "../../src/limits/leases.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { createLuaRedis, fieldOf, type LuaRedis } from "../../test/ground/lua-redis.ts";
import { type Books, createBooks, type WorldKind } from "./books.ts";
import type { Code } from "./code.ts";
import { createDice, type Dice } from "./dice.ts";
import { noFaults, type Tally } from "./faults.ts";
import { createInstance, type Instance, type Stores, start } from "./instance.ts";
import { createRedisNetwork, type Surroundings, type Tell, type Weather } from "./network.ts";
import { startVirtualTime, type VirtualTime } from "./time.ts";

export interface Link {
  readonly key: string;
  max: number | null;
  /** That it had during the run. */
  highest: number;
  /** For a while it had no limit, and what it owes to the recorder has no bound. */
  wasFree: boolean;
}

export interface Scene {
  readonly kind: WorldKind;
  readonly dice: Dice;
  readonly time: VirtualTime;
  readonly troubleMs: number;
  readonly weather: Weather;
  readonly tally: Tally;
  readonly links: readonly Link[];
  /** Those that run; a crashed one leaves. */
  readonly instances: Set<Instance>;
  readonly books: Books;
  readonly tell: Tell;
  readonly redis: LuaRedis;
  readonly redisClock: { offMs: number; jumpedAt: number; latest: number; now(): number };
  readonly sqlClock: Clock;
  /** A new instance, under a new name, with its own wall clock. */
  launch(): Instance;
  readonly instanceCount: number;
}

export const worldKinds: readonly WorldKind[] = ["sql", "redis", "degrade", "loss", "file"];
export const kindOf = (seed: number): WorldKind => worldKinds[seed % worldKinds.length] ?? "sql";

const monthEnd = Date.UTC(2026, 10);
const midMonth = Date.UTC(2026, 9, 16, 12);
const months = ["2026-10", "2026-11"];
const maxima = [20, 150, 400, 1_000, 3_000, 20_000];

export async function createScene(seed: number, code: Code, sql: Sql, tell: Tell): Promise<Scene> {
  const dice = createDice(seed);
  const kind = kindOf(seed);
  const troubleMs = dice.between(8, 24) * 1_000;
  const endsMonth = dice.happens(0.5);
  const startsAt = (endsMonth ? monthEnd : midMonth) - dice.between(2_000, troubleMs);
  // Only one server may use a file.
  const instanceCount = kind === "file" ? 1 : dice.between(1, 4);
  const tally = noFaults();
  if (endsMonth) tally.month_end++;
  const links = Array.from({ length: dice.pick([1, 1, 2, 3]) }, (_, i): Link => {
    const max = dice.pick(maxima);
    return { key: `link${i}`, max, highest: max, wasFree: false };
  });

  const time = startVirtualTime(startsAt, dice.split());
  const weather: Weather = { share: dice.pick([0, 0.02, 0.1, 0.3]), redisPausedUntil: 0, sqlAwayUntil: 0 };
  const around: Surroundings = {
    ...{ time, dice: dice.split(), weather, tally },
    tell: (line) => tell(() => `${new Date(time.now).toISOString()} ${line()}`),
  };
  const redisClock = {
    offMs: dice.between(-1_500, 1_500),
    jumpedAt: Number.NEGATIVE_INFINITY,
    latest: 0,
    now: () => time.now + redisClock.offMs,
  };
  const sqlOffMs = dice.between(-1_500, 1_500);
  const sqlClock: Clock = {
    now: () => time.now + sqlOffMs,
    elapsed: () => time.now,
    attended: () => time.now,
    after: systemClock.after,
    afterWait: systemClock.after,
  };
  const instances = new Set<Instance>();

  function held(key: string, draws: Draws, month: string): number {
    let units = 0;
    for (const { meters } of instances) {
      const lane = meters?.of(key)[draws];
      if (lane === undefined) continue;
      for (const lease of [lane, lane.next]) {
        if (lease !== undefined && lease.month === month && time.now < lease.validUntil) units += lease.left;
      }
    }
    return units;
  }

  const books = createBooks({
    tell: around.tell,
    kind,
    instances: instanceCount,
    now: () => time.now,
    redisLeapt: () => tally.redis_clock_forward > 0,
    held,
    current: (key) => links.find((link) => link.key === key)?.max ?? Number.POSITIVE_INFINITY,
    highest: (key) => links.find((link) => link.key === key)?.highest ?? 0,
  });
  await prepare(sql, dice, links, books);

  const redis = await createLuaRedis(redisClock.now);
  const network = createRedisNetwork(around, redis, {
    sending: books.sending,
    executed(run) {
      const hash = redis.stored(run.key);
      const used = fieldOf(hash, "u");
      books.executed(run, used === undefined ? undefined : Number(used), Number.isFinite(hash?.expiresAt));
    },
  });
  const unavailable = (cause: unknown) => new code.redisClient.RedisUnavailable(cause);
  const stores: Stores = {
    code,
    sql,
    sqlClock,
    embedded: kind === "file",
    connectRedis: kind === "sql" || kind === "file" ? undefined : (caller) => network.connect(caller, unavailable),
    degrade: kind === "degrade" || kind === "loss",
    holders: instanceCount,
  };

  let launched = 0;
  function launch(): Instance {
    const instance = createInstance(`i${++launched}`, dice.between(-2_000, 2_000), around);
    instances.add(instance);
    time.after(0, () => start(instance, stores, around, books), instance);
    return instance;
  }
  const clocks = { time, redisClock, sqlClock };
  return {
    kind,
    dice,
    troubleMs,
    weather,
    tally,
    links,
    instances,
    instanceCount,
    books,
    redis,
    ...clocks,
    launch,
    tell: around.tell,
  };
}

/** An empty database, with most of the limits spent already: what is interesting happens towards their end. */
async function prepare(sql: Sql, dice: Dice, links: readonly Link[], books: Books): Promise<void> {
  for (const table of ["quotas", "hits", "leases", "recorders"] as const) await sql.db.deleteFrom(table).execute();
  const rows = links.flatMap(({ key, highest }) =>
    months.flatMap((month) =>
      (["hits", "exempt"] as const).map((draws) => {
        const counted = dice.happens(0.7) ? Math.max(0, highest - Math.ceil((highest / 100) * dice.between(5, 25))) : 0;
        books.startWith(key, draws, month, counted);
        return { domain: "", code: key, month, draws, counted, reserved: 0, lent_until: 0 };
      }),
    ),
  );
  await sql.db.insertInto("quotas").values(rows).execute();
}
