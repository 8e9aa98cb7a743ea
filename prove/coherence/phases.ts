/** What happens while links are edited under constant reads, one thing after the other. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { quantile } from "../../bench/show.ts";
import { connectRedis } from "../../src/redis/client.ts";
import { until } from "../../test/ground/process.ts";
import type { Server } from "../../test/ground/server.ts";
import { tempFolder } from "../../test/ground/temp.ts";
import type { Claim } from "../proof.ts";
import { editOne, type HotLink } from "./hot-link.ts";
import type { Rules } from "./judge.ts";
import type { Record } from "./record.ts";
import { type Site, serverCount } from "./site.ts";
import { edit } from "./traffic.ts";

/** How much of each. */
export interface Amounts {
  readonly edits: number;
  readonly fewer: number;
  readonly few: number;
  readonly kills: number;
  readonly overlaps: number;
}

export interface Phase {
  readonly name: string;
  readonly rules: (server: number) => Rules;
  readonly edits: (amounts: Amounts) => number;
  /** Edits as often as that; what else can be said of it. `onEdit` gets the count so far. */
  readonly work: (site: Site, record: Record, edits: number, onEdit: (done: number) => void) => Promise<Claim[]>;
}

export const boundMs = 3_000;
const woken100Ms = 100;
/** How often servers read the feed if they are not woken. */
const pollMs = 500;
const [importedEach, importedLeast] = [2_500, 250_000] as const;
const editPauseMs = 40;
const channel = "ql:invalidate";
/** Long enough for visitors to ask a new server for every link. */
const visitedMs = 1_000;

/** A change invalidates the old answer at once; if SQL then misses its 100 ms, visitors get 503. */
export const usually: Rules = { p99Ms: boundMs, maxMs: boundMs, unansweredMost: 0.01, ownAtOnce: true };
export const whenWoken: Rules = { ...usually, p99Ms: woken100Ms };
/** All servers ask SQL at once when Redis goes away, and again when it is back. */
const inTrouble: Rules = { ...usually, unansweredMost: 0.05 };
const last = serverCount - 1;

export const phases: readonly Phase[] = [
  { name: "woken", rules: () => whenWoken, edits: ({ edits }) => edits, work: woken },
  { name: "not_woken", rules: () => usually, edits: ({ fewer }) => fewer, work: unheard },
  { name: "importing", rules: () => usually, edits: ({ few }) => few, work: importBeside },
  { name: "overlapping", rules: () => usually, edits: ({ overlaps }) => 2 * overlaps, work: overlap },
  {
    name: "redis_went_back",
    rules: (server) => ({ ...inTrouble, killed: server === last }),
    edits: ({ fewer }) => fewer,
    work: redisGoesBack,
  },
  {
    name: "writer_killed",
    rules: (server) => ({ ...inTrouble, ownAtOnce: false, killed: server === last }),
    edits: ({ kills }) => kills,
    work: killWriters,
  },
];

async function woken(site: Site, record: Record, edits: number, onEdit: (done: number) => void): Promise<Claim[]> {
  await edit(site, record, edits, onEdit);
  return [];
}

/** Disconnects subscribers, and keeps them out until the end. */
async function unheard(site: Site, record: Record, edits: number, onEdit: (done: number) => void): Promise<Claim[]> {
  const { redis } = site;
  await redis.command("ACL", "SETUSER", "default", "resetchannels");
  const looks: Promise<number>[] = [];
  await edit(site, record, edits, (done) => {
    onEdit(done);
    if (done % 25 === 0) looks.push(redis.command("PUBSUB", "CHANNELS").then(Number));
  });
  const heard = (await Promise.all(looks)).reduce((sum, channels) => sum + channels, 0);
  await redis.command("ACL", "SETUSER", "default", "allchannels");
  const again = await listening(redis.url);
  const scenario = "not_woken";
  return [
    {
      ...{ scenario, measure: "listening", promise: "the fault happened: no server could be woken" },
      ...{ done: `Redis allowed no subscription; looked ${looks.length} times for one`, times: looks.length },
      ...{ figure: heard, bound: { exactly: 0 } },
    },
    {
      ...{ scenario, measure: "listening_again", promise: "servers listen again when Redis lets them" },
      ...{ done: "Redis allowed subscriptions again", times: 1, figure: again, bound: { exactly: serverCount } },
    },
  ];
}

/**
 * The operator imports links as fast as PostgreSQL takes them, all of which every server announces and Redis gets fences for. News of
 * edits must not wait for that. All of this is on one machine, so the slowest edits say how busy it is: nine of ten must be seen sooner
 * than if servers were not woken.
 */
async function importBeside(
  site: Site,
  record: Record,
  edits: number,
  onEdit: (done: number) => void,
): Promise<Claim[]> {
  const path = join(tempFolder("import"), "links.csv");
  const rows = Math.max(importedLeast, importedEach * edits);
  writeFileSync(
    path,
    ["url,code", ...Array.from({ length: rows }, (_, i) => `https://example.com/${i},imported-${i}`)].join("\n"),
  );
  let [isOver, meanwhile] = [false, 0];
  const imported = site.command("import", path).finally(() => {
    isOver = true;
  });
  const seen: Promise<number>[] = [];
  while (seen.length < edits || !isOver) {
    const place = seen.length;
    const link = site.links[place % site.links.length] as HotLink;
    const writer = place % site.servers.length;
    await editOne(site.servers[writer] as Server, link);
    record.ack(link.code, link.version, writer);
    seen.push(delayOf(site, record, link.code, link.version));
    if (!isOver) meanwhile++;
    onEdit(seen.length);
    await Bun.sleep(editPauseMs);
  }
  await imported;
  const delays = await Promise.all(seen);
  const scenario = "importing";
  const done = `${delays.length} edits beside an import of ${rows.toLocaleString("en-US")} links`;
  return [
    {
      ...{ scenario, measure: "p90_ms", promise: "news of an edit does not wait for links that are imported" },
      ...{ done, times: delays.length, figure: quantile(delays, 0.9), unit: "ms", bound: { most: pollMs } },
    },
    {
      ...{ scenario, measure: "meanwhile", promise: "the fault happened: links were edited during the import" },
      ...{ done, times: delays.length, figure: meanwhile, bound: { least: Math.ceil(edits / 4) } },
    },
  ];
}

/** From now until all servers were seen to serve it. */
async function delayOf(site: Site, record: Record, code: string, version: number): Promise<number> {
  const acked = performance.now();
  const isSeen = () => site.servers.every((_, place) => record.seen(place, code) >= version) || undefined;
  await until("all servers to serve the edit", isSeen, boundMs).catch(() => {});
  return performance.now() - acked;
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

/**
 * The last server has done everything of an edit but the commit. Meanwhile another one edits another link, and the
 * others have seen that. Then the first edit is committed: behind the place in the feed that they have read.
 */
async function overlap(site: Site, record: Record, edits: number, onEdit: (done: number) => void): Promise<Claim[]> {
  const { servers, withholding, links } = site;
  let [overtaken, holds] = [0, 0];
  for (; 2 * holds < edits; holds++) {
    const [slow, fast] = [links[holds % links.length], links[(holds + 1) % links.length]] as [HotLink, HotLink];
    const held = withholding.hold();
    const asked = editOne(servers[last] as Server, slow);
    const isHeld = await Promise.race([held.reached.then(() => true), asked.then(() => false)]);
    await editOne(servers[0] as Server, fast);
    record.ack(fast.code, fast.version, 0);
    const seen = () => [0, 1].every((server) => record.seen(server, fast.code) === fast.version) || undefined;
    const isSeen = await until("the others to see it", seen, boundMs).catch(() => false);
    if (isHeld && isSeen) overtaken++;
    held.release();
    await asked;
    record.ack(slow.code, slow.version, last);
    onEdit(2 * (holds + 1));
  }
  return [
    {
      ...{ scenario: "overlapping", measure: "overtaken", promise: "the fault happened: an edit that began later" },
      done: `${overtaken} commits held until another edit was seen on the other servers`,
      ...{ times: holds, figure: overtaken, bound: { least: holds } },
    },
  ];
}

/** In the middle of the edits it returns with only what it held before the first edit. Then a server starts. */
async function redisGoesBack(
  site: Site,
  record: Record,
  edits: number,
  onEdit: (done: number) => void,
): Promise<Claim[]> {
  // A new site does not use Redis in its first seconds.
  const isFilled = async () => Number(await site.redis.command("DBSIZE")) > site.links.length || undefined;
  await until("the links to be in Redis", isFilled);
  await site.redis.command("SAVE");
  const back = Promise.withResolvers<void>();
  let [isAway, editedAway] = [false, 0];
  await edit(site, record, edits, (done) => {
    onEdit(done);
    if (isAway) editedAway++;
    if (done !== Math.ceil(edits / 2)) return;
    isAway = true;
    site.redis
      .restart()
      .finally(() => {
        isAway = false;
      })
      .then(back.resolve, back.reject);
  });
  await back.promise;
  // Again, with nobody editing: only the feed can correct it, before a server reads it that remembers nothing.
  await site.redis.restart();
  await site.servers[last]?.kill();
  await site.restartLast();
  await Bun.sleep(visitedMs);
  await edit(site, record, site.links.length, () => {});
  const loaded = /rdb_last_load_keys_loaded:(\d+)/.exec(await site.redis.command("INFO", "persistence"))?.[1];
  const scenario = "redis_went_back";
  return [
    {
      ...{ scenario, measure: "old_keys", promise: "the fault happened: Redis had what it held before the edits" },
      ...{ done: "Redis saved, was restarted in the middle of the edits, and loaded its file", times: 1 },
      ...{ figure: Number(loaded), bound: { least: 1 } },
    },
    {
      ...{ scenario, measure: "edits_without", promise: "the fault happened: links were edited while Redis was away" },
      ...{ done: "edits acknowledged between its stop and its start", times: 1 },
      ...{ figure: editedAway, bound: { least: 1 } },
    },
  ];
}

/** The last server commits and is killed before it knows; its commit counts from when SQL shows it. */
async function killWriters(
  site: Site,
  record: Record,
  kills: number,
  onEdit: (done: number) => void,
): Promise<Claim[]> {
  let [unanswered, done] = [0, 0];
  for (; done < kills; done++) {
    onEdit(done);
    const link = site.links[done % site.links.length] as HotLink;
    if (!(await commitAndDie(site, link))) unanswered++;
    record.ack(link.code, link.version, undefined);
    await site.restartLast();
  }
  return [
    {
      ...{ scenario: "writer_killed", measure: "kills" },
      promise: "the fault happened: a server died between its commit and its answer",
      ...{ done: `${done} servers killed when SQL showed their commit`, times: done },
      ...{ figure: unanswered, bound: { least: kills } },
    },
  ];
}

/** Whether it could answer after all. */
async function commitAndDie({ servers, withholding, sql }: Site, link: HotLink): Promise<boolean> {
  const writer = servers[last] as Server;
  withholding.withhold();
  const asked = editOne(writer, { ...link }).then(
    () => true,
    () => false,
  );
  link.begun = ++link.version;
  await until("the commit", async () => {
    const { rows } = await sql.query("select version from link_versions where code = $1", [link.code]);
    return Number(rows[0]?.version) === link.version || undefined;
  });
  await writer.kill();
  withholding.passOn();
  return await asked;
}
