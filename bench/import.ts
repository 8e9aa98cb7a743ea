/**
 * How fast links are imported, and what redirects notice of it.
 *
 * Method, links per second: `quicklink import` of a CSV file of 50,000 rows with code, URL, title and tags, as a process,
 * on SQLite and on a private PostgreSQL that waits for the disk. The time of an import of one row, most of which is the
 * start of the process, is subtracted. In the same round the database driver alone inserts as many rows by hand into the
 * same tables, as many in a transaction as the import, with the same low priority (`links-by-hand.ts`). With
 * `QL_BENCH_BEFORE`, an older copy of the program imports the same file: see `older.ts`.
 *
 * Method, redirects: a client requests 1,000 links in turn, 500 times per second, and times each from the moment it was
 * due. Quiet times alternate with imports of a file through the API, which run in the server. "client late" is how late
 * the client itself woke up, at the 99th percentile: if that has grown as much as the p99, the machine was busy and not
 * the server.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { batchRows } from "../src/import-export/import.ts";
import { type Environment, type Finished, until } from "../test/ground/process.ts";
import { cli, cliProcess, type Server } from "../test/ground/server.ts";
import { tempFolder } from "../test/ground/temp.ts";
import type { Bench, Figure } from "./bench.ts";
import { runByHand } from "./by-hand.ts";
import { olderFolder, runOlder, startOlder } from "./older.ts";
import { openPacer, type Paced } from "./paced.ts";
import { compare, rotated } from "./rounds.ts";
import { median, progress, quantile, round, table } from "./show.ts";
import { authorization, createLinks, databases, type Subject, startSubject } from "./subject.ts";

const rounds = 3;
const rows = 50_000;
const spells = 4;
const spellRows = 20_000;
const quietMs = 3_000;
const perSecond = 500;
const importMs = 300_000;
/** As the command sets it. */
const priority = 10;

// Ratios that must not be too small, turned round: at least 0.3 × by hand is at most 3.33 × its time.
const mostByHand = { most: 1 / 0.3 };
const mostBefore = { most: 0.25 };
const mostLate = { most: 2 };

export const importing: Bench = {
  name: "import",
  shows: "links imported per second, against a bare bulk insert; redirect latency during an import, against idle",
  needs: ["postgresql"],
  run,
};

async function run(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const database of databases) {
    const subject = await startSubject(database);
    try {
      figures.push(...(await measureRate(subject)), await measureRedirects(subject));
    } finally {
      await subject.stop();
    }
  }
  return figures;
}

interface Side {
  readonly name: string;
  /** Seconds for all rows. */
  readonly measure: (round: number) => Promise<number>;
}

async function measureRate(subject: Subject): Promise<Figure[]> {
  const { database, server, env } = subject;
  const folder = olderFolder();
  const older = folder === undefined ? undefined : await startOlder(folder, database);
  const shown = progress();
  try {
    const ours: Side = {
      name: "QuickLink",
      measure: (i) => importSeconds((args) => cliProcess(args, { env: { ...env, QL_DATA: server.dataDir } }), `q${i}`),
    };
    const sides: Side[] = [ours, await handSide(subject)];
    if (folder !== undefined && older !== undefined) {
      const run = (args: readonly string[]) => runOlder(folder, args, older.env);
      sides.push({ name: "before", measure: (i) => importSeconds(run, `b${i}`) });
    }
    const taken = new Map(sides.map((side): [Side, number[]] => [side, []]));
    for (let i = 0; i < rounds; i++) {
      for (const side of rotated(sides, i)) {
        shown.now(`${database}: round ${i + 1} of ${rounds}: ${side.name}`);
        taken.get(side)?.push(await side.measure(i));
      }
    }
    shown.end();
    const seconds = (name: string) => [...taken].find(([side]) => side.name === name)?.[1] ?? [];
    const line = ([{ name }, all]: [Side, number[]]) => {
      const against = all.map((one, i) => (seconds("by hand")[i] ?? Number.NaN) / one);
      return [`${database}, ${name}`, round(median(all.map((one) => rows / one))), round(median(against))];
    };
    table([["", "links/s", "× by hand"], ...[...taken].map(line)]);
    const name = `${database}: time of an import /`;
    const before = seconds("before");
    return [
      { name: `${name} by hand`, ...compare(seconds("QuickLink"), seconds("by hand")), target: mostByHand },
      ...(before.length === 0
        ? []
        : [{ name: `${name} before`, ...compare(seconds("QuickLink"), before), target: mostBefore }]),
    ];
  } finally {
    shown.end();
    await older?.stop();
  }
}

async function importSeconds(run: (args: readonly string[]) => Promise<Finished>, prefix: string): Promise<number> {
  const timed = async (count: number, name: string) => {
    const started = performance.now();
    const { code, stdout, stderr } = await run(["import", fileOf(count, name), "--json"]);
    const { made } = JSON.parse(stdout || "{}") as { made?: number };
    if (code !== 0 || made !== count) throw new Error(`the import failed\n${stdout}${stderr}`);
    return (performance.now() - started) / 1_000;
  };
  const start = await timed(1, `${prefix}-start`);
  return (await timed(rows, prefix)) - start;
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
  return { name: "by hand", measure: async () => rows / (await runByHand(hand)).perSecond };
}

async function measureRedirects({ database, server }: Subject): Promise<Figure> {
  const shown = progress();
  const paths = (await createLinks(server, 1_000)).map((code) => `/${code}`);
  const pacer = await openPacer(server.port, 302);
  try {
    // Once each, so that all links are in memory and the code is compiled.
    await pacer.run(paths, perSecond, Bun.sleep(quietMs));
    const quiet: Paced[] = [];
    const busy: Paced[] = [];
    let importedMs = 0;
    const rest = async (): Promise<void> => {
      quiet.push(await pacer.run(paths, perSecond, Bun.sleep(quietMs)));
    };
    for (let spell = 1; spell <= spells; spell++) {
      shown.now(`${database}: imports beside redirects, ${spell} of ${spells}`);
      const start = await checkedImport(server, `s${spell}`);
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

/** Uploads a file and has it checked; the returned function imports it. */
async function checkedImport(server: Server, prefix: string): Promise<() => Promise<void>> {
  const text = textOf(spellRows, prefix);
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
