/**
 * What it costs to import links, and what redirects notice of it.
 *
 * Method, cost: `quicklink import` of a CSV file of 200,000 rows with code, URL, title and tags, as a process, on
 * SQLite and on a private PostgreSQL that waits for the disk. The database driver alone inserts as many rows by hand
 * into the same tables in the same round, 512 in a transaction, with the same low priority
 * (`links-by-hand.ts`). With `QL_BENCH_BEFORE`, an older copy of the program imports the same file: see `older.ts`. Two
 * things are compared, both against the same targets: the time per link, which on PostgreSQL is less than the CPU time, because the
 * next rows are checked while the last ones are written; and the CPU time per link, of the process and of PostgreSQL, because
 * processes of low priority have the rest of a machine, which is another one every second. An import of one row is
 * subtracted: it is the start of the process.
 *
 * Method, redirects: a client requests 1,000 links in turn, 500 times per second, and times each from the moment it was
 * due. Quiet times alternate with imports of a file through the API, which run in the server. "client late" is how late
 * the client itself woke up, at the 99th percentile: if that has grown as much as the p99, the machine was busy and not
 * the server.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { batchRows } from "../src/import-export/batch-size.ts";
import { cleanEnvironment, type Environment, until } from "../test/ground/process.ts";
import { cli, program, type Server } from "../test/ground/server.ts";
import { tempFolder } from "../test/ground/temp.ts";
import type { Bench, Figure } from "./bench.ts";
import { runByHand } from "./by-hand.ts";
import { cpuMicrosOfAll, runMeasured } from "./cpu.ts";
import { olderFolder, olderProgram, startOlder } from "./older.ts";
import { openPacer, type Paced } from "./paced.ts";
import { compare, rotated } from "./rounds.ts";
import { median, progress, quantile, round, table } from "./show.ts";
import { authorization, createLinks, databases, type Subject, startSubject } from "./subject.ts";

const rounds = 3;
const rows = 200_000;
const spells = 5;
const spellRows = 60_000;
const quietMs = 2_000;
const perSecond = 500;
const importMs = 120_000;
/** As the command sets it. */
const priority = 10;

// At least 0.3 × the links per second of by hand, and 4 × those of before.
const mostByHand = { most: 3.33 };
const mostBefore = { most: 0.25 };
const mostLate = { most: 2 };

export const importing: Bench = {
  name: "import",
  shows: "time and CPU per imported link, against a bare bulk insert; redirect latency during an import, against idle",
  needs: ["postgresql"],
  parts: [...databases, "cost", "redirects"],
  run,
};

async function run(parts: readonly string[]): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  const folder = olderFolder();
  const chosen = (all: readonly string[]) =>
    all.filter((name) => parts.includes(name) || !all.some((one) => parts.includes(one)));
  const kinds = chosen(["cost", "redirects"]);
  for (const database of databases.filter((name) => chosen(databases).includes(name))) {
    const subject = await startSubject(database);
    const hasOlder = folder !== undefined && kinds.includes("cost");
    const older = hasOlder ? await startOlder(folder, database) : undefined;
    try {
      if (kinds.includes("cost")) figures.push(...(await measureCost(subject, older)));
      if (kinds.includes("redirects")) figures.push(await measureRedirects(subject));
    } finally {
      await older?.stop();
      await subject.stop();
    }
  }
  return figures;
}

interface Side {
  readonly name: string;
  readonly measure: (round: number) => Promise<Cost>;
}

/** Of one link. */
interface Cost {
  readonly cpuMicros: number;
  readonly seconds: number;
}

async function measureCost(subject: Subject, older: Subject | undefined): Promise<Figure[]> {
  const { database } = subject;
  const folder = olderFolder();
  const shown = progress();
  try {
    const sides: Side[] = [
      { name: "QuickLink", measure: (i) => importAll(program, import.meta.dir, subject, `q${i}`) },
      await handSide(subject),
    ];
    if (folder !== undefined && older !== undefined) {
      sides.push({ name: "before", measure: (i) => importAll(olderProgram(folder), folder, older, `b${i}`) });
    }
    const costs = new Map(sides.map((side): [string, Cost[]] => [side.name, []]));
    for (let i = 0; i < rounds; i++) {
      for (const side of rotated(sides, i)) {
        shown.now(`${database}: round ${i + 1} of ${rounds}: ${side.name}`);
        costs.get(side.name)?.push(await side.measure(i));
      }
    }
    shown.end();
    const line = ([name, all]: [string, Cost[]]) => [
      `${database}, ${name}`,
      round(median(all.map(({ cpuMicros }) => cpuMicros))),
      round(median(all.map(({ seconds }) => 1 / seconds))),
    ];
    table([["", "CPU µs each", "links/s"], ...[...costs].map(line)]);
    const figures = (what: string, of: (cost: Cost) => number): Figure[] => {
      const all = (name: string) => costs.get(name)?.map(of) ?? [];
      const name = `${database}: ${what} of an imported link /`;
      const before = all("before");
      return [
        { name: `${name} by hand`, ...compare(all("QuickLink"), all("by hand")), target: mostByHand },
        ...(before.length === 0
          ? []
          : [{ name: `${name} before`, ...compare(all("QuickLink"), before), target: mostBefore }]),
      ];
    };
    return [...figures("time", ({ seconds }) => seconds), ...figures("CPU", ({ cpuMicros }) => cpuMicros)];
  } finally {
    shown.end();
  }
}

async function importAll(command: readonly string[], cwd: string, subject: Subject, prefix: string): Promise<Cost> {
  const { server, env, postgres } = subject;
  const settings = cleanEnvironment({ ...env, QL_DATA: server.dataDir, QL_LOG_LEVEL: "warn" });
  const databaseMicros = () => (postgres === undefined ? 0 : cpuMicrosOfAll(postgres.pid));
  const measure = async (count: number, name: string): Promise<Cost> => {
    const before = { database: databaseMicros(), at: performance.now() };
    const words = [...command, "import", fileOf(count, name), "--json"];
    const { code, stdout, stderr, cpuMicros } = await runMeasured(words, cwd, settings, importMs);
    const { made } = JSON.parse(stdout || "{}") as { made?: number };
    if (code !== 0 || made !== count) throw new Error(`the import failed\n${stdout}${stderr}`);
    const seconds = (performance.now() - before.at) / 1_000;
    return { cpuMicros: cpuMicros + databaseMicros() - before.database, seconds };
  };
  const start = await measure(1, `${prefix}-start`);
  const all = await measure(rows, prefix);
  return { cpuMicros: (all.cpuMicros - start.cpuMicros) / rows, seconds: (all.seconds - start.seconds) / rows };
}

function fileOf(count: number, prefix: string): string {
  const path = join(tempFolder("import"), "links.csv");
  writeFileSync(path, textOf(count, prefix));
  return path;
}

const textOf = (count: number, prefix: string): string =>
  [
    "code,url,title,tags",
    ...Array.from(
      { length: count },
      (_, i) => `${prefix}-${i},https://example.com/products/${i}?of=${prefix},Product ${i},"sale,spring"`,
    ),
  ].join("\n");

/** In a database of its own, with the same tables. */
async function handSide({ postgres }: Subject): Promise<Side> {
  const folder = tempFolder("by-hand");
  const url = await postgres?.createDatabase("by_hand");
  const env: Environment = {
    QL_DATA: folder,
    ...(url !== undefined && { DATABASE_URL: url, QL_CODE_SALT: crypto.randomUUID() }),
  };
  if (url !== undefined) await cli(["migrate"], { env });
  const { stdout, stderr } = await cli(["tenant", "create", "hand", "--name", "Hand", "--json"], { env });
  const tenant = /ten_[0-9a-z]{26}/.exec(stdout)?.[0];
  if (tenant === undefined) throw new Error(`no tenant\n${stdout}${stderr}`);
  const address = url ?? join(folder, "quicklink.sqlite");
  const hand = { address, tenant, each: batchRows, lines: 1, links: rows, priority, postgresPid: postgres?.pid ?? 0 };
  return {
    name: "by hand",
    async measure() {
      const { clientMicros, databaseMicros, perSecond: rate } = await runByHand(hand);
      return { cpuMicros: clientMicros + databaseMicros, seconds: 1 / rate };
    },
  };
}

async function measureRedirects({ database, server }: Subject): Promise<Figure> {
  const shown = progress();
  const paths = (await createLinks(server, 1_000)).map((code) => `/${code}`);
  const starts: (() => Promise<void>)[] = [];
  for (let spell = 0; spell < spells; spell++) {
    shown.now(`${database}: checking file ${spell + 1} of ${spells}`);
    starts.push(await checkedImport(server, `s${spell}`, spellRows));
  }
  shown.now(`${database}: visiting all links once`);
  for (const path of paths) await until("the link to be in memory", () => isRedirected(server, path));
  const pacer = await openPacer(server.port, 302);
  try {
    // So that the code is compiled.
    await pacer.run(paths, perSecond, Bun.sleep(quietMs));
    const quiet: Paced[] = [];
    const busy: Paced[] = [];
    let importedMs = 0;
    const rest = async (): Promise<void> => {
      quiet.push(await pacer.run(paths, perSecond, Bun.sleep(quietMs)));
    };
    for (const [spell, start] of starts.entries()) {
      shown.now(`${database}: imports beside redirects, ${spell + 1} of ${spells}`);
      const work = async (): Promise<void> => {
        const started = performance.now();
        const importing = start().then(() => {
          importedMs += performance.now() - started;
        });
        busy.push(await pacer.run(paths, perSecond, importing));
      };
      for (const part of rotated([rest, work], spell)) await part();
    }
    shown.end();
    const p99 = (all: readonly Paced[]) => all.map(({ latencies }) => quantile(latencies, 0.99));
    const line = (name: string, all: readonly Paced[], links: string) => {
      const [latencies, lateness] = [all.flatMap((one) => one.latencies), all.flatMap((one) => one.lateness)];
      const times = [
        quantile(latencies, 0.5),
        quantile(latencies, 0.99),
        quantile(latencies, 1),
        quantile(lateness, 0.99),
      ];
      return [`${database}, ${name}`, ...times.map((ms) => round(ms)), links];
    };
    table([
      ["", "p50 ms", "p99 ms", "worst ms", "client late", "links/s"],
      line("idle", quiet, ""),
      line("import", busy, round((spells * spellRows * 1_000) / importedMs)),
    ]);
    return {
      name: `${database}: p99 of redirects during an import / idle`,
      ...compare(p99(busy), p99(quiet)),
      target: mostLate,
    };
  } finally {
    shown.end();
    pacer.close();
  }
}

/** Nothing if it could not be looked up in time, on a busy machine. */
const isRedirected = async ({ url }: Server, path: string): Promise<true | undefined> =>
  (await fetch(`${url}${path}`, { redirect: "manual" })).status === 302 || undefined;

/** Uploads a file and has it checked; the returned function imports it. */
async function checkedImport(server: Server, prefix: string, count: number): Promise<() => Promise<void>> {
  const text = textOf(count, prefix);
  const call = async <Body>(method: string, path: string, body?: unknown): Promise<Body> => {
    const response = await fetch(`${server.url}${path}`, {
      ...{ method, headers: authorization(server) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${answer}`);
    return JSON.parse(answer) as Body;
  };
  const announced = { name: "links.csv", size: Buffer.byteLength(text), type: "text/csv" };
  const { id: file, upload } = await call<Announced>("POST", "/api/files", announced);
  const sent = await fetch(upload.url, { method: upload.method, headers: upload.headers, body: text });
  if (!sent.ok) throw new Error(`the file was not accepted: ${sent.status} ${await sent.text()}`);
  await call("POST", `/api/files/${file}/complete`);
  const { id } = await call<{ id: string }>("POST", "/api/imports", { file });
  const reach = (state: string) =>
    until(
      `the import to be ${state}`,
      async () => {
        const now = await call<{ state: string; problem: string | null }>("GET", `/api/imports/${id}`);
        if (now.state === "failed") throw new Error(now.problem ?? "the import failed");
        return now.state === state || undefined;
      },
      importMs,
    );
  await reach("checked");
  return async () => {
    await call("PATCH", `/api/imports/${id}`, { state: "running" });
    await reach("done");
  };
}

interface Announced {
  readonly id: string;
  readonly upload: { readonly url: string; readonly method: string; readonly headers: Record<string, string> };
}
