/** The servers of one run: three on PostgreSQL and Redis, one with its embedded database. */
import { Database as Sqlite } from "bun:sqlite";
import { join } from "node:path";
import { createLine } from "../../bench/line.ts";
import { authorization, type Database, figures, startSubject } from "../../bench/subject.ts";
import { type Edit, mutant } from "../../test/ground/mutant.ts";
import { type Environment, until } from "../../test/ground/process.ts";
import { type RedisServer, startRedis } from "../../test/ground/redis.ts";
import { type Server, startServer } from "../../test/ground/server.ts";
import type { KnownLink } from "./truth.ts";

export interface Site {
  readonly database: Database;
  readonly servers: Server[];
  /** For reading the database directly. */
  readonly env: Environment & { readonly QL_DATA: string };
  readonly redis: RedisServer | undefined;
  /** What all servers have printed, also those that have ended. */
  logs(): string;
  /** Where PostgreSQL keeps its files, or SQLite its own. */
  files(): Promise<string>;
  /** Takes SQL away for seconds, and says how. */
  loseSql(): Promise<string>;
  /** Starts it again, on the same port. */
  restart(place: number): Promise<void>;
  stop(): Promise<void>;
}

/**
 * One of the servers loses the answers to some of its first transactions of clicks: they are committed, and it cannot know.
 * It must send these batches again, and they must not count twice.
 */
const lostAnswers: Edit = {
  file: "clicks/events/writer.ts",
  from: "      if (written !== undefined) {\n",
  to: `      const all = globalThis as { writes?: number };
      all.writes = (all.writes ?? 0) + 1;
      if ([2, 4, 5].includes(all.writes)) throw new Error("the answer was lost");
      if (written !== undefined) {
`,
};

const postgresAwayMs = 3_000;
/** Longer than a transaction waits for the lock, so that a batch fails and is sent again. */
const lockedMs = 6_000;
const readyMs = 30_000;
const settledMs = 30_000;

/** Every click has an event, because filters are compared with the truth click by click. */
const visible: Environment = {
  ...{ QL_TRUSTED_PROXIES: "127.0.0.1", QL_LOG_LEVEL: "trace", QL_CLICK_EVENTS_PER_SECOND: "1000000" },
};

export async function startSite(database: Database, count: number): Promise<Site> {
  const redis = database === "postgres" ? await startRedis() : undefined;
  const subject = await startSubject(
    database,
    { ...visible, ...(redis && { REDIS_URL: redis.url }) },
    mutant([lostAnswers]),
  );
  const { server: first, postgres } = subject;
  const env: Site["env"] = { ...subject.env, QL_DATA: first.dataDir };
  const more = await Promise.all(
    Array.from({ length: count - 1 }, () => startServer({ env: subject.env, key: first.key })),
  );
  const servers = [first, ...more];
  const ended: string[] = [];

  async function loseSql(): Promise<string> {
    if (postgres !== undefined) {
      await postgres.kill();
      await Bun.sleep(postgresAwayMs);
      await postgres.restart();
      return `PostgreSQL killed for ${postgresAwayMs / 1_000} s`;
    }
    const lock = new Sqlite(join(first.dataDir, "quicklink.sqlite"));
    lock.run("pragma busy_timeout = 5000");
    lock.run("begin immediate");
    await Bun.sleep(lockedMs);
    lock.run("rollback");
    lock.close();
    return `SQLite locked for ${lockedMs / 1_000} s`;
  }

  return {
    ...{ database, servers, env, redis, loseSql },
    logs: () => [...ended, ...servers.map((server) => server.output())].join("\n"),
    async files() {
      if (postgres === undefined) return first.dataDir;
      return await dataFolder(String(env.DATABASE_URL));
    },
    async restart(place) {
      const { dataDir, port, key, output } = required(servers[place]);
      ended.push(output());
      servers[place] = await startServer({ env: subject.env, dataDir, port, key });
    },
    async stop() {
      await Promise.all(servers.map((server) => server.stop().catch(() => {})));
      await postgres?.stop();
      await redis?.stop();
    },
  };
}

async function dataFolder(url: string): Promise<string> {
  const { Client } = await import("pg");
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    await client.query("checkpoint");
    const { rows } = await client.query<{ data_directory: string }>("show data_directory");
    return rows[0]?.data_directory ?? "";
  } finally {
    await client.end();
  }
}

function required(server: Server | undefined): Server {
  if (server === undefined) throw new Error("there is no such server");
  return server;
}

/**
 * Until a server knows the countries of visitors: it reads that table after its start. A link with a rule for a country
 * tells. Returns how many visits that took.
 */
export async function untilReady({ port }: Server, { code }: KnownLink): Promise<number> {
  const line = createLine();
  let visits = 0;
  const knows = async () => {
    const headers =
      "User-Agent: Mozilla/5.0 (Windows NT 10.0; rv:140.0) Firefox/140.0\r\nX-Forwarded-For: 5.9.255.9\r\n";
    if ((await line.ask(port, `/${code}`, headers)) !== 302) return undefined;
    visits++;
    return line.header("location")?.endsWith("/ruled") || undefined;
  };
  await until("the countries to be known", knows, readyMs);
  line.hangUp();
  return visits;
}

/** Until everything that a server has captured is stored. */
export async function untilStored(server: Server): Promise<void> {
  const isStored = async () => {
    const read = await figures(server);
    const captured = sumOf(read, "quicklink_clicks_captured_total", "kept", ["facts", "bare", "dropped", "excluded"]);
    const recorded = sumOf(read, "quicklink_clicks_recorded_total", "as", ["event", "overflow", "dropped", "excluded"]);
    return recorded >= captured || undefined;
  };
  await until("all clicks to be stored", isStored, settledMs);
}

const sumOf = (read: (series: string) => number, name: string, label: string, values: readonly string[]): number =>
  values.reduce((sum, value) => sum + read(`${name}{${label}="${value}"}`), 0);

/** Creates links in one request. Every fourth has a rule for a country, if asked for. */
export async function createKnownLinks(
  server: Server,
  tag: string,
  count: number,
  ruled: boolean,
): Promise<KnownLink[]> {
  const country = "DE";
  const isRuled = (place: number) => ruled && place % 4 === 0;
  const links = Array.from({ length: count }, (_, place) => ({
    url: `https://example.com/${tag}/${place}`,
    tags: [tag],
    ...(isRuled(place) && { rules: [{ when: { country: [country] }, url: "https://example.com/ruled" }] }),
  }));
  const response = await fetch(`${server.url}/api/links/bulk`, {
    method: "POST",
    headers: authorization(server),
    body: JSON.stringify({ links }),
  });
  const body = (await response.json()) as { created: number; results: { link?: { id: string; code: string } }[] };
  if (body.created !== count)
    throw new Error(`${body.created} of ${count} links were created: ${JSON.stringify(body).slice(0, 500)}`);
  return body.results.flatMap(({ link }, place) =>
    link === undefined ? [] : [{ id: link.id, code: link.code, tag, ruled: isRuled(place) ? country : undefined }],
  );
}
