/**
 * The connections from an instance to its stores. A store acts at one moment, atomically; what happens to the request
 * before and to the reply after is decided by the seed. An instance that has crashed or given up cannot recall what it
 * sent.
 */
import type { KyselyPlugin, Transaction } from "kysely";
import { systemClock } from "../../src/base/clock.ts";
import { withDeadline } from "../../src/base/deadline.ts";
import type { Redis } from "../../src/redis/client.ts";
import type { Schema } from "../../src/sql/schema.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { fieldOf, type LuaRedis } from "../../test/ground/lua-redis.ts";
import type { Dice } from "./dice.ts";
import type { Tally } from "./faults.ts";

import type { Owner, VirtualTime } from "./time.ts";

/** As the real client has it for commands that say nothing else. */
const redisDeadlineMs = 250;
/** Its timers are those of the simulation; waits are never longer because the process is busy. */
const simulated = { afterWait: systemClock.after };
/** Too late for a visitor, and often not for a lease that is asked for ahead. */
const lateLeastMs = 51;
/** When a request or reply comes after all. Shorter than the script remembers an ended lease, its pause included. */
const lateMostMs = 4_000;
/** PostgreSQL and its pool give up at five seconds. */
const sqlGivesUpMs = 5_000;
const farMs = [1, 20] as const;
/** How long a server tries to get the lock of a file. */
const lockMostMs = 5_000;
const lockTriesMs = 200;

export interface Weather {
  /** The share of calls with their own fault. */
  share: number;
  /** In true time. */
  redisPausedUntil: number;
  sqlAwayUntil: number;
}

export interface Caller extends Owner {
  readonly name: string;
  /** A connection that is refused, for this one alone or for all. */
  redisAwayUntil: number;
}

/** A trace line, for debugging a single seed; built only then. */
export type Tell = (line: () => string) => void;

export interface Surroundings {
  readonly time: VirtualTime;
  readonly dice: Dice;
  readonly weather: Weather;
  readonly tally: Tally;
  readonly tell: Tell;
}

type Fate = "well" | "request_lost" | "reply_lost" | "reply_late" | "executed_late" | "executed_twice";
const troubles: readonly Fate[] = ["request_lost", "reply_lost", "reply_late", "executed_late", "executed_twice"];

class Unreachable extends Error {
  override readonly name = "Unreachable";
}

/** Of the lease script. */
type Reply = readonly (string | number)[];

export interface Executed {
  readonly caller: string;
  readonly key: string;
  readonly args: readonly string[];
  readonly reply: Reply;
  /** Whether this run made the key. */
  readonly made: boolean;
  /** A second run of the same request. */
  readonly again: boolean;
  /** A newer request of the caller for this key has run before: the caller does not act on the reply. */
  readonly overtaken: boolean;
  /** What `sending` said when it was sent. */
  readonly known: number;
}

/** Those who watch: asked when something is sent to Redis, told when it has run. */
export interface Watcher {
  sending(caller: string, key: string): number;
  executed(run: Executed): void;
}

/** One Redis for all callers. */
export function createRedisNetwork(
  { time, dice, weather, tally, tell }: Surroundings,
  redis: LuaRedis,
  watcher: Watcher,
) {
  let sent = 0;
  /** The latest request of each caller and key that has run. */
  const newest = new Map<string, number>();

  function request(caller: string, text: string, keys: readonly string[], args: readonly string[]): () => Reply {
    const [key = ""] = keys;
    const number = ++sent;
    const known = watcher.sending(caller, key);
    const way = `${caller} ${key}`;
    let runs = 0;
    return () => {
      const before = newest.get(way) ?? 0;
      if (before > number) tally.executed_after_newer++;
      newest.set(way, Math.max(before, number));
      const isThere = () => fieldOf(redis.stored(key), "u") !== undefined;
      const wasThere = isThere();
      const reply = redis.script(text, keys, args) as Reply;
      tell(() => `${caller} runs on Redis ${key} (${args.slice(4).join(" ")}): ${reply.join(" ")}`);
      watcher.executed({
        caller,
        key,
        args,
        reply,
        made: !wasThere && isThere(),
        again: runs++ > 0,
        overtaken: before > number,
        known,
      });
      return reply;
    };
  }

  /** Requests that arrive during a pause run when it ends, in order of arrival. */
  function arrive(run: () => void): void {
    if (weather.redisPausedUntil > time.now) time.after(weather.redisPausedUntil - time.now, () => arrive(run));
    else run();
  }

  function deliver(caller: Caller, ms: number, give: () => void): void {
    time.after(
      ms,
      () => {
        // A stopped process that continues sees its timers first, or its sockets.
        if (caller.pausedUntil === time.now && dice.happens(0.5)) time.after(0, give, caller);
        else give();
      },
      caller,
    );
  }

  function ask(caller: Caller, text: string, keys: readonly string[], args: readonly string[]): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const far = () => dice.between(...farMs);
      if (caller.redisAwayUntil > time.now) {
        deliver(caller, far(), () => reject(new Unreachable("connection refused")));
        return;
      }
      const run = request(caller.name, text, keys, args);
      const late = () => dice.between(lateLeastMs, lateMostMs);
      const fate = dice.happens(weather.share) ? dice.pick(troubles) : "well";
      if (fate !== "well") {
        tally[fate]++;
        tell(() => `${caller.name} asks Redis ${keys[0]} (${args.slice(4).join(" ")}): ${fate}`);
      }
      if (fate === "request_lost") return;
      time.after(fate === "executed_late" ? late() : far(), () =>
        arrive(() => {
          const reply = run();
          if (fate === "reply_lost") return;
          deliver(caller, fate === "reply_late" ? late() : far(), () => resolve(reply));
        }),
      );
      if (fate === "executed_twice") time.after(dice.between(1, lateMostMs), () => arrive(run));
    });
  }

  return {
    /** The real client, as far as leases see it: with its deadline, and with its error. */
    connect: (caller: Caller, unavailable: (cause: unknown) => Error): Pick<Redis, "script"> => ({
      async script(script, keys, args, deadlineMs = redisDeadlineMs) {
        try {
          return await withDeadline(ask(caller, script.text, keys, args), deadlineMs, "Redis", simulated);
        } catch (error) {
          throw unavailable(error);
        }
      },
    }),
  };
}

/** The same database, seen over a network. Transactions run one at a time, whole. */
export function overNetwork(
  sql: Sql,
  caller: Caller,
  { time, dice, weather, tally, tell }: Surroundings,
  /** What a transaction answered, whether or not the caller will hear it. */
  committed: (result: unknown) => void,
): Sql {
  const far = () => dice.between(...farMs);
  const pass = (ms: number) => new Promise<void>((resolve) => time.after(ms, resolve, caller));

  async function fail(ms: number): Promise<never> {
    await pass(ms);
    throw new Unreachable("the connection to the database is gone");
  }

  async function meet(): Promise<void> {
    if (weather.sqlAwayUntil <= time.now) return;
    await fail(dice.happens(0.5) ? far() : dice.between(100, sqlGivesUpMs));
  }

  const readLater: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      await meet();
      const isLate = dice.happens(weather.share / 2);
      if (isLate) tally.sql_late++;
      await pass(isLate ? dice.between(500, lateMostMs) : far());
      return result;
    },
  };

  return {
    ...sql,
    db: sql.db.withPlugin(readLater),
    async transaction<Result>(work: (trx: Transaction<Schema>) => Promise<Result>): Promise<Result> {
      await meet();
      const fate = dice.happens(weather.share / 2)
        ? dice.pick(["request_lost", "reply_lost", "late"] as const)
        : "well";
      if (fate !== "well") tally[`sql_${fate}`]++;
      if (fate === "request_lost") return await fail(dice.between(50, sqlGivesUpMs));
      const answered = Promise.withResolvers<Result>();
      const lateMs = fate === "late" ? dice.between(500, lateMostMs) : 0;
      const isLateThere = dice.happens(0.5);
      // Belongs to no instance: a commit in flight arrives even if the caller crashes meanwhile.
      time.after(far() + (isLateThere ? lateMs : 0), async () => {
        try {
          const result = await sql.transaction(work);
          tell(() => `${caller.name} commits in SQL, ${fate}: ${JSON.stringify(result)}`);
          committed(result);
          time.after(far() + (isLateThere ? 0 : lateMs), () => answered.resolve(result), caller);
        } catch (error) {
          time.after(far(), () => answered.reject(error), caller);
        }
      });
      if (fate === "reply_lost") return await fail(dice.between(50, sqlGivesUpMs));
      return await answered.promise;
    },
  };
}

/**
 * The same database as a file. Others may keep its lock for a while, and a transaction may fail; but whoever began one hears what became
 * of it before anything else happens.
 */
export function inFile(
  sql: Sql,
  caller: Caller,
  { time, dice, weather, tally, tell }: Surroundings,
  committed: (result: unknown) => void,
): Sql {
  const pass = (ms: number) => new Promise<void>((resolve) => time.after(ms, resolve, caller));
  return {
    ...sql,
    async transaction<Result>(work: (trx: Transaction<Schema>) => Promise<Result>): Promise<Result> {
      for (const until = time.now + lockMostMs; weather.sqlAwayUntil > time.now; ) {
        if (time.now >= until) throw new Unreachable("the database is locked");
        await pass(dice.between(1, lockTriesMs));
      }
      if (dice.happens(weather.share / 2)) {
        tally.sql_locked++;
        await pass(dice.between(1, lockTriesMs));
      }
      if (dice.happens(weather.share / 4)) {
        tally.sql_failed++;
        throw new Unreachable("the disk is full");
      }
      const result = await sql.transaction(work);
      tell(() => `${caller.name} commits to its file: ${JSON.stringify(result)}`);
      committed(result);
      return result;
    },
  };
}
