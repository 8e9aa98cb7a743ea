/** The server under test: the real process on either database, with a tenant without limits. */
import { systemClock } from "../src/base/clock.ts";
import { createLog } from "../src/base/log.ts";
import { openPostgres } from "../src/sql/postgres.ts";
import type { Sql } from "../src/sql/sql.ts";
import { type DurablePostgres, startPostgres } from "../test/ground/postgres.ts";
import { type Environment, until } from "../test/ground/process.ts";
import { cli, type Server, startServer } from "../test/ground/server.ts";
import { tempFolder } from "../test/ground/temp.ts";

export const databases = ["sqlite", "postgres"] as const;
export type Database = (typeof databases)[number];

export interface Subject {
  readonly database: Database;
  readonly server: Server;
  /** The PostgreSQL server, if the subject has its own. */
  readonly postgres: DurablePostgres | undefined;
  /** The settings it was started with, for a restart. */
  readonly env: Environment;
  stop(): Promise<void>;
}

const writtenMs = 60_000;
const silent = createLog("silent", { write() {} }, false, systemClock.now);

export const destination = "https://example.com/a/landing/page?utm_source=newsletter&utm_medium=email";

/** `source` is another copy of the program than the one under test. */
export async function startSubject(database: Database, more: Environment = {}, source?: string): Promise<Subject> {
  const { postgres, env: own } = await prepare(database);
  const env = { ...own, ...more };
  const dataDir = tempFolder("data");
  const server = await startServer({ env, dataDir, ...(source === undefined ? {} : { source }) });
  const lifted = await cli(["tenant", "update", "default", "--plan", "unlimited"], {
    env: { ...env, QL_DATA: dataDir },
  });
  if (lifted.code !== 0) throw new Error(`the limits could not be lifted\n${lifted.stdout}${lifted.stderr}`);
  return {
    database,
    server,
    postgres,
    env,
    async stop() {
      await server.stop();
      await postgres?.stop();
    },
  };
}

/** Prepares the database before the first start. PostgreSQL waits for the disk, as in production. */
async function prepare(database: Database): Promise<{ postgres: DurablePostgres | undefined; env: Environment }> {
  if (database === "sqlite") return { postgres: undefined, env: {} };
  const postgres = await startPostgres({ durable: true });
  const env = { DATABASE_URL: await postgres.createDatabase("bench"), QL_CODE_SALT: crypto.randomUUID() };
  const migrated = await cli(["migrate"], { env });
  if (migrated.code !== 0) throw new Error(`migrate ended with ${migrated.code}\n${migrated.stdout}${migrated.stderr}`);
  return { postgres, env };
}

/** PostgreSQL as the program uses it, on one connection without a statement timeout. */
export const openDatabase = (url: string): Sql => openPostgres(url, { connections: 1, patient: true }, silent);

export const authorization = ({ key }: Server) => ({
  authorization: `Bearer ${key}`,
  "content-type": "application/json",
});

/** Creates one link, optionally with a limit of hits; returns its code. */
export async function createLink(server: Server, hitsPerMonth?: number): Promise<string> {
  const response = await fetch(`${server.url}/api/links`, {
    method: "POST",
    headers: authorization(server),
    body: JSON.stringify({ url: destination, ...(hitsPerMonth === undefined ? {} : { hitsPerMonth }) }),
  });
  const body = (await response.json()) as { code?: string };
  if (body.code === undefined) throw new Error(`no link was made: ${JSON.stringify(body)}`);
  return body.code;
}

/** Creates one link with three rules, of which an English desktop browser can match only the last one; returns its code. */
export async function createRuledLink(server: Server, language: string): Promise<string> {
  const rules = [
    { when: { country: ["JP"] }, url: `${destination}&rule=1` },
    { when: { device: ["mobile"] }, url: `${destination}&rule=2` },
    { when: { language: [language] }, url: `${destination}&rule=3` },
  ];
  const [code = ""] = await makeLinks(server, [{ url: destination, rules }]);
  return code;
}

/** Creates many links at once, optionally each with a limit of hits; returns their codes. */
export const createLinks = (server: Server, count: number, hitsPerMonth?: number): Promise<string[]> =>
  makeLinks(
    server,
    Array.from({ length: count }, (_, i) => ({
      url: `${destination}&n=${i}`,
      ...(hitsPerMonth === undefined ? {} : { hitsPerMonth }),
    })),
  );

async function makeLinks(server: Server, links: readonly unknown[]): Promise<string[]> {
  const response = await fetch(`${server.url}/api/links/bulk`, {
    method: "POST",
    headers: authorization(server),
    body: JSON.stringify({ links }),
  });
  const body = (await response.json()) as { created: number; results: { link?: { code: string } }[] };
  if (body.created !== links.length) throw new Error(`${body.created} of ${links.length} links were created`);
  return body.results.flatMap(({ link }) => (link === undefined ? [] : [link.code]));
}

/** One of the server's metrics, by its full name with labels. */
export async function figures(server: Server): Promise<(series: string) => number> {
  const lines = (await (await fetch(`${server.url}/metrics`)).text()).split("\n");
  return (series) => {
    const line = lines.find((one) => one.startsWith(`${series} `));
    if (line === undefined) throw new Error(`the server has no figure ${series}`);
    return Number(line.slice(series.length + 1));
  };
}

/** Waits until everything is recorded: a meter is dropped once its hits are recorded and its lease has ended. */
export async function untilIdle(server: Server): Promise<void> {
  const idle = async () => (await figures(server))("quicklink_meters") === 0 || undefined;
  await until("everything to be recorded", idle, writtenMs);
}
