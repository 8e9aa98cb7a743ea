/**
 * How much memory a link takes that is held in the process, and whether `QL_CACHE_MB` bounds it.
 *
 * Method: two embedded servers with 100,000 links each, with addresses of 100 characters, written by the database itself; one
 * with the default bound and one with room for all of them. Every link is visited twice, because it has a response of its
 * own from the second visitor on. Memory (RSS) is read when all hits are recorded and the threads that were needed for it
 * have ended, a minute later. Both servers did the same, and differ in the links that they hold: the difference of their
 * memory, divided by that of their links, is what a link takes.
 *
 * The bound is in bytes, which the server estimates for each link. What it counted per link is the bound divided by the
 * links that it holds with it. If links took much more than counted, the server would use more memory than it was told to.
 */
import { join } from "node:path";
import { settings } from "../src/config/settings.ts";
import { openSqlite } from "../src/sql/sqlite.ts";
import { until } from "../test/ground/process.ts";
import { type Server, startServer } from "../test/ground/server.ts";
import type { Bench, Figure, Target } from "./bench.ts";
import { visit } from "./line.ts";
import { codeOf, writeLinks } from "./many-links.ts";
import { memoryOf } from "./memory-of.ts";
import { progress, round, table } from "./show.ts";
import { figures, startSubject, untilIdle } from "./subject.ts";

/** Bytes that a link takes, relative to those that are counted. */
const target: Target = { most: 1.25 };

const links = 100_000;
const connections = 32;
const defaultMb = Number(settings.QL_CACHE_MB.fallback);
const roomyMb = 1_024;
/** A thread ends a minute after its last work (`src/server/end-thread.ts`), and the collector runs some seconds later. */
const quietMs = 80_000;
const mebibyte = 1_048_576;

export const memory: Bench = {
  name: "memory",
  shows: "bytes per link in memory, and whether the bound holds",
  needs: [],
  run,
};

interface Held {
  readonly links: number;
  readonly rssMb: number;
}

async function run(): Promise<readonly Figure[]> {
  const shown = progress();
  shown.now(`writing ${links} links, twice`);
  const servers = [await prepare(defaultMb), await prepare(roomyMb)] as const;
  try {
    shown.now("visiting them");
    const [bounded, roomy] = await Promise.all([grow(servers[0]), grow(servers[1])]);
    shown.end();
    const taken = ((roomy.rssMb - bounded.rssMb) * mebibyte) / (roomy.links - bounded.links);
    const counted = (defaultMb * mebibyte) / bounded.links;
    table([
      ["QL_CACHE_MB", "links", "RSS MB"],
      [`${defaultMb}, the default`, round(bounded.links), round(bounded.rssMb)],
      [String(roomyMb), round(roomy.links), round(roomy.rssMb)],
    ]);
    console.log(`  a link takes ${round(taken)} bytes, and ${round(counted)} are counted towards the bound`);
    return [{ name: "bytes taken per link / counted", figure: taken / counted, target }];
  } finally {
    shown.end();
    await Promise.all(servers.map((server) => server.stop()));
  }
}

async function prepare(cacheMb: number): Promise<Server> {
  const { server, env } = await startSubject("sqlite");
  const { dataDir, key } = server;
  await server.stop();
  const sql = openSqlite(join(dataDir, "quicklink.sqlite"), "normal");
  const { id } = await sql.db
    .selectFrom("tenants")
    .select("id")
    .where("slug", "=", "default")
    .executeTakeFirstOrThrow();
  await writeLinks(sql, id, 0, links);
  await sql.close();
  return startServer({ env: { ...env, QL_CACHE_MB: String(cacheMb) }, dataDir, key });
}

async function grow(server: Server): Promise<Held> {
  const codes = Array.from({ length: links }, (_, i) => codeOf(i));
  await visit(server.port, twice(codes), connections);
  return await quiet(server);
}

const twice = (codes: readonly string[]): string[] => codes.flatMap((code) => [code, code]);

async function quiet(server: Server): Promise<Held> {
  await untilIdle(server);
  await Bun.sleep(quietMs);
  const held = await until("the figures", async () => (await figures(server))("quicklink_cache_links"));
  return { links: held, rssMb: memoryOf(server.pid).rssMb };
}
