/**
 * A server reads links from SQL just before they are edited, and the answers come when the edits were acknowledged. If
 * only lookups are late, it has learned of the edits meanwhile, and may not keep the old version. If everything is late,
 * it has not: it writes the old version to Redis, which must not take it. Then another server starts, which knows nothing
 * but what Redis and SQL say.
 * Half of the links were visited after their edit, so that Redis had the new version; for the others it had a fence.
 *
 * All were requested before they existed, so that Redis knew that there was no such link. Links that Redis has evicted
 * are read from SQL, so they are deleted from Redis before the edit.
 */
import { type Answer, createLine } from "../../bench/line.ts";
import { figures } from "../../bench/subject.ts";
import { until } from "../../test/ground/process.ts";
import type { RedisServer } from "../../test/ground/redis.ts";
import type { Server } from "../../test/ground/server.ts";
import type { Claim } from "../proof.ts";
import { createLink, editOne, type HotLink } from "./hot-link.ts";
import { type Site, serverCount } from "./site.ts";
import type { Late } from "./withholding.ts";

export const lateReader = "late_reader";

/** As many lookups as a server has connections for, and less time than the permission to write lasts. */
const linkCount = 4;
const slowMs = 500;
const sentMs = 50;
const writtenMs = 400;
const last = serverCount - 1;

export async function readLate(site: Site, rounds: number): Promise<Claim[]> {
  const total = { asked: 0, overtaken: 0, kept: 0, older: 0, fromRedis: 0 };
  for (let round = 0; round < 2 * rounds; round++) {
    const late: Late = round % 2 === 0 ? "lookups" : "everything";
    const links = await createMissing(site, round);
    total.overtaken += await readAndEdit(site, links, late);
    const reader = site.servers[last] as Server;
    if (late === "lookups") {
      site.withholding.slow(0);
      for (const link of links) if ((await versionAt(reader, link)) !== link.version) total.kept++;
    }
    await reader.kill();
    site.withholding.slow(0);
    await site.restartLast();
    const started = site.servers[last] as Server;
    for (const link of links) {
      // A server that has not heard of Redis for a moment reads SQL, which could not mislead it.
      await trustsRedis(started, link.code);
      const before = await asksOfRedis(started);
      if ((await versionAt(started, link)) !== link.version) total.older++;
      total.fromRedis += (await asksOfRedis(started)) - before;
    }
    total.asked += links.length;
  }
  const { asked, overtaken, kept, older, fromRedis } = total;
  console.log(
    `${lateReader} links=${asked} overtaken=${overtaken} kept=${kept} older=${older} redis_asked=${fromRedis} servers_started=${2 * rounds}`,
  );
  const scenario = lateReader;
  const done = `${asked} links read from SQL before their edit, written to Redis after it, and requested from ${2 * rounds} new servers`;
  return [
    {
      ...{
        scenario,
        measure: "older",
        promise: "a server that starts serves nothing older than what was acknowledged",
      },
      ...{ done, times: asked, figure: older, bound: { exactly: 0 } },
    },
    {
      ...{ scenario, measure: "kept", promise: "a version that comes late does not replace what memory knows of" },
      ...{ done, times: asked, figure: kept, bound: { exactly: 0 } },
    },
    {
      ...{
        scenario,
        measure: "overtaken",
        promise: "the fault happened: an edit was acknowledged before a read of SQL",
      },
      // Not all: on a busy machine an edit may take longer than the read.
      ...{ done, times: asked, figure: overtaken, bound: { least: Math.ceil(asked / 2) } },
    },
    {
      ...{ scenario, measure: "redis_asked", promise: "the new server asked Redis, and could have been misled" },
      // Not all: a server that starts has loaded the busiest links already.
      ...{ done, times: asked, figure: fromRedis, bound: { least: Math.ceil(asked / 2) } },
    },
  ];
}

async function createMissing({ servers, redis }: Site, round: number): Promise<HotLink[]> {
  const codes = Array.from({ length: linkCount }, (_, i) => `late-${round}-${i}`);
  const stored = (kind: "404" | "link") =>
    until(`Redis to have them as ${kind}`, async () => (await inRedis(redis, kind, round)) === linkCount || undefined);
  await trustsRedis(servers[1] as Server, `round-${round}`);
  for (const code of codes) await ask(servers[1] as Server, code);
  await stored("404");
  const links: HotLink[] = [];
  for (const code of codes) links.push(await createLink(servers[0] as Server, code));
  await stored("link");
  await inRedis(redis, "link", round, "DEL");
  return links;
}

/** How many of the edits were acknowledged before the answers of SQL came. */
async function readAndEdit({ servers, withholding }: Site, links: readonly HotLink[], late: Late): Promise<number> {
  const [writer, reader] = [servers[0] as Server, servers[last] as Server];
  // Opens the connections, which would be slow otherwise.
  await Promise.all(links.map(({ code }) => ask(reader, `before-${code}`)));
  withholding.slow(slowMs, late);
  const readAt = performance.now();
  const reads = links.map(({ code }) => ask(reader, code));
  await Bun.sleep(sentMs);
  const acked = await Promise.all(
    links.map(async (link, i) => {
      await editOne(writer, link);
      const at = performance.now();
      if (i % 2 === 0) await versionAt(writer, link);
      return at;
    }),
  );
  const answers = await Promise.all(reads);
  await Bun.sleep(Math.max(0, readAt + slowMs + writtenMs - performance.now()));
  // A visitor who got 503 shows that the answer was still on its way.
  return acked.filter((at, i) => answers[i] === 503 && at < readAt + slowMs).length;
}

async function ask({ port }: Server, code: string): Promise<Answer> {
  const line = createLine();
  const answer = await line.ask(port, `/${code}`);
  line.hangUp();
  return answer;
}

/** What a visitor gets in the end. */
async function versionAt({ port }: Server, link: HotLink): Promise<number | undefined> {
  const line = createLine();
  try {
    return await until(`${link.code} to be answered`, async () => {
      const answer = await line.ask(port, `/${link.code}`);
      if (typeof answer !== "number" || answer === 503) return undefined;
      return link.versionOf(answer, line.header("location")) ?? 0;
    });
  } finally {
    line.hangUp();
  }
}

/** Counts keys of this round, or deletes them. */
async function inRedis(redis: RedisServer, kind: "404" | "link", round: number, then = "EXISTS"): Promise<number> {
  const script = `local n = 0 for _, key in ipairs(redis.call("KEYS", ARGV[1])) do n = n + redis.call("${then}", key) end return n`;
  return Number(await redis.command("EVAL", script, "0", `ql:*:${kind}:{late-${round}-*}`));
}

/** Asks for links that nobody knows, until Redis is asked for one. */
async function trustsRedis(server: Server, label: string): Promise<void> {
  const absent = async () => (await figures(server))('quicklink_cache_miss_reasons_total{why="absent"}');
  const before = await absent();
  let asked = 0;
  await until("a server to trust Redis", async () => {
    await ask(server, `unknown-${label}-${server.pid}-${asked++}`);
    return (await absent()) > before || undefined;
  });
}

/** Lookups that Redis answered with a link or a fence. */
async function asksOfRedis(server: Server): Promise<number> {
  const figure = await figures(server);
  return figure('quicklink_cache_hit_total{tier="redis"}') + figure('quicklink_cache_miss_reasons_total{why="fence"}');
}
