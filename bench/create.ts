/**
 * How many links can be created per second, each one durable before it is answered.
 *
 * Method: wrk sends `POST /api/links` over 16 connections to the real server, on SQLite and on a private PostgreSQL
 * that waits for the disk. The cost of a commit depends on the disk, so in every round a bare loop of one-row commits
 * on the same disk (bun:sqlite, WAL, synchronous=FULL) runs first; the last column is our rate relative to that. SQLite
 * commits one after the other and stays below it. PostgreSQL can exceed it, because it writes several commits at once.
 * Afterwards the links are counted in SQL: every link that was answered must be there.
 */
import { Database } from "bun:sqlite";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { removeFolder, tempFolder } from "../test/ground/temp.ts";
import type { Bench } from "./bench.ts";
import { cpuMicros, cpuMicrosOfTree } from "./cpu.ts";
import { load } from "./load.ts";
import { rotated } from "./rounds.ts";
import { median, progress, round, table } from "./show.ts";
import { authorization, databases, destination, type Subject, startSubject } from "./subject.ts";

const rounds = 3;
const warmSeconds = 2;
const roundSeconds = 4;
const bareMs = 1_000;
const connections = 16;

interface Sample {
  readonly perSecond: number;
  readonly serverMicros: number;
  readonly databaseMicros: number | undefined;
}

export const create: Bench = {
  name: "create",
  shows: "creates per second with durable commits, and CPU per create",
  needs: ["wrk", "postgresql"],
  run,
};

async function run(): Promise<readonly []> {
  const subjects = await Promise.all(databases.map((database) => startSubject(database)));
  const shown = progress();
  try {
    const samples = new Map(subjects.map((subject): [Subject, Sample[]] => [subject, []]));
    const bare: number[] = [];
    for (const subject of subjects) {
      shown.now(`warming up ${subject.database}`);
      await measure(subject, warmSeconds);
    }
    for (let i = 0; i < rounds; i++) {
      for (const subject of rotated([undefined, ...subjects], i)) {
        shown.now(`round ${i + 1} of ${rounds}: ${subject?.database ?? "bare commits"}`);
        if (subject === undefined) bare.push(bareCommits());
        else samples.get(subject)?.push(await measure(subject, roundSeconds));
      }
    }
    shown.end();
    report(samples, bare);
    return [];
  } finally {
    await Promise.all(subjects.map((subject) => subject.stop()));
  }
}

async function measure(subject: Subject, seconds: number): Promise<Sample> {
  const { server, postgres } = subject;
  const databaseCpu = () => (postgres === undefined ? undefined : cpuMicrosOfTree(postgres.pid));
  const linksBefore = await linksOf(subject);
  const [serverBefore, databaseBefore] = [cpuMicros(server.pid), databaseCpu()];
  const loaded = await load({ url: `${server.url}/api/links`, connections, seconds, script: post(subject) });
  const [serverAfter, databaseAfter] = [cpuMicros(server.pid), databaseCpu()];
  const made = (await linksOf(subject)) - linksBefore;
  if (made < loaded.requests) throw new Error(`${loaded.requests} creates were answered, but only ${made} are in SQL`);
  return {
    perSecond: loaded.requests / loaded.seconds,
    serverMicros: (serverAfter - serverBefore) / loaded.requests,
    databaseMicros:
      databaseBefore === undefined || databaseAfter === undefined
        ? undefined
        : (databaseAfter - databaseBefore) / loaded.requests,
  };
}

function report(samples: ReadonlyMap<Subject, readonly Sample[]>, bare: readonly number[]): void {
  const row = (name: string, all: readonly Sample[]) => [
    name,
    round(median(all.map((one) => one.perSecond))),
    round(median(all.map((one) => one.serverMicros))),
    all.some((one) => one.databaseMicros === undefined)
      ? "in process"
      : round(median(all.map((one) => one.databaseMicros ?? 0))),
    // For each commit of the bare loop in the same round.
    round(median(all.map((one, i) => one.perSecond / (bare[i] ?? Number.NaN)))),
  ];
  table([
    ["", "creates/s", "server CPU µs each", "database CPU µs each", "per bare commit"],
    ["bare commits", round(median(bare)), "", "", "1"],
    ...[...samples].map(([{ database }, all]) => row(database, all)),
  ]);
}

function bareCommits(): number {
  const folder = tempFolder("commits");
  const database = new Database(join(folder, "bare.sqlite"));
  database.run("pragma journal_mode = wal");
  database.run("pragma synchronous = full");
  database.run("create table commits (url text) strict");
  const insert = database.query("insert into commits values (?)");
  const started = performance.now();
  let commits = 0;
  while (performance.now() - started < bareMs) {
    insert.run(destination);
    commits++;
  }
  const perSecond = (commits * 1_000) / (performance.now() - started);
  database.close();
  removeFolder(folder);
  return perSecond;
}

function post({ server }: Subject): string {
  const path = join(tempFolder("wrk"), "post.lua");
  const headers = Object.entries(authorization(server)).map(([name, value]) => `wrk.headers["${name}"] = "${value}"\n`);
  writeFileSync(path, `wrk.method = "POST"\nwrk.body = '${JSON.stringify({ url: destination })}'\n${headers.join("")}`);
  return path;
}

async function linksOf({ server, env }: Subject): Promise<number> {
  const sql = "select count(*) as n from links";
  if (env.DATABASE_URL === undefined) {
    const database = new Database(join(server.dataDir, "quicklink.sqlite"), { readonly: true });
    try {
      return database.query<{ n: number }, []>(sql).get()?.n ?? 0;
    } finally {
      database.close();
    }
  }
  const client = new Client({ connectionString: env.DATABASE_URL });
  await client.connect();
  try {
    return Number((await client.query<{ n: string }>(sql)).rows[0]?.n);
  } finally {
    await client.end();
  }
}
