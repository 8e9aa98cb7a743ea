/** Two servers on one PostgreSQL and one Redis, and bad ways to both of these. */
import { join } from "node:path";
import { createLine } from "../../bench/line.ts";
import { authorization, createLinks, destination, startSubject } from "../../bench/subject.ts";
import { freePort } from "../../test/ground/ports.ts";
import type { DurablePostgres } from "../../test/ground/postgres.ts";
import { cleanEnvironment, type Environment, startProcess, until } from "../../test/ground/process.ts";
import { startProxy, type TcpProxy } from "../../test/ground/proxy.ts";
import { type RedisServer, startRedis } from "../../test/ground/redis.ts";
import { type Server, startServer } from "../../test/ground/server.ts";
import { createQuestions, type Questions, type Target } from "./questions.ts";

export interface Site {
  readonly postgres: DurablePostgres;
  readonly redis: RedisServer;
  readonly toSql: TcpProxy;
  readonly toRedis: TcpProxy;
  readonly questions: Questions;
  /** The port of a server that answers at once, and has nothing else to do. */
  readonly control: number;
  readonly servers: readonly [Server, Server];
  /** Other settings for both servers; what they had in memory is gone. */
  restart(way: Environment): Promise<void>;
  /** The settings that lead by the bad ways. */
  readonly byProxy: { readonly DATABASE_URL: string; readonly REDIS_URL: string };
  stop(): Promise<void>;
}

const batch = 1_000;
const limit = 1_000_000;
// They all come from one address, and are counted all the same.
const guesses = { QL_GUESSES_PER_MINUTE: "1000000" };

/** `batches`: of a thousand links of each sort. A row takes about 400 of each. */
export async function startSite(batches: number): Promise<Site> {
  const redis = await startRedis();
  const subject = await startSubject("postgres", { ...guesses, REDIS_URL: redis.url });
  const { postgres, env, server } = subject;
  if (postgres === undefined) throw new Error("there is no PostgreSQL");
  const [toSql, toRedis] = await Promise.all([startProxy(postgres.port), startProxy(redis.port)]);
  const { key } = server;
  let servers: readonly [Server, Server] = [server, await startServer({ env, key })];
  const [plain, limited]: [Target[], Target[]] = [[], []];
  for (let i = 0; i < batches; i++) {
    plain.push(...(await makeLinks(server, batch)));
    limited.push(...(await makeLinks(server, batch, limit)));
  }
  const questions = createQuestions(plain, limited);
  const control = await startControl();
  const askThem = () => questions.askAt([servers[0].port, servers[1].port]);
  askThem();

  return {
    postgres,
    redis,
    toSql,
    toRedis,
    questions,
    control: control.port,
    get servers() {
      return servers;
    },
    async restart(way) {
      await Promise.all(servers.map((one) => one.stop()));
      const again = ({ port, dataDir }: Server) => startServer({ env: { ...env, ...way }, key, port, dataDir });
      servers = await Promise.all([again(servers[0]), again(servers[1])]);
      askThem();
    },
    byProxy: { DATABASE_URL: toSql.url(String(env.DATABASE_URL)), REDIS_URL: toRedis.url(redis.url) },
    async stop() {
      await Promise.all(servers.map((one) => one.stop().catch(() => one.kill())));
      toSql.stop();
      toRedis.stop();
      await control.stop();
      await Promise.all([postgres.stop(), redis.stop()]);
    },
  };
}

async function startControl(): Promise<{ port: number; stop(): Promise<void> }> {
  const port = freePort();
  const bare = join(import.meta.dir, "../../bench/bare.ts");
  const child = startProcess([process.execPath, "--no-env-file", bare, String(port), destination], {
    cwd: import.meta.dir,
    env: cleanEnvironment({}),
  });
  const line = createLine();
  await until("control to answer", async () => (await line.ask(port, "/")) === 302 || undefined);
  line.hangUp();
  return { port, stop: child.kill };
}

async function makeLinks(server: Server, count: number, hitsPerMonth?: number): Promise<Target[]> {
  const codes = await createLinks(server, count, hitsPerMonth);
  return codes.map((code, i) => ({ code, url: `${destination}&n=${i}` }));
}

/** New links that the first server has put into Redis, and then as many edits of them. */
export async function editedLinks(server: Server, count: number, between: () => Promise<void>): Promise<Target[]> {
  const links = await makeLinks(server, count);
  for (const { code } of links) await fetch(`${server.url}/${code}`, { redirect: "manual" });
  const response = await fetch(`${server.url}/api/links?limit=${count}`, { headers: authorization(server) });
  const { items } = (await response.json()) as { items: { id: string; code: string }[] };
  const ids = new Map(items.map(({ id, code }) => [code, id]));
  await between();
  const edited: Target[] = [];
  for (const { code } of links) edited.push(await edit(server, String(ids.get(code)), code));
  return edited;
}

async function edit(server: Server, id: string, code: string): Promise<Target> {
  const url = `https://example.com/edited/${code}`;
  const response = await fetch(`${server.url}/api/links/${id}`, {
    method: "PATCH",
    headers: authorization(server),
    body: JSON.stringify({ url }),
  });
  if (response.status !== 200) throw new Error(`${code} could not be edited: ${await response.text()}`);
  return { code, url };
}
