/**
 * An edit is seen everywhere soon, and nobody goes back.
 *
 * Three servers share one PostgreSQL and one Redis. Visitors ask all of them for the same few links, all the time, while
 * those are edited; the version of a link stands in the address it leads to. `record.ts` says what staleness and going
 * back are. So under way:
 *
 * - as it should be: a change wakes the others
 * - with nobody woken: Redis lets no one subscribe
 * - with Redis killed, and back with what it held many edits ago
 * - with a server killed between its commit and its answer, so that it can tell nobody
 *
 * And what deleting the key and letting the next reader fill it would have left behind, on the same two.
 *
 * The bound is 3 s, and no going back at all. 100 ms for 99 of 100 is what a machine with nothing else to do must reach;
 * it is printed, and does not decide.
 */
import { progress, round } from "../bench/show.ts";
import { connectRedis } from "../src/redis/client.ts";
import { until } from "../test/ground/process.ts";
import type { Server } from "../test/ground/server.ts";
import { editOne, type HotLink } from "./coherence/hot-link.ts";
import { createRecord, type Record, type Recorded } from "./coherence/record.ts";
import { trySeedPolicy } from "./coherence/seed-policy.ts";
import { type Site, serverCount, startSite } from "./coherence/site.ts";
import { edit, startVisitors } from "./coherence/traffic.ts";
import type { Proof } from "./proof.ts";

export const coherence: Proof = {
  name: "coherence",
  shows: "3 servers, edits under constant reads: seen everywhere in time, and no server goes back",
  needs: ["postgresql", "redis-server"],
  run,
};

const edits = 2_000;
const editsInTrouble = 600;
const writersKilled = 5;
const targetP99Ms = 100;
const boundMs = 3_000;
/** Until the last acknowledged edit must have been seen, with some to spare. */
const afterwardsMs = 3_500;
const channel = "ql:invalidate";

type Shown = ReturnType<typeof progress>;

async function run(): Promise<boolean> {
  const shown = progress();
  shown.now("starting PostgreSQL, Redis and three servers");
  const site = await startSite();
  const record = createRecord(serverCount);
  const visitors = startVisitors(site, record);
  try {
    const results = [
      await watch("woken", record, targetP99Ms, () => woken(site, record, shown)),
      await watch("not_woken", record, undefined, () => unheard(site, record, shown)),
      await watch("redis_went_back", record, undefined, () => redisGoesBack(site, record, shown)),
      await watch("writer_killed", record, undefined, () => killWriters(site, record, shown)),
    ];
    shown.now("the policy of the seed");
    await visitors.stop();
    const { links, staleFills, longestMs } = await trySeedPolicy(site.databaseUrl, site.redis.url);
    shown.end();
    console.log(
      `seed_policy links=${links} stale_fills=${staleFills} longest_ms=${Math.round(longestMs)} (when we stopped looking)`,
    );
    return results.every(Boolean);
  } finally {
    shown.end();
    await visitors.stop();
    await site.stop();
  }
}

/** Does it, waits until all of it must have been seen, prints its figures. */
async function watch(
  name: string,
  record: Record,
  targetP99: number | undefined,
  trouble: () => Promise<string>,
): Promise<boolean> {
  const more = await trouble();
  await Bun.sleep(afterwardsMs);
  const recorded = record.conclude();
  console.log(`${name} ${figures(recorded, targetP99)}${more}`);
  return recorded.wentBack === 0 && recorded.staleness.max <= boundMs;
}

function figures({ acked, reads, unanswered, wentBack, staleness }: Recorded, targetP99: number | undefined): string {
  const figure = (name: string, ms: number, target?: number) =>
    `${name}=${round(ms, 1)}${target === undefined ? "" : ` (≤ ${target} ${ms <= target ? "met" : "missed"})`}`;
  return [
    `edits=${acked} reads=${reads} unanswered=${unanswered} went_back=${wentBack} staleness_ms`,
    figure("p50", staleness.p50),
    figure("p99", staleness.p99, targetP99),
    figure("max", staleness.max, boundMs),
  ].join(" ");
}

const counting = (shown: Shown, name: string, of: number) => (done: number) =>
  shown.now(`${name}: ${done} of ${of} edits`);

async function woken(site: Site, record: Record, shown: Shown): Promise<string> {
  await edit(site, record, edits, counting(shown, "woken", edits));
  return "";
}

/** Whoever listens is sent away, and not let in again before the end. */
async function unheard(site: Site, record: Record, shown: Shown): Promise<string> {
  const { redis } = site;
  await redis.command("ACL", "SETUSER", "default", "resetchannels");
  let heard = 0;
  await edit(site, record, editsInTrouble, (done) => {
    counting(shown, "not_woken", editsInTrouble)(done);
    if (done % 50 === 0) void redis.command("PUBSUB", "CHANNELS").then((channels) => (heard += Number(channels)));
  });
  await redis.command("ACL", "SETUSER", "default", "allchannels");
  return ` listening_meanwhile=${heard} listening_again=${await listening(redis.url)}`;
}

/** As many as are waited for, or as many as there are when that takes too long. */
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

/** What it held before the first edit is all that it holds when it is back, in the middle of the edits. */
async function redisGoesBack(site: Site, record: Record, shown: Shown): Promise<string> {
  await site.redis.command("SAVE");
  const back = Promise.withResolvers<void>();
  await edit(site, record, editsInTrouble, (done) => {
    counting(shown, "redis_went_back", editsInTrouble)(done);
    if (done === editsInTrouble / 2) site.redis.restart().then(back.resolve, back.reject);
  });
  await back.promise;
  await edit(site, record, site.links.length, () => {});
  const loaded = /rdb_last_load_keys_loaded:(\d+)/.exec(await site.redis.command("INFO", "persistence"))?.[1];
  return ` old_keys_loaded=${loaded}`;
}

/** The last server commits and is killed before it knows; what it committed counts from when SQL shows it. */
async function killWriters(site: Site, record: Record, shown: Shown): Promise<string> {
  for (let kill = 0; kill < writersKilled; kill++) {
    shown.now(`writer_killed: ${kill} of ${writersKilled}`);
    const link = site.links[kill % site.links.length] as HotLink;
    await commitAndDie(site, link);
    record.ack(link.code, link.version);
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
  link.version++;
  await until("the commit", async () => {
    const { rows } = await sql.query("select version from link_versions where code = $1", [link.code]);
    return Number(rows[0]?.version) === link.version || undefined;
  });
  await writer.kill();
  withholding.passOn();
  if ((await asked) === "answered") throw new Error("the writer answered before it was killed");
}
