/** Which faults a seed brings, and when. Each is counted when it happens. */
import { fieldOf } from "../../test/ground/lua-redis.ts";
import type { WorldKind } from "./books.ts";
import type { Dice } from "./dice.ts";
import type { FaultKind } from "./faults.ts";
import type { Instance } from "./instance.ts";
import type { Link, Scene } from "./scene.ts";

/** A request that comes late to a Redis that is paused must still meet what the script remembers of its lease. */
const redisPauseMostMs = 5_000;
const outageMostMs = 12_000;
const hourMs = 3_600_000;
const monthMs = 31 * 24 * hourMs;

interface Trouble {
  readonly fault: FaultKind;
  /** In which worlds; by default in all. */
  readonly worlds?: readonly WorldKind[];
  /** Whether there was anything to strike. */
  strike(scene: Scene, dice: Dice, begin: () => void): boolean;
}

const withRedis: readonly WorldKind[] = ["redis", "degrade", "loss"];

function instanceOf({ instances }: Scene, dice: Dice): Instance | undefined {
  return instances.size === 0 ? undefined : dice.pick([...instances]);
}

/** By milliseconds, seconds or up to an hour. */
const jumpMs = (dice: Dice): number => dice.between(50, dice.pick([900, 20_000, hourMs]));

const instanceClock = (fault: FaultKind, jump: (dice: Dice) => number): Trouble => ({
  fault,
  strike(scene, dice) {
    const one = instanceOf(scene, dice);
    if (one !== undefined) one.offMs += jump(dice);
    return one !== undefined;
  },
});

const redisClock = (fault: FaultKind, jump: (dice: Dice) => number): Trouble => ({
  fault,
  worlds: withRedis,
  strike({ redisClock, time }, dice) {
    redisClock.latest = Math.max(redisClock.latest, redisClock.now());
    redisClock.offMs += jump(dice);
    redisClock.jumpedAt = time.now;
    return true;
  },
});

const limit = (fault: FaultKind, change: (link: Link, max: number, scene: Scene, dice: Dice) => void): Trouble => ({
  fault,
  strike(scene, dice) {
    const link = dice.pick(scene.links);
    if (link.max === null) return false;
    change(link, link.max, scene, dice);
    link.highest = Math.max(link.highest, link.max ?? 0);
    return true;
  },
});

const troubles: readonly Trouble[] = [
  {
    fault: "crash",
    strike(scene, dice, begin) {
      const victim = instanceOf(scene, dice);
      if (victim === undefined) return false;
      victim.alive = false;
      scene.instances.delete(victim);
      scene.books.crash(victim.name);
      scene.time.after(dice.between(100, 3_000), begin);
      return true;
    },
  },
  {
    fault: "pause",
    strike(scene, dice) {
      const victim = instanceOf(scene, dice);
      if (victim === undefined) return false;
      victim.pausedUntil = scene.time.now + dice.between(200, outageMostMs);
      return true;
    },
  },
  {
    fault: "redis_pause",
    worlds: withRedis,
    strike({ weather, time }, dice) {
      // Two in a row would be one that lasts too long.
      if (weather.redisPausedUntil > time.now) return false;
      weather.redisPausedUntil = time.now + dice.between(300, redisPauseMostMs);
      return true;
    },
  },
  {
    fault: "redis_away",
    worlds: withRedis,
    strike({ instances, time }, dice) {
      const until = time.now + dice.between(500, outageMostMs);
      const forAll = dice.happens(0.5);
      for (const one of instances) if (forAll || dice.happens(0.4)) one.redisAwayUntil = until;
      return instances.size > 0;
    },
  },
  {
    fault: "redis_loss",
    worlds: ["loss"],
    strike({ redis, books }) {
      redis.restore(new Map());
      books.lost(() => false);
      return true;
    },
  },
  {
    fault: "redis_failover",
    worlds: ["loss"],
    strike({ redis, books, time, tell }, dice) {
      const then = redis.snapshot();
      time.after(dice.between(500, 10_000), () => {
        redis.restore(then);
        books.lost((key, lease) => /^\d/.test(fieldOf(then.get(key), `l:${lease}`) ?? ""));
        tell(() => "Redis is as it was");
      });
      return true;
    },
  },
  {
    fault: "sql_away",
    strike({ weather, time }, dice) {
      weather.sqlAwayUntil = time.now + dice.between(500, dice.pick([3_000, outageMostMs, 25_000]));
      return true;
    },
  },
  instanceClock("clock_back", (dice) => -jumpMs(dice)),
  instanceClock("clock_forward", jumpMs),
  instanceClock("clock_month_off", (dice) => (dice.happens(0.5) ? monthMs : -monthMs)),
  redisClock("redis_clock_back", (dice) => -jumpMs(dice)),
  redisClock("redis_clock_forward", jumpMs),
  limit("limit_raised", (link, max, _, dice) => {
    link.max = Math.ceil(max * (1 + dice.next() / 5));
  }),
  limit("limit_lowered", (link, max, { books }, dice) => {
    books.lowered(link.key);
    link.max = Math.floor(max * (1 - dice.next() / 5));
  }),
  limit("limit_removed", (link, max, { time }, dice) => {
    link.max = null;
    link.wasFree = true;
    time.after(dice.between(300, 6_000), () => {
      link.max = max;
    });
  }),
];

/** `begin` starts a new instance after a crash. */
export function bringTrouble(scene: Scene, begin: () => void): void {
  const { kind, time, troubleMs, tally, tell } = scene;
  for (const { fault, worlds, strike } of troubles) {
    const dice = scene.dice.split();
    if (worlds !== undefined && !worlds.includes(kind)) continue;
    for (let times = dice.pick([0, 0, 1, 1, 2, 3]); times > 0; times--) {
      time.after(dice.between(100, troubleMs), () => {
        if (!strike(scene, dice, begin)) return;
        tally[fault]++;
        tell(() => `TROUBLE ${fault}`);
      });
    }
  }
}

/** Everything is reachable again, and nothing is paused. */
export function endTrouble({ weather, instances, links, time }: Scene): void {
  weather.share = 0;
  weather.redisPausedUntil = 0;
  weather.sqlAwayUntil = 0;
  for (const one of instances) {
    one.redisAwayUntil = 0;
    one.pausedUntil = Math.min(one.pausedUntil, time.now);
  }
  for (const link of links) link.max ??= link.highest;
}
