/**
 * An edit is soon visible everywhere, and no server goes back.
 *
 * Three servers share one PostgreSQL and one Redis. Visitors ask all of them for the same few links, all the time,
 * while those are edited; the version of a link is in its destination. `record.ts` defines staleness, going back and a
 * wrong answer; `judge.ts` decides. The phases:
 *
 * - all is well: a change wakes the others
 * - no wake-ups: Redis allows no subscriptions
 * - Redis is killed, and returns with data from many edits ago
 * - a server is killed between its commit and its answer, so that it cannot announce the change
 * - the operator suspends and restores a link and a tenant, changes the plan and the limit of a tenant, and the limits
 *   of a plan, by commands (`switches.ts`)
 *
 * And what deleting the key and letting the next reader fill it would have left behind, on the same stores.
 *
 * Promised: 100 ms for 99 of 100 edits while servers are woken, 3 s otherwise; the server that accepted an edit serves
 * it with its next answer; no going back, no wrong answer.
 */
import { progress } from "../bench/show.ts";
import { connectRedis } from "../src/redis/client.ts";
import { until } from "../test/ground/process.ts";
import type { Server } from "../test/ground/server.ts";
import { editOne, type HotLink } from "./coherence/hot-link.ts";
import { conclude, type Judged, judge, type Rules } from "./coherence/judge.ts";
import { createRecord, type Record } from "./coherence/record.ts";
import { trySeedPolicy } from "./coherence/seed-policy.ts";
import { type Site, serverCount, startSite } from "./coherence/site.ts";
import { flip, switches } from "./coherence/switches.ts";
import { edit, visit } from "./coherence/traffic.ts";
import { type Proof, wholly } from "./proof.ts";

export const coherence: Proof = {
  name: "coherence",
  shows: "3 servers, edits under constant reads: seen everywhere in time, and no server goes back",
  needs: ["postgresql", "redis-server"],
  options: ["edits"],
  controls: [],
  run: wholly(run),
};

const writersKilled = 5;
const boundMs = 3_000;
/** Until the last acknowledged edit must have been seen, plus a margin. */
const afterwardsMs = 3_500;
const switchedTimes = 3;
const channel = "ql:invalidate";

type Shown = ReturnType<typeof progress>;

/** A change invalidates the old answer at once; if SQL then misses its 100 ms, visitors get 503. */
const usually: Rules = { p99Ms: boundMs, maxMs: boundMs, unansweredMost: 0.01, ownAtOnce: true };
/** All servers ask SQL at once when Redis goes away, and again when it is back. */
const inTrouble: Rules = { ...usually, unansweredMost: 0.05 };

interface Phase {
  readonly name: string;
  readonly rules: (server: number) => Rules;
  /** Further figures. */
  readonly work: (site: Site, record: Record, edits: number, shown: Shown) => Promise<string>;
}

const phases: readonly Phase[] = [
  { name: "woken", rules: () => ({ ...usually, p99Ms: 100 }), work: woken },
  { name: "not_woken", rules: () => usually, work: unheard },
  { name: "redis_went_back", rules: () => inTrouble, work: redisGoesBack },
  {
    name: "writer_killed",
    rules: (server) => ({ ...inTrouble, killed: server === serverCount - 1 }),
    work: killWriters,
  },
];

async function run(options: ReadonlyMap<string, number>): Promise<boolean> {
  const edits = options.get("edits") ?? 2_000;
  const shown = progress();
  shown.now("starting PostgreSQL, Redis and three servers");
  const site = await startSite();
  const judged: Judged[] = [];
  try {
    const held = [await editsAreSeen(site, edits, shown, judged), await switchesAreSeen(site, shown, judged)];
    shown.now("the policy of the seed");
    const { links, staleFills, longestMs } = await trySeedPolicy(site.databaseUrl, site.redis.url);
    shown.end();
    console.log(
      `seed_policy links=${links} stale_fills=${staleFills} longest_ms=${Math.round(longestMs)} (when we stopped looking)`,
    );
    for (const { unjudged } of judged) if (unjudged !== undefined) console.log(`NOT JUDGED ${unjudged}`);
    return held.every(Boolean);
  } finally {
    shown.end();
    await site.stop();
  }
}

/** Each phase: runs it, waits until everything must have been seen, judges every server. */
async function editsAreSeen(site: Site, edits: number, shown: Shown, judged: Judged[]): Promise<boolean> {
  const record = createRecord(serverCount);
  const visitors = visit(site, record);
  let holds = true;
  try {
    for (const { name, rules, work } of phases) {
      const more = await work(site, record, edits, shown);
      await Bun.sleep(afterwardsMs);
      const servers = record.conclude().map((one, server) => judge(`${name} server=${server}`, one, rules(server)));
      holds = conclude(servers) && holds;
      judged.push(...servers);
      if (more !== "") console.log(`${name}${more}`);
    }
  } finally {
    await visitors.stop();
  }
  return holds;
}

async function switchesAreSeen(site: Site, shown: Shown, judged: Judged[]): Promise<boolean> {
  const [first] = site.switched;
  let holds = true;
  for (const one of switches(first?.code ?? "")) {
    shown.now(one.name);
    const links = one.name === "link_suspended" ? site.switched.slice(0, 1) : site.switched;
    const recorded = await flip(site, one, links, switchedTimes, afterwardsMs);
    const servers = recorded.map((figures, server) => judge(`${one.name} server=${server}`, figures, usually));
    holds = conclude(servers) && holds;
    judged.push(...servers);
  }
  return holds;
}

const fewerOf = (edits: number): number => Math.ceil(0.3 * edits);

const counting = (shown: Shown, name: string, of: number) => (done: number) =>
  shown.now(`${name}: ${done} of ${of} edits`);

async function woken(site: Site, record: Record, edits: number, shown: Shown): Promise<string> {
  await edit(site, record, edits, counting(shown, "woken", edits));
  return "";
}

/** Disconnects subscribers, and keeps them out until the end. */
async function unheard(site: Site, record: Record, edits: number, shown: Shown): Promise<string> {
  const { redis } = site;
  const fewer = fewerOf(edits);
  await redis.command("ACL", "SETUSER", "default", "resetchannels");
  let heard = 0;
  await edit(site, record, fewer, (done) => {
    counting(shown, "not_woken", fewer)(done);
    if (done % 50 === 0) void redis.command("PUBSUB", "CHANNELS").then((channels) => (heard += Number(channels)));
  });
  await redis.command("ACL", "SETUSER", "default", "allchannels");
  return ` listening_meanwhile=${heard} listening_again=${await listening(redis.url)}`;
}

/** As many as requested, or as many as there are when that takes too long. */
async function listening(url: string): Promise<number> {
  const redis = connectRedis(url);
  let count = 0;
  try {
    await until("all to listen again", async () => {
      const reply = await redis.send(channel, ["PUBSUB", "NUMSUB", channel]).catch(() => []);
      count = Number((reply as unknown[])[1] ?? 0);
      return count === serverCount || undefined;
    }).catch(() => {});
  } finally {
    await redis.close();
  }
  return count;
}

/** In the middle of the edits it returns with only what it held before the first edit. */
async function redisGoesBack(site: Site, record: Record, edits: number, shown: Shown): Promise<string> {
  const fewer = fewerOf(edits);
  await site.redis.command("SAVE");
  const back = Promise.withResolvers<void>();
  await edit(site, record, fewer, (done) => {
    counting(shown, "redis_went_back", fewer)(done);
    if (done === Math.ceil(fewer / 2)) site.redis.restart().then(back.resolve, back.reject);
  });
  await back.promise;
  await edit(site, record, site.links.length, () => {});
  const loaded = /rdb_last_load_keys_loaded:(\d+)/.exec(await site.redis.command("INFO", "persistence"))?.[1];
  return ` old_keys_loaded=${loaded}`;
}

/** The last server commits and is killed before it knows; its commit counts from when SQL shows it. */
async function killWriters(site: Site, record: Record, _: number, shown: Shown): Promise<string> {
  for (let kill = 0; kill < writersKilled; kill++) {
    shown.now(`writer_killed: ${kill} of ${writersKilled}`);
    const link = site.links[kill % site.links.length] as HotLink;
    await commitAndDie(site, link);
    record.ack(link.code, link.version, undefined);
    await site.restartLast();
  }
  return ` kills=${writersKilled}`;
}

/** Throws if it could answer after all: then this would show nothing. */
async function commitAndDie({ servers, withholding, sql }: Site, link: HotLink): Promise<void> {
  const writer = servers.at(-1) as Server;
  withholding.withhold();
  const asked = editOne(writer, { ...link }).then(
    () => "answered",
    () => "not answered",
  );
  link.begun = ++link.version;
  await until("the commit", async () => {
    const { rows } = await sql.query("select version from link_versions where code = $1", [link.code]);
    return Number(rows[0]?.version) === link.version || undefined;
  });
  await writer.kill();
  withholding.passOn();
  if ((await asked) === "answered") throw new Error("the writer answered before it was killed");
}
