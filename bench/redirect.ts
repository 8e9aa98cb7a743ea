/**
 * What a redirect costs, compared with the least it could cost.
 *
 * Method: nginx with a constant 302 (one worker, no access log), a bare `Bun.serve` with a constant 302, and the real
 * server with all features: one link in memory, 1,000 links in turn, and one link with three rules (country, device,
 * language) that are all checked because none matches. Each server is pinned to one core and wrk to another, with 32
 * keep-alive connections and a browser's headers. Rounds are interleaved and start with a different server each time,
 * so that other load on the machine affects all of them.
 *
 * The figure is the CPU time of the server process per request, not requests per second, which on a shared machine
 * depends on other users. Ratios are computed within each round, and their median is compared with the target. The
 * ratio of the two least disturbed rounds is shown beside it, because other users also evict CPU caches. "busy" is the
 * server's share of its core: below 100% it was waiting for wrk, and woke up more often per request.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { find } from "../test/ground/machine.ts";
import { freePort } from "../test/ground/ports.ts";
import { type Child, startProcess, until } from "../test/ground/process.ts";
import { tempFolder } from "../test/ground/temp.ts";
import type { Bench } from "./bench.ts";
import { children, cpuMicros, pin, twoCores } from "./cpu.ts";
import { browserHeaders, load } from "./load.ts";
import { judge, median, progress, round, table } from "./show.ts";
import { createLink, createLinks, createRuledLink, destination, startSubject } from "./subject.ts";

const rounds = 7;
const warmSeconds = 3;
const roundSeconds = 2;
const connections = 32;
const links = 1_000;

interface Contender {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  readonly script?: string;
}

interface Sample {
  readonly micros: number;
  readonly perSecond: number;
  readonly busy: number;
}

export const redirect: Bench = {
  name: "redirect",
  shows: "CPU per redirect: nginx, a bare Bun.serve, and ours from memory",
  needs: ["nginx", "wrk"],
  run,
};

async function run(): Promise<void> {
  const cores = twoCores();
  const nginx = await startNginx();
  const bare = await startBare();
  const subject = await startSubject("sqlite");
  try {
    const { server } = subject;
    const one = { name: "ours, one link", url: `${server.url}/${await createLink(server)}`, pid: server.pid };
    const many = { ...one, name: "ours, 1,000 links", script: rotate(await createLinks(server, links)) };
    const ruled = { ...one, name: "ours, one link with rules", url: `${server.url}/${await createRuledLink(server)}` };
    const contenders: Contender[] = [nginx, bare, one, many, ruled];
    for (const { url } of contenders) await requireRedirect(url);
    for (const { pid } of contenders) await pin(pid, cores.server);
    const samples = await measure(contenders, cores.client);
    report(contenders, samples);
  } finally {
    await Promise.all([nginx.child.stop({ signal: "SIGTERM" }), bare.child.stop(), subject.stop()]);
  }
}

async function measure(contenders: readonly Contender[], core: number): Promise<Map<Contender, Sample[]>> {
  const samples = new Map(contenders.map((contender): [Contender, Sample[]] => [contender, []]));
  const shown = progress();
  for (const contender of contenders) {
    shown.now(`warming up ${contender.name}`);
    await sample(contender, core, warmSeconds);
  }
  for (let i = 0; i < rounds; i++) {
    for (let turn = 0; turn < contenders.length; turn++) {
      const contender = contenders[(i + turn) % contenders.length];
      if (contender === undefined) continue;
      shown.now(`round ${i + 1} of ${rounds}: ${contender.name}`);
      samples.get(contender)?.push(await sample(contender, core, roundSeconds));
    }
  }
  shown.end();
  return samples;
}

async function sample({ url, pid, script }: Contender, core: number, seconds: number): Promise<Sample> {
  const before = cpuMicros(pid);
  const loaded = await load({
    ...{ url, connections, seconds, core, headers: browserHeaders },
    ...(script === undefined ? {} : { script }),
  });
  const used = cpuMicros(pid) - before;
  return {
    micros: used / loaded.requests,
    perSecond: loaded.requests / loaded.seconds,
    busy: used / 1e6 / loaded.seconds,
  };
}

function report(contenders: readonly Contender[], samples: ReadonlyMap<Contender, readonly Sample[]>): void {
  const of = (contender: Contender | undefined) => (contender && samples.get(contender)) ?? [];
  table([
    ["", "CPU µs per request", "min", "requests/s", "busy"],
    ...contenders.map((contender) => {
      const micros = of(contender).map((one) => one.micros);
      return [
        contender.name,
        round(median(micros)),
        round(Math.min(...micros)),
        round(median(of(contender).map((one) => one.perSecond))),
        `${Math.round(100 * median(of(contender).map((one) => one.busy)))}%`,
      ];
    }),
  ]);
  const [nginx, bare, one, many, ruled] = contenders.map(of);
  for (const [name, ours] of [
    ["one link", one],
    ["1,000 links", many],
  ] as const) {
    compare(`ours / bare, ${name}`, ours, bare, 1.15);
    compare(`ours / nginx, ${name}`, ours, nginx, 2, 1.6);
  }
  compare("one link with rules / one without", ruled, one, 2);
}

function compare(
  what: string,
  ours: readonly Sample[] = [],
  theirs: readonly Sample[] = [],
  ...targets: readonly number[]
): void {
  const ratios = ours.map((sample, i) => sample.micros / (theirs[i]?.micros ?? Number.NaN));
  const least = (samples: readonly Sample[]) => Math.min(...samples.map((sample) => sample.micros));
  const spread = `rounds ${round(Math.min(...ratios))} to ${round(Math.max(...ratios))}`;
  judge(`${what} (${spread}, least ${round(least(ours) / least(theirs))})`, median(ratios), ...targets);
}

async function requireRedirect(url: string): Promise<void> {
  const response = await fetch(url, { redirect: "manual" });
  const location = response.headers.get("location");
  if (response.status !== 302 || location !== destination) {
    throw new Error(`${url} answered ${response.status} ${location}, not a 302 to ${destination}`);
  }
}

/** wrk requests each of them in turn. The requests are built once, so that wrk is not the bottleneck. */
function rotate(codes: readonly string[]): string {
  const path = join(tempFolder("wrk"), "rotate.lua");
  writeFileSync(
    path,
    `local codes = { ${codes.map((code) => JSON.stringify(code)).join(", ")} }
local requests, at = {}, 0
function init()
  for i, code in ipairs(codes) do requests[i] = wrk.format("GET", "/" .. code) end
end
function request()
  at = at % #requests + 1
  return requests[at]
end
`,
  );
  return path;
}

async function startBare(): Promise<Contender & { child: Child }> {
  const port = freePort();
  const script = join(import.meta.dir, "bare.ts");
  const child = startProcess([process.execPath, "--no-env-file", script, String(port), destination]);
  const url = `http://127.0.0.1:${port}/abcdefg`;
  await listening(child, url);
  return { name: "bare Bun.serve, constant 302", url, pid: child.pid, child };
}

async function startNginx(): Promise<Contender & { child: Child }> {
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
  keepalive_requests 1000000000;
  ${temporary}
  server {
    listen 127.0.0.1:${port};
    location / { return 302 "${destination}"; }
  }
}
`,
  );
  const command = [find("nginx")?.path ?? "nginx", "-p", folder, "-e", `${folder}/error.log`, "-c", config];
  // QUIT, not KILL: after a KILL the worker would outlive its master.
  const child = startProcess(command, { cwd: folder, lastSignal: "QUIT" });
  const url = `http://127.0.0.1:${port}/abcdefg`;
  await listening(child, url);
  const [worker] = children(child.pid);
  if (worker === undefined) throw new Error("nginx has no worker");
  return { name: "nginx, constant 302", url, pid: worker, child };
}

async function listening(child: Child, url: string): Promise<void> {
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
