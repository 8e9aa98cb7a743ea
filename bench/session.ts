/**
 * What it costs that a person calls the API, compared with a program.
 *
 * Method: wrk sends the same two reads to the real server over 8 connections, with an API key and with the cookie of a
 * session, in turns. `GET /api/tenant` does next to nothing, so the difference shows there; a page of links is what is
 * asked for most. The figure is the CPU time of the server for one call, of the session relative to the key, in the same round.
 */
import { siteOf } from "../test/e2e/servers.ts";
import { makePerson } from "../test/ground/people.ts";
import type { Bench, Figure, Target } from "./bench.ts";
import { cpuMicros } from "./cpu.ts";
import { load } from "./load.ts";
import { compare, rotated } from "./rounds.ts";
import { median, progress, round, table } from "./show.ts";
import { createLinks, type Database, databases, type Subject, startSubject } from "./subject.ts";

const target: Target = { most: 1.1 };
const rounds = 5;
const warmSeconds = 1;
const roundSeconds = 2;
const connections = 8;
const links = 20;
const paths = ["/api/tenant", "/api/links?limit=20"] as const;
const callers = ["key", "session"] as const;
type Caller = (typeof callers)[number];

interface Case {
  readonly path: (typeof paths)[number];
  readonly caller: Caller;
  /** CPU of a call in each round, in microseconds. */
  readonly micros: number[];
}

export const session: Bench = {
  name: "session",
  shows: "CPU per API call of a person, compared with one of an API key",
  needs: ["wrk", "postgresql"],
  run,
};

async function run(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const database of databases) figures.push(...(await runOn(database)));
  return figures;
}

async function runOn(database: Database): Promise<readonly Figure[]> {
  const subject = await startSubject(database);
  const shown = progress();
  try {
    await createLinks(subject.server, links);
    const headers = await headersFor(subject);
    const cases = paths.flatMap((path) => callers.map((caller): Case => ({ path, caller, micros: [] })));
    for (const one of cases) await measure(subject, one.path, headers[one.caller], warmSeconds);
    for (let i = 0; i < rounds; i++) {
      for (const one of rotated(cases, i)) {
        shown.now(`${database}, round ${i + 1} of ${rounds}: ${one.path} with a ${one.caller}`);
        one.micros.push(await measure(subject, one.path, headers[one.caller], roundSeconds));
      }
    }
    shown.end();
    table([
      [database, ...callers.map((caller) => `${caller}, CPU µs`)],
      ...paths.map((path) => [path, ...callers.map((caller) => round(median(microsOf(cases, path, caller))))]),
    ]);
    return paths.map((path) => ({
      ...{ name: `${database} ${path}: session relative to key`, target },
      ...compare(microsOf(cases, path, "session"), microsOf(cases, path, "key")),
    }));
  } finally {
    await subject.stop();
  }
}

const microsOf = (cases: readonly Case[], path: string, caller: Caller): readonly number[] =>
  cases.find((one) => one.path === path && one.caller === caller)?.micros ?? [];

/** Of two requests that differ in how they authenticate only. */
async function headersFor({ server, env }: Subject): Promise<Readonly<Record<Caller, readonly string[]>>> {
  const site = siteOf(server, { ...env, QL_DATA: server.dataDir });
  const person = await makePerson(site, { roles: { default: "admin" } });
  const cookie = [...person.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  return { key: [`Authorization: Bearer ${server.key}`], session: [`Cookie: ${cookie}`] };
}

async function measure(
  { server }: Subject,
  path: string,
  headers: readonly string[],
  seconds: number,
): Promise<number> {
  const before = cpuMicros(server.pid);
  const { requests } = await load({ url: server.url + path, connections, seconds, headers });
  return (cpuMicros(server.pid) - before) / requests;
}
