/**
 * What looking up a link in SQL costs, depending on the number of links.
 *
 * Method: databases of 10,000, 100,000 and 1,000,000 links on SQLite and on PostgreSQL, all open at once in this
 * process. In every round, random links are looked up in each database, one after the other, with the same
 * `store.target` that a redirect uses. The figure is CPU time per lookup: of this process and, on PostgreSQL, of the
 * process that serves the connection.
 */
import { join } from "node:path";
import { sql as raw } from "kysely";
import { systemClock } from "../src/base/clock.ts";
import { ownDomain } from "../src/links/link.ts";
import { createLinkStore, type LinkStore } from "../src/links/store.ts";
import { migrate } from "../src/sql/migrate.ts";
import type { Sql } from "../src/sql/sql.ts";
import { openSqlite } from "../src/sql/sqlite.ts";
import { createTenants } from "../src/tenants/tenants.ts";
import { byCommand } from "../test/ground/actors.ts";
import { type Postgres, startPostgres } from "../test/ground/postgres.ts";
import { tempFolder } from "../test/ground/temp.ts";
import type { Figure, Target } from "./bench.ts";
import { cpuMicros } from "./cpu.ts";
import { codeOf, writeLinks } from "./many-links.ts";
import { compare, rotated } from "./rounds.ts";
import { median, progress, round, table } from "./show.ts";
import { type Database, databases, openDatabase } from "./subject.ts";

const targets = { growth: { most: 1.2 } } as const satisfies Record<string, Target>;

const sizes = [10_000, 100_000, 1_000_000] as const;
const rounds = 11;
const lookupsPerRound = { sqlite: 4_000, postgres: 1_000 } as const;

interface Contender {
  readonly database: Database;
  readonly links: number;
  readonly sql: Sql;
  readonly target: LinkStore["target"];
  readonly micros: number[];
  readonly ms: number[];
}

export async function lookups(): Promise<readonly Figure[]> {
  const shown = progress();
  const postgres = await startPostgres();
  const contenders: Contender[] = [];
  try {
    for (const database of databases) {
      for (const links of sizes) {
        shown.now(`lookups: writing ${links.toLocaleString("en-US")} links to ${database}`);
        contenders.push(await prepare(database, links, postgres));
      }
    }
    for (let i = 0; i <= rounds; i++) {
      shown.now(`lookups: round ${i} of ${rounds}`);
      for (const contender of rotated(contenders, i)) await sample(contender, i > 0);
    }
    shown.end();
    return report(contenders);
  } finally {
    shown.end();
    for (const { sql } of contenders) await sql.close();
    await postgres.stop();
  }
}

async function prepare(database: Database, links: number, postgres: Postgres): Promise<Contender> {
  const sql = await open(database, postgres);
  await migrate(sql);
  const tenant = await createTenants(sql, systemClock).create("bench", "Bench", byCommand);
  await writeLinks(sql, tenant.id, 0, links);
  await raw`analyze`.execute(sql.db);
  return { database, links, sql, target: createLinkStore(sql).target, micros: [], ms: [] };
}

/** The processes that do the work. There is one connection to PostgreSQL, but it may be replaced. */
async function workersOf(sql: Sql): Promise<number[]> {
  if (sql.dialect === "sqlite") return [process.pid];
  const { rows } = await raw<{ pid: number }>`select pg_backend_pid() as pid`.execute(sql.db);
  return [process.pid, ...rows.map(({ pid }) => pid)];
}

async function open(database: Database, postgres: Postgres): Promise<Sql> {
  if (database === "sqlite") return openSqlite(join(tempFolder("lookups"), "links.sqlite"));
  return openDatabase(await postgres.createDatabase("lookups"));
}

async function sample({ database, links, sql, target, micros, ms }: Contender, counts: boolean): Promise<void> {
  const times = lookupsPerRound[database];
  const pids = await workersOf(sql);
  const cpu = () => pids.reduce((sum, pid) => sum + cpuMicros(pid), 0);
  const codes = Array.from({ length: times }, () => codeOf(Math.floor(Math.random() * links)));
  const [before, started] = [cpu(), performance.now()];
  for (const code of codes) {
    const { value } = await target(ownDomain, code);
    if (value === undefined) throw new Error(`${code} was not found`);
  }
  if (!counts) return;
  micros.push((cpu() - before) / times);
  ms.push((performance.now() - started) / times);
}

function report(contenders: readonly Contender[]): readonly Figure[] {
  table([
    ["a lookup in SQL", "CPU µs", "min", "ms"],
    ...contenders.map(({ database, links, micros, ms }) => [
      `${database}, ${links.toLocaleString("en-US")} links`,
      round(median(micros)),
      round(Math.min(...micros)),
      round(median(ms), 3),
    ]),
  ]);
  return databases.flatMap((database) => {
    const [fewest, ...more] = contenders.filter((contender) => contender.database === database);
    return more.map(({ links, micros }) => ({
      name: `${database}, ${links.toLocaleString("en-US")} / ${sizes[0].toLocaleString("en-US")} links`,
      target: targets.growth,
      ...compare(micros, fewest?.micros ?? []),
    }));
  });
}
