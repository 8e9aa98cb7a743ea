/**
 * How long the server takes to its first answer, and what it uses when idle.
 *
 * Method: `src/main.ts serve` in embedded mode, from just before the process starts until the first 200 of /healthz,
 * requested every 2 ms: on an empty folder (secrets, schema and the first tenant are created) and on a folder with
 * 1,000 links; and what the API adds to it, which is loaded with its first request. A bare `Bun.serve` is started in every round too: it shows what the runtime itself needs, and how fast
 * the machine currently is. Memory is read 3 s after the first answer: RSS includes pages of the runtime's file that
 * are shared with every other Bun process, PSS includes its share of them, private is what would be freed if it ended,
 * and peak is the highest RSS until then.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../test/ground/ports.ts";
import { type Child, cleanEnvironment, startProcess } from "../test/ground/process.ts";
import { removeFolder, tempFolder } from "../test/ground/temp.ts";
import type { Bench, Figure, Target } from "./bench.ts";
import { cpuMicros } from "./cpu.ts";
import { rotated, spreadOf } from "./rounds.ts";
import { median, progress, round, table } from "./show.ts";
import { createLinks, destination, startSubject } from "./subject.ts";

const targets = { firstMs: { most: 300 }, idleMb: { most: 90 } } as const satisfies Record<string, Target>;

const rounds = 9;
const memoryRounds = 3;
const idleMs = 3_000;
const pollMs = 2;
const startMs = 20_000;
const root = join(import.meta.dir, "..");

interface Contender {
  readonly name: string;
  /** Requested once after the first answer, before memory is read. */
  readonly uses?: string;
  /** Starts it on a port, with whatever it needs; returns the process and how to clean up. */
  launch(port: number): { child: Child; clean(): void };
}

interface Memory {
  readonly rssMb: number;
  readonly pssMb: number;
  readonly privateMb: number;
  readonly peakMb: number;
}

interface Samples {
  readonly ms: number[];
  readonly cpuMs: number[];
  readonly memory: Memory[];
}

export const start: Bench = {
  name: "start",
  shows: "start to first answer, and idle memory",
  needs: [],
  run,
};

async function run(): Promise<readonly Figure[]> {
  const contenders = [bare, fresh, used, await existing()];
  const samples = new Map(contenders.map((one): [Contender, Samples] => [one, { ms: [], cpuMs: [], memory: [] }]));
  const shown = progress();
  for (let i = 0; i < rounds; i++) {
    for (const contender of rotated(contenders, i)) {
      shown.now(`round ${i + 1} of ${rounds}: ${contender.name}`);
      await measure(contender, samples.get(contender), i < memoryRounds);
    }
  }
  shown.end();
  return report(samples);
}

async function measure({ launch, uses }: Contender, samples: Samples | undefined, idle: boolean): Promise<void> {
  const port = freePort();
  const started = performance.now();
  const { child, clean } = launch(port);
  try {
    await firstAnswer(child, port);
    samples?.ms.push(performance.now() - started);
    samples?.cpuMs.push(cpuMicros(child.pid) / 1_000);
    if (uses !== undefined) await fetch(`http://127.0.0.1:${port}${uses}`);
    if (idle) {
      await Bun.sleep(idleMs);
      samples?.memory.push(memoryOf(child.pid));
    }
  } finally {
    await child.stop();
    clean();
  }
}

async function firstAnswer(child: Child, port: number): Promise<void> {
  const deadlineMs = performance.now() + startMs;
  while (performance.now() < deadlineMs && child.running()) {
    const response = await fetch(`http://127.0.0.1:${port}/healthz`, { redirect: "manual" }).catch(() => undefined);
    if (response !== undefined && response.status < 400) return;
    await Bun.sleep(pollMs);
  }
  throw new Error(`no answer within ${startMs} ms\n${child.output()}`);
}

function report(samples: ReadonlyMap<Contender, Samples>): readonly Figure[] {
  const memory = (all: Samples, kind: keyof Memory) => median(all.memory.map((one) => one[kind]));
  table([
    ["", "first answer ms", "min", "CPU ms", "RSS MB", "PSS MB", "private MB", "peak MB"],
    ...[...samples].map(([{ name }, all]) => [
      name,
      round(median(all.ms)),
      round(Math.min(...all.ms)),
      round(median(all.cpuMs)),
      round(memory(all, "rssMb")),
      round(memory(all, "pssMb")),
      round(memory(all, "privateMb")),
      round(memory(all, "peakMb")),
    ]),
  ]);
  return [...samples]
    .filter(([{ name }]) => name !== bare.name)
    .flatMap(([{ name }, all]) => [
      { name: `${name}, first answer, ms`, figure: median(all.ms), spread: spreadOf(all.ms), target: targets.firstMs },
      { name: `${name}, idle RSS, MB`, figure: memory(all, "rssMb"), target: targets.idleMb },
    ]);
}

const bare: Contender = {
  name: "bare Bun.serve",
  launch: (port) => ({
    child: startProcess([process.execPath, "--no-env-file", join(root, "bench/bare.ts"), String(port), destination]),
    clean() {},
  }),
};

const fresh: Contender = {
  name: "ours, new folder",
  launch(port) {
    const folder = tempFolder("data");
    return { child: serve(port, folder), clean: () => removeFolder(folder) };
  },
};

/** The API is loaded with its first request. */
const used: Contender = { ...fresh, name: "ours, API used", uses: "/api/links" };

async function existing(): Promise<Contender> {
  const subject = await startSubject("sqlite");
  await createLinks(subject.server, 1_000);
  await subject.stop();
  return {
    name: "ours, 1,000 links",
    launch: (port) => ({ child: serve(port, subject.server.dataDir), clean() {} }),
  };
}

/** As `npm start` does. */
function serve(port: number, folder: string): Child {
  return startProcess([process.execPath, "--no-env-file", "src/main.ts", "serve"], {
    cwd: root,
    env: cleanEnvironment({ PORT: String(port), HOST: "127.0.0.1", QL_DATA: folder }),
  });
}

function memoryOf(pid: number): Memory {
  const text = ["smaps_rollup", "status"].map((file) => readFileSync(`/proc/${pid}/${file}`, "utf8")).join("");
  const mb = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text)?.[1]) / 1_024;
  return {
    rssMb: mb("Rss"),
    pssMb: mb("Pss"),
    privateMb: mb("Private_Clean") + mb("Private_Dirty"),
    peakMb: mb("VmHWM"),
  };
}
