/**
 * Servers that answer redirects, and what one request costs each: nginx, a bare `Bun.serve`, and ours.
 *
 * The figure is the CPU time of the server's own process per request. It includes what a request leaves behind: ours
 * counts the visits of a second and then writes them to the database, so each sample of it ends after that. Each server
 * is pinned to one core, and the client, which never sleeps (`awake.ts`), to another, with 32 connections that stay open.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { find } from "../test/ground/machine.ts";
import { freePort } from "../test/ground/ports.ts";
import { type Child, startProcess, until } from "../test/ground/process.ts";
import type { Server } from "../test/ground/server.ts";
import { tempFolder } from "../test/ground/temp.ts";
import { loadAwake } from "./awake.ts";
import type { Figure, Target } from "./bench.ts";
import { children, cpuMicros } from "./cpu.ts";
import { browserHeaders, chromeHeaders } from "./load.ts";
import { compare, rotated } from "./rounds.ts";
import { median, type Progress, round, table } from "./show.ts";
import { destination } from "./subject.ts";

export interface Contender {
  readonly name: string;
  readonly port: number;
  /** Requested in turn. */
  readonly paths: readonly string[];
  readonly pid: number;
  readonly headers: readonly string[];
  /** How long after the last request it has written everything. */
  readonly writesMs: number;
}

export interface Sample {
  readonly micros: number;
  readonly perSecond: number;
  /** How much of its core it used while there were requests. Below 1 it waited for the client. */
  readonly busy: number;
}

export interface Plan {
  readonly rounds: number;
  readonly warmSeconds: number;
  readonly roundSeconds: number;
  /** Of the client. */
  readonly core: number;
}

const connections = 32;
/** Hits are recorded every second. */
const recordedMs = 1_300;
/** A lease lives for five seconds, and its rest is returned with the next recording. */
export const returnedMs = 6_500;

export type Samples = (contender: Contender) => readonly Sample[];

/** Interleaved: all of them in each round, which begins with another one each time. */
export async function measure(
  contenders: readonly Contender[],
  { rounds, warmSeconds, roundSeconds, core }: Plan,
  shown: Progress,
): Promise<Samples> {
  const samples = new Map(contenders.map((contender): [Contender, Sample[]] => [contender, []]));
  for (const contender of contenders) {
    await requireRedirect(contender);
    shown.now(`warming up ${contender.name}`);
    await sample(contender, core, warmSeconds);
  }
  for (let i = 0; i < rounds; i++) {
    for (const contender of rotated(contenders, i)) {
      shown.now(`round ${i + 1} of ${rounds}: ${contender.name}`);
      samples.get(contender)?.push(await sample(contender, core, roundSeconds));
    }
  }
  return (contender) => samples.get(contender) ?? [];
}

async function sample(
  { port, paths, pid, headers, writesMs }: Contender,
  core: number,
  seconds: number,
): Promise<Sample> {
  const before = cpuMicros(pid);
  const loaded = await loadAwake({ port, paths, headers, connections, seconds, core });
  const answered = cpuMicros(pid) - before;
  await Bun.sleep(writesMs);
  return {
    micros: (cpuMicros(pid) - before) / loaded.requests,
    perSecond: loaded.requests / loaded.seconds,
    busy: answered / 1e6 / loaded.seconds,
  };
}

/** The same, asked with all headers that Chrome sends. */
export const fromChrome = <Of extends Contender>(contender: Of): Of => ({
  ...contender,
  name: `${contender.name}, Chrome's headers`,
  headers: chromeHeaders,
});

export function showSamples(contenders: readonly Contender[], samples: Samples): void {
  table([
    ["", "CPU µs per request", "min", "requests/s", "busy"],
    ...contenders.map((contender) => {
      const all = samples(contender);
      return [
        contender.name,
        round(median(microsOf(all))),
        round(Math.min(...microsOf(all))),
        round(median(all.map(({ perSecond }) => perSecond))),
        `${Math.round(100 * median(all.map(({ busy }) => busy)))}%`,
      ];
    }),
  ]);
}

export const ratioOf = (samples: Samples, name: string, one: Contender, other: Contender, target: Target): Figure => ({
  ...{ name, target },
  ...compare(microsOf(samples(one)), microsOf(samples(other))),
});

export const microsOf = (samples: readonly Sample[]): number[] => samples.map(({ micros }) => micros);

async function requireRedirect({ port, paths }: Contender): Promise<void> {
  const url = `http://127.0.0.1:${port}${paths[0]}`;
  const response = await fetch(url, { redirect: "manual" });
  const location = response.headers.get("location") ?? "";
  if (response.status !== 302 || !location.startsWith(destination) || (await response.text()) !== "") {
    throw new Error(`${url} answered ${response.status} ${location}, not an empty 302 to ${destination}`);
  }
}

/** Our server, asked for one link, or for several in turn. */
export function ours(name: string, { port, pid }: Server, codes: readonly string[]): Contender {
  const paths = codes.map((code) => `/${code}`);
  return { name, port, paths, pid, headers: browserHeaders, writesMs: recordedMs };
}

export async function startBare(): Promise<Contender & { child: Child }> {
  const port = freePort();
  const script = join(import.meta.dir, "bare.ts");
  const child = startProcess([process.execPath, "--no-env-file", script, String(port), destination]);
  await listening(child, port);
  return { name: "bare Bun.serve, constant 302", ...anyPath(port), pid: child.pid, child };
}

/**
 * One worker, no access log. Our 302 has a Location and no body; nginx adds a body to a 302, except by way of
 * `error_page`, which costs it as much as the body (measured: 9.5 µs both; a 200 without either: 9.3). Its headers
 * `Server` and `Content-Type` cannot be left out by configuration.
 */
export async function startNginx(): Promise<Contender & { child: Child }> {
  const folder = tempFolder("nginx");
  const port = freePort();
  const config = join(folder, "nginx.conf");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    .join(" ");
  writeFileSync(
    config,
    `daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events { worker_connections 1024; }
http {
  access_log off;
  server_tokens off;
  keepalive_requests 1000000000;
  ${temporary}
  server {
    listen 127.0.0.1:${port};
    error_page 302 @empty;
    location / { return 302 "${destination}"; }
    location @empty { return 200 ""; }
  }
}
`,
  );
  const command = [find("nginx")?.path ?? "nginx", "-p", folder, "-e", `${folder}/error.log`, "-c", config];
  // QUIT, because after KILL the worker would outlive its master.
  const child = startProcess(command, { cwd: folder, lastSignal: "QUIT" });
  await listening(child, port);
  const [worker] = children(child.pid);
  if (worker === undefined) throw new Error("nginx has no worker");
  return { name: "nginx, constant 302", ...anyPath(port), pid: worker, child };
}

/** It answers every path in the same way, and records nothing. */
const anyPath = (port: number) => ({ port, paths: ["/abcdefg"], headers: browserHeaders, writesMs: 0 });

async function listening(child: Child, port: number): Promise<void> {
  const url = `http://127.0.0.1:${port}/abcdefg`;
  await until(
    `${url} to answer`,
    async () => {
      if (!child.running()) throw new Error(`ended before it answered\n${child.output()}`);
      return await fetch(url, { redirect: "manual" }).catch(() => undefined);
    },
    undefined,
    child.output,
  );
}
