/**
 * `npm run mutate`: plants every mistake of `mistakes/`, one at a time, and runs the tests that are meant to catch it.
 * `npm run mutate -- limits redis/fence-left-out` takes those of a room, or one.
 *
 * The tests run first without a mistake and must pass, or failing would mean nothing. A mistake is caught if a test
 * fails or never ends. If it only keeps a file from loading, it shows nothing about the tests, and the run fails. The
 * last line is always "planted=N caught=N survivors=N seconds=S".
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { ensure, testTools } from "../test/ground/machine.ts";
import { initialVariable, makeInitial, type Postgres, sharedVariable, startPostgres } from "../test/ground/postgres.ts";
import { cleanEnvironment, type Environment, type Finished, runProcess } from "../test/ground/process.ts";
import { tempFolder } from "../test/ground/temp.ts";
import { allMistakes, type NamedMistake } from "./list.ts";
import { plant, sourceOf } from "./mistake.ts";

type Outcome =
  | { kind: "caught"; by: string }
  | { kind: "survived" }
  /** No test ran to its end: the mistake is badly chosen, or its tests are. */
  | { kind: "shows nothing"; output: string };

interface Baseline {
  readonly file: string;
  readonly passed: readonly string[];
  readonly ms: number;
}

const root = join(import.meta.dir, "..");
const testTimeoutMs = 30_000;
const baselineMs = 300_000;
/** A mistake may slow its tests down until they fail by their own deadlines: those take longer than a pass. */
const slackMs = 60_000;
const slackTimes = 4;
/** More than there are cores, because tests often wait for servers. */
const workers = Math.min(6, availableParallelism() + 1);

process.exitCode = await main(Bun.argv.slice(2));

async function main(words: readonly string[]): Promise<number> {
  const started = performance.now();
  const chosen = allMistakes().filter(({ id }) => words.length === 0 || words.some((word) => isNamedBy(id, word)));
  const unknown = words.filter((word) => !chosen.some(({ id }) => isNamedBy(id, word)));
  if (unknown.length > 0) {
    console.log(`no mistake or room is called ${unknown.join(", ")}`);
    return 1;
  }
  const rotten = chosen.flatMap(({ id, mistake }) => problemWith(mistake).map((problem) => `${id}: ${problem}`));
  for (const problem of rotten) console.log(`does not apply: ${problem}`);
  if (rotten.length > 0) return 1;

  const missing = await ensure(testTools);
  for (const { name, install } of missing) console.log(`${name} is not on this machine. To install it:\n  ${install}`);
  if (missing.length > 0) return 1;
  let postgres: Postgres | undefined;
  try {
    const shared: Environment = {};
    // A test that needs a server is not beside its source.
    if (chosen.some(({ mistake }) => mistake.tests.some((file) => file.startsWith("test/")))) {
      const initial = await makeInitial();
      postgres = await startPostgres({ initial });
      Object.assign(shared, { [sharedVariable]: postgres.base, [initialVariable]: initial });
    }
    const env = cleanEnvironment(shared);
    const folders = Array.from({ length: Math.min(workers, chosen.length) }, workFolder);
    const baselines = await runBaselines(chosen, folders, env);
    if (baselines === undefined) return 1;
    const outcomes = await inParallel(folders, chosen, async (folder, one) => {
      const outcome = await tryOne(folder, one, timeLimit(one, baselines), env);
      console.log(describe(one, outcome));
      return outcome;
    });
    return conclude(chosen, outcomes, started);
  } finally {
    await postgres?.stop();
  }
}

function isNamedBy(id: string, word: string): boolean {
  return id === word || id.startsWith(`${word}/`);
}

function problemWith(mistake: NamedMistake["mistake"]): string[] {
  try {
    plant(mistake, readFileSync(join(root, sourceOf(mistake)), "utf8"));
    return [];
  } catch (error) {
    return [String(error)];
  }
}

/** A copy of everything that tests read, which finds the same packages. */
function workFolder(): string {
  const folder = tempFolder("mutate");
  const left = new Set([".git", ".tmp", "node_modules", "dist", "data"]);
  for (const name of readdirSync(root).filter((name) => !left.has(name))) {
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  mkdirSync(join(folder, ".tmp"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return folder;
}

/** Each test file once, with the tests that any mistake needs of it. Undefined if one fails. */
async function runBaselines(
  chosen: readonly NamedMistake[],
  folders: readonly string[],
  env: Environment,
): Promise<Map<string, Baseline> | undefined> {
  const wanted = new Map<string, (string | undefined)[]>();
  for (const { mistake } of chosen) {
    for (const file of mistake.tests) wanted.set(file, [...(wanted.get(file) ?? []), mistake.only]);
  }
  const baselines = new Map<string, Baseline>();
  const complaints: string[] = [];
  await inParallel(folders, [...wanted], async (folder, [file, filters]) => {
    const all = filters.includes(undefined) ? undefined : [...new Set(filters)].map((one) => `(?:${one})`).join("|");
    const started = performance.now();
    const { code, stdout, stderr } = await runTests(folder, [file], all, baselineMs, env, []);
    const ms = performance.now() - started;
    const output = stdout + stderr;
    const passed = namesOf(output, "pass");
    if (code !== 0 || passed.length === 0) complaints.push(`${file} fails without a mistake:\n${output}`);
    baselines.set(file, { file, passed, ms });
    console.log(`without a mistake: ${passed.length} tests of ${file} pass (${seconds(ms)} s)`);
  });
  for (const { id, mistake } of chosen) {
    const { only, tests } = mistake;
    const names = tests.flatMap((file) => baselines.get(file)?.passed ?? []);
    if (only !== undefined && !names.some((name) => new RegExp(only).test(name))) {
      complaints.push(`${id}: no test that passes is called ${only}`);
    }
  }
  for (const complaint of complaints) console.log(complaint);
  return complaints.length === 0 ? baselines : undefined;
}

function timeLimit({ mistake }: NamedMistake, baselines: ReadonlyMap<string, Baseline>): number {
  return Math.ceil(slackMs + slackTimes * mistake.tests.reduce((sum, file) => sum + (baselines.get(file)?.ms ?? 0), 0));
}

async function tryOne(
  folder: string,
  { mistake }: NamedMistake,
  timeoutMs: number,
  env: Environment,
): Promise<Outcome> {
  const path = join(folder, sourceOf(mistake));
  const text = readFileSync(path, "utf8");
  writeFileSync(path, plant(mistake, text));
  try {
    const { code, stdout, stderr } = await runTests(folder, mistake.tests, mistake.only, timeoutMs, env, ["--bail"]);
    const output = stdout + stderr;
    // A hook that fails has no name.
    const [by] = namesOf(output, "fail").filter((name) => name !== "(unnamed)");
    if (by !== undefined) return { kind: "caught", by: `"${by}"` };
    return code === 0 ? { kind: "survived" } : { kind: "shows nothing", output };
  } catch (error) {
    if (error instanceof Error && error.message.includes("was killed")) {
      return { kind: "caught", by: `a test that did not end in ${seconds(timeoutMs)} s` };
    }
    throw error;
  } finally {
    writeFileSync(path, text);
  }
}

async function runTests(
  cwd: string,
  files: readonly string[],
  only: string | undefined,
  timeoutMs: number,
  env: Environment,
  options: readonly string[],
): Promise<Finished> {
  const command = [process.execPath, "--no-env-file", "test", `--timeout=${testTimeoutMs}`, ...options];
  const filter = only === undefined ? [] : ["-t", only];
  return await runProcess([...command, ...filter, ...files.map((file) => `./${file}`)], { cwd, env, timeoutMs });
}

/** As `bun test` matches them: the names of the groups and the test, with spaces between. */
function namesOf(output: string, kind: "pass" | "fail"): string[] {
  const lines = output.matchAll(new RegExp(`^\\(${kind}\\) (.+?)(?: \\[[\\d.]+ms\\])?$`, "gm"));
  return [...lines].map(([, name = ""]) => name.replaceAll(" > ", " "));
}

async function inParallel<Item, Result>(
  folders: readonly string[],
  items: readonly Item[],
  work: (folder: string, item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  await Promise.all(
    folders.map(async (folder) => {
      for (let at = next++; at < items.length; at = next++) results[at] = await work(folder, items[at] as Item);
    }),
  );
  return results;
}

function describe({ id, mistake }: NamedMistake, outcome: Outcome): string {
  if (outcome.kind === "caught") return `caught: ${id}, by ${outcome.by}`;
  if (outcome.kind === "survived") return `SURVIVED: ${id}, tests ${mistake.tests.join(" ")}`;
  return `SHOWS NOTHING: ${id}, no test failed, but the run did\n${outcome.output.slice(-2_000)}`;
}

function conclude(chosen: readonly NamedMistake[], outcomes: readonly Outcome[], started: number): number {
  const left = chosen.flatMap((one, i) => {
    const outcome = outcomes[i];
    return outcome === undefined || outcome.kind === "caught" ? [] : [describe(one, outcome)];
  });
  if (left.length > 0) console.log(`\n${left.join("\n")}`);
  const caught = chosen.length - left.length;
  console.log(
    `\nplanted=${chosen.length} caught=${caught} survivors=${left.length} seconds=${seconds(performance.now() - started)}`,
  );
  return left.length === 0 ? 0 : 1;
}

function seconds(ms: number): number {
  return Math.round(ms / 1_000);
}
