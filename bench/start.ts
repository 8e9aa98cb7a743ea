/**
 * How long the server takes to its first answer, and what it uses when idle.
 *
 * Method: the bundled server, as `npm start` runs it, in embedded mode, from just before the process starts until the first
 * 200 of /healthz, requested every 2 ms: on an empty folder (secrets, schema and the first tenant are created) and on a folder
 * with 1,000 links; what the API adds to it, which is loaded with its first request; and the same from its sources, as
 * `npm run dev` does. A bare `Bun.serve` is started in every round too: it shows what the runtime itself needs, and how fast
 * the machine currently is.
 *
 * Memory is read 3 s after the first answer, and once more, of all of them side by side, after a minute and a half without a
 * request, by when every job was due that runs each minute. RSS includes pages of the runtime's file that are shared with
 * every other Bun process, PSS includes its share of them, private is what would be freed if it ended, and peak is the
 * highest RSS until then.
 *
 * The budget shows which modules the start consists of: a process loads the sources one after the other, each after what it
 * imports (`modules.ts`). From the bundle all of them cost less, so the shares count, not the sums. "later" are those that
 * are loaded with the first API call. In brackets is the work on the database of a new folder, which costs the same from the
 * bundle.
 */
import { join } from "node:path";
import { freePort } from "../test/ground/ports.ts";
import { type Child, cleanEnvironment, runProcess, startProcess } from "../test/ground/process.ts";
import { removeFolder, tempFolder } from "../test/ground/temp.ts";
import type { Bench, Figure, Target } from "./bench.ts";
import { cpuMicros } from "./cpu.ts";
import { type Memory, memoryOf } from "./memory-of.ts";
import type { ModuleCost } from "./modules.ts";
import { rotated, spreadOf } from "./rounds.ts";
import { median, progress, round, table } from "./show.ts";
import { createLinks, destination, startSubject } from "./subject.ts";

const targets = {
  firstMs: { most: 200 },
  idleMb: { most: 75 },
  usedMb: { most: 90 },
} as const satisfies Record<string, Target>;

const rounds = 9;
const memoryRounds = 3;
const idleMs = 3_000;
/** More than the interval of the jobs that run most often in the background, and the second until their first look. */
const longIdleMs = 90_000;
const budgetRounds = 5;
const budgetRows = 16;
const pollMs = 2;
const startMs = 20_000;
const root = join(import.meta.dir, "..");

interface Contender {
  readonly name: string;
  /** Requested once after the first answer, before memory is read. */
  readonly uses?: string;
  /** Undefined: only for comparison. */
  readonly idleTarget?: Target;
  /** Starts it on a port, with whatever it needs; returns the process and how to clean up. */
  launch(port: number): { child: Child; clean(): void };
}

interface Samples {
  readonly ms: number[];
  readonly cpuMs: number[];
  readonly memory: Memory[];
  readonly longIdle: Memory[];
}

export const start: Bench = {
  name: "start",
  shows: "start to first answer, and idle memory",
  needs: [],
  run,
};

async function run(): Promise<readonly Figure[]> {
  await bundle();
  const contenders = [bare, fresh, used, await existing(), unbundled];
  const samples = new Map(
    contenders.map((one): [Contender, Samples] => [one, { ms: [], cpuMs: [], memory: [], longIdle: [] }]),
  );
  const shown = progress();
  for (let i = 0; i < rounds; i++) {
    for (const contender of rotated(contenders, i)) {
      shown.now(`round ${i + 1} of ${rounds}: ${contender.name}`);
      await measure(contender, samples.get(contender), i < memoryRounds);
    }
  }
  shown.now(`all of them idle for ${longIdleMs / 1_000} s`);
  await Promise.all([...samples].map(([contender, all]) => idleLong(contender, all)));
  shown.now("modules one by one");
  const runs: ModuleCost[][] = [];
  for (let i = 0; i < budgetRounds; i++) runs.push(await moduleCosts());
  shown.end();
  const figures = report(samples);
  showBudget(runs);
  return figures;
}

async function bundle(): Promise<void> {
  const { code, stdout, stderr } = await runProcess(
    [process.execPath, "--no-env-file", "scripts/bundle.ts", "--if-changed"],
    { cwd: root },
  );
  if (code !== 0) throw new Error(`the server could not be bundled\n${stdout}${stderr}`);
}

async function idleLong({ launch, uses }: Contender, { longIdle }: Samples): Promise<void> {
  const port = freePort();
  const { child, clean } = launch(port);
  try {
    await firstAnswer(child, port);
    if (uses !== undefined) await fetch(`http://127.0.0.1:${port}${uses}`);
    await Bun.sleep(longIdleMs);
    longIdle.push(memoryOf(child.pid));
  } finally {
    await child.stop();
    clean();
  }
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
  const memory = (all: readonly Memory[], kind: keyof Memory) => median(all.map((one) => one[kind]));
  table([
    [
      "",
      "first answer ms",
      "min",
      "CPU ms",
      "RSS MB",
      "peak MB",
      `RSS after ${longIdleMs / 1_000} s`,
      "PSS",
      "private",
    ],
    ...[...samples].map(([{ name }, all]) => [
      name,
      round(median(all.ms)),
      round(Math.min(...all.ms)),
      round(median(all.cpuMs)),
      round(memory(all.memory, "rssMb")),
      round(memory(all.memory, "peakMb")),
      round(memory(all.longIdle, "rssMb")),
      round(memory(all.longIdle, "pssMb")),
      round(memory(all.longIdle, "privateMb")),
    ]),
  ]);
  return [...samples].flatMap(([{ name, idleTarget: target }, all]) =>
    target === undefined
      ? []
      : [
          {
            name: `${name}, first answer, ms`,
            figure: median(all.ms),
            spread: spreadOf(all.ms),
            target: targets.firstMs,
          },
          { name: `${name}, RSS after 3 s, MB`, figure: memory(all.memory, "rssMb"), target },
          { name: `${name}, RSS after ${longIdleMs / 1_000} s, MB`, figure: memory(all.longIdle, "rssMb"), target },
        ],
  );
}

/** What the server loads to answer redirects on SQLite, and what the API adds. */
const startModules = ["src/main.ts", "src/cli/serve-action.ts", "src/server/server.ts", "src/sql/sqlite.ts"];
const apiModules = ["src/server/http.ts"];

async function moduleCosts(): Promise<ModuleCost[]> {
  const program = join(import.meta.dir, "modules.ts");
  const command = [process.execPath, "--no-env-file", program, ...startModules, "--", ...apiModules];
  const { code, stdout, stderr } = await runProcess(command, { cwd: root, timeoutMs: startMs });
  if (code !== 0) throw new Error(`the modules could not be loaded\n${stdout}${stderr}`);
  return JSON.parse(stdout) as ModuleCost[];
}

function showBudget(runs: readonly (readonly ModuleCost[])[]): void {
  const [first = []] = runs;
  const costs = first.map((cost, i) => ({
    ...cost,
    cpuMs: median(runs.map((run) => run[i]?.cpuMs ?? 0)),
    mb: median(runs.map((run) => run[i]?.mb ?? 0)),
  }));
  for (const later of [false, true]) {
    const some = costs.filter((cost) => cost.later === later).toSorted((a, b) => b.cpuMs - a.cpuMs);
    const line = (name: string, all: readonly ModuleCost[]) => [
      name,
      String(all.reduce((sum, { files }) => sum + files, 0)),
      round(all.reduce((sum, { cpuMs }) => sum + cpuMs, 0)),
      round(all.reduce((sum, { mb }) => sum + mb, 0)),
    ];
    table([
      [later ? "modules of the API, later" : "modules of the start", "files", "CPU ms", "MB"],
      ...some.slice(0, budgetRows).map((cost) => line(cost.group, [cost])),
      line("others", some.slice(budgetRows)),
      line("all", some),
    ]);
  }
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
  idleTarget: targets.idleMb,
  launch(port) {
    const folder = tempFolder("data");
    return { child: serve(port, folder), clean: () => removeFolder(folder) };
  },
};

/** The API is loaded with its first request. */
const used: Contender = { ...fresh, name: "ours, API used", uses: "/api/links", idleTarget: targets.usedMb };

const unbundled: Contender = {
  name: "from its sources, new folder",
  launch(port) {
    const folder = tempFolder("data");
    return { child: serve(port, folder, "src/main.ts"), clean: () => removeFolder(folder) };
  },
};

async function existing(): Promise<Contender> {
  const subject = await startSubject("sqlite");
  await createLinks(subject.server, 1_000);
  await subject.stop();
  return {
    name: "ours, 1,000 links",
    idleTarget: targets.idleMb,
    launch: (port) => ({ child: serve(port, subject.server.dataDir), clean() {} }),
  };
}

/** As `npm start` does. */
function serve(port: number, folder: string, program = "dist/server/main.ts"): Child {
  return startProcess([process.execPath, "--no-env-file", program, "serve"], {
    cwd: root,
    env: cleanEnvironment({ PORT: String(port), HOST: "127.0.0.1", QL_DATA: folder }),
  });
}
