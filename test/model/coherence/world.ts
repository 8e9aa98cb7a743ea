/**
 * Two instances on one Redis and one database, and what must be true of them in whichever order things happen:
 *
 * - No instance serves an older version of a link after a newer one, nor an older one than it acknowledged itself.
 * - When all is over and each has read the feed once more, each serves the newest version.
 * - So does one that starts then and has nothing in memory: nothing older is left in Redis that would be believed.
 */
import type { Scheduler } from "fast-check";
import { manualClock } from "../../../src/base/clock.ts";
import type { CacheCounts } from "../../../src/cache/hit-counts.ts";
import type { Data } from "../../ground/lua-redis.ts";
import type { Code } from "./code.ts";
import { type Instance, openInstance } from "./instance.ts";
import { createModelRedis } from "./redis.ts";
import { codes, type Event, type Name, names, type Scenario, type Write } from "./scenario.ts";
import { createModelSql } from "./sql.ts";
import { createSteps } from "./steps.ts";

const start = 1_800_000_000_000;
/** How long an instance follows the feed before it begins with an empty Redis. */
const followedMs = 3_000;
/** Of each instance's clock: only Redis' own may count. */
const skewMs = { A: 0, B: 20_000, C: -20_000 };

/** Throws when something is served that must not be; answers how lookups were answered. */
export async function play(code: Code, scheduler: Scheduler, { events, fates }: Scenario): Promise<CacheCounts[]> {
  const steps = createSteps(scheduler, fates);
  const clock = manualClock(start);
  const sql = createModelSql(steps);
  const redis = await createModelRedis(steps, clock);
  const shown = new Map<string, number>();
  const wrong: string[] = [];
  let saved: Data = redis.data.snapshot();

  async function open(name: keyof typeof skewMs): Promise<Instance> {
    const own = { ...clock, now: () => clock.now() + skewMs[name] };
    return await openInstance({ code, sql, redis: redis.connect(name), clock: own, steps });
  }

  steps.isCalm = true;
  const instances = { A: await open("A"), B: await open("B") };
  await readFeed();
  clock.advance(followedMs);
  await readFeed();
  steps.isCalm = false;
  for (const event of events) void steps.several(event.kind, 1 + event.after).then(() => happen(event));
  await steps.idle();
  steps.isCalm = true;
  await readFeed();
  // First, because an instance that remembers more than Redis corrects it by asking.
  await expectNothingOlderInRedis();
  for (const name of names) for (const one of codes) await expectNewest(name, instances[name], one);
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
  return names.map((name) => instances[name].counts);

  async function readFeed(): Promise<void> {
    for (const name of names) instances[name].tick();
    await steps.idle();
  }

  function happen(event: Event): unknown {
    switch (event.kind) {
      case "look":
        return look(event.at, event.code);
      case "write":
        return write(event);
      case "tick":
        return instances[event.at].tick();
      case "pass":
        return clock.advance(event.ms);
      case "save":
        saved = redis.data.snapshot();
        return;
      case "restart":
        return redis.restart({ saved, nothing: new Map(), latest: redis.data.snapshot() }[event.from]);
      case "flush":
        return redis.data.command(["FLUSHALL"]);
    }
  }

  async function look(name: Name, one: string): Promise<void> {
    const place = `${name} ${one}`;
    const answer = await instances[name].cache.lookup(one).catch(() => undefined);
    if (answer === undefined) return; // "ask again" is an answer too
    const { version, value } = answer;
    const newest = shown.get(place) ?? 0;
    if (version < newest) wrong.push(`${name} served version ${version} of ${one} after ${newest}`);
    if (value !== undefined && value.name !== `${one} ${version}`)
      wrong.push(`${value.name} is not version ${version}`);
    shown.set(place, Math.max(version, newest));
  }

  async function write({ at, code: one, something, heard, dies }: Write): Promise<void> {
    const change = await sql.change(one, something);
    if (dies) return;
    instances[at].publish(change);
    shown.set(`${at} ${one}`, Math.max(change.version, shown.get(`${at} ${one}`) ?? 0));
    for (const name of names) {
      for (let i = 0; i < heard[name]; i++) void steps.step(`${name} is woken`).then(instances[name].wake);
    }
  }

  async function expectNewest(name: string, { cache }: Instance, one: string): Promise<void> {
    const { version } = await cache.lookup(one);
    const newest = sql.newest(one).version;
    if (version !== newest) wrong.push(`in the end ${name} serves version ${version} of ${one} instead of ${newest}`);
  }

  /** It has to be believed, or else this would show nothing. */
  async function expectNothingOlderInRedis(): Promise<void> {
    const fresh = await open("C");
    fresh.tick();
    await steps.idle();
    if (!codes.every(fresh.tier.trusts)) wrong.push("in the end Redis is not believed");
    for (const one of codes) await expectNewest("C", fresh, one);
  }
}
