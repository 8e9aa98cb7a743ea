/** Three real servers on one PostgreSQL and one Redis, and the links whose edits are watched. */
import { Client } from "pg";
import { type Postgres, startPostgres } from "../../test/ground/postgres.ts";
import { type RedisServer, startRedis } from "../../test/ground/redis.ts";
import { cli, cliProcess, type Server, startServer } from "../../test/ground/server.ts";
import { tempFolder } from "../../test/ground/temp.ts";
import { createLink, type HotLink } from "./hot-link.ts";
import { type SwitchedLink, switchedPlan, switchedTenant } from "./switches.ts";
import { type Withholding, withholdingCommits } from "./withholding.ts";

export interface Site {
  readonly postgres: Postgres;
  readonly redis: RedisServer;
  /** The last one reaches PostgreSQL by `withholding`. */
  readonly servers: readonly Server[];
  readonly withholding: Withholding;
  readonly links: readonly HotLink[];
  /** The code of a link that is never changed. */
  readonly idle: string;
  /** Of a tenant whose plan, limits and suspension are changed. */
  readonly switched: readonly SwitchedLink[];
  /** Runs the command line as a process, as the operator does. */
  command(...args: readonly string[]): Promise<void>;
  /** A look at the tables, past all servers. */
  readonly sql: Client;
  readonly databaseUrl: string;
  /** The last server, after it was killed. */
  restartLast(): Promise<void>;
  stop(): Promise<void>;
}

export const serverCount = 3;
const linkCount = 12;
const switchedCount = 6;
const idle = "idle";

export async function startSite(): Promise<Site> {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  const databaseUrl = await postgres.createDatabase("coherence");
  const withholding = await withholdingCommits(postgres);
  // All visitors come from one address, also those of links that do not exist yet.
  const shared = { REDIS_URL: redis.url, QL_CODE_SALT: crypto.randomUUID(), QL_GUESSES_PER_MINUTE: "1000000" };
  const env = { ...shared, DATABASE_URL: databaseUrl };
  const lastEnv = { ...shared, DATABASE_URL: withholding.url(databaseUrl) };
  await must(["migrate"], env);
  const first = await startServer({ env });
  await must(["tenant", "update", "default", "--plan", "unlimited"], env);
  const { key } = first;
  const servers = [first, await startServer({ env, key }), await startServer({ env: lastEnv, key })];
  const last = servers.length - 1;
  const links: HotLink[] = [];
  for (let i = 0; i < linkCount; i++) links.push(await createLink(first, `hot-${i}`));
  await createLink(first, idle);
  const switched = await switchedLinks(env);
  const sql = new Client({ connectionString: databaseUrl });
  await sql.connect();
  return {
    postgres,
    redis,
    servers,
    withholding,
    links,
    idle,
    switched,
    command: (...args) => must(args, env, cliProcess),
    sql,
    databaseUrl,
    async restartLast() {
      const { port } = servers[last] ?? first;
      servers[last] = await startServer({ env: lastEnv, key, port, dataDir: tempFolder("data") });
    },
    async stop() {
      await sql.end();
      await Promise.all(servers.map((server) => server.stop().catch(() => server.kill())));
      withholding.close();
      await Promise.all([postgres.stop(), redis.stop()]);
    },
  };
}

async function switchedLinks(env: Record<string, string>): Promise<SwitchedLink[]> {
  await must(["plan", "set", "nothing", "--hits", "0"], env);
  await must(["plan", "set", switchedPlan, "--hits", "none"], env);
  await must(["tenant", "create", switchedTenant, "--plan", switchedPlan], env);
  const links = Array.from({ length: switchedCount }, (_, i) => {
    const code = `switched-${i}`;
    return { code, url: `https://example.com/${code}` };
  });
  for (const { code, url } of links) {
    await must(["link", "create", url, "--code", code, "--tenant", switchedTenant], env);
  }
  return links;
}

async function must(args: readonly string[], env: Record<string, string>, run = cli): Promise<void> {
  const { code, stdout, stderr } = await run(args, { env });
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}\n${stdout}${stderr}`);
}
