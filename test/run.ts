/**
 * `npm test`: lint, types and every test, with the servers they need.
 *
 * With arguments, only the tests that `bun test` finds by them. Lint and types run beside the tests. The slowest files of
 * the run before start first, so that none of them is left running alone at the end. The last line is always "N passed, N
 * failed". Nothing is ever skipped: a skipped test is a failure, and what could not run for want of a tool is named and
 * fails the run.
 *
 * Two cores run five test files and their servers at once, and neighbours take what they like of them. A file that failed
 * there runs again by itself. If it fails again, so does the run. If it passes, the run names it as unsteady: it depends on
 * the machine's speed, or shows a race that few others will see, and is to be mended either way. Many at once are no
 * accident, and get no second run.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, statfsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { chromiumAvailable, chromiumVariable, type SharedChromium, shareChromium } from "./ground/chromium.ts";
import { keep } from "./ground/keeper.ts";
import { ensure, type Missing, testTools } from "./ground/machine.ts";
import {
  initialVariable,
  makeInitial,
  type Postgres,
  postgresAvailable,
  sharedVariable,
  startPostgres,
} from "./ground/postgres.ts";
import { type Finished, runProcess } from "./ground/process.ts";
import { programVariable } from "./ground/server.ts";
import { tempFolder } from "./ground/temp.ts";

type Tally = { passed: number; failed: number };

const root = join(import.meta.dir, "..");
const testTimeoutMs = 60_000;
const checkMs = 300_000;
const slowestShown = 5;
const unsteadyMost = 6;
const memoryBytesLeast = 4 * 2 ** 30;
const timings = join(root, ".tmp/test-timings.json");
// For the first run of a clone. To renew it, copy the other one here after a whole run.
const firstTimings = join(root, "test/timings.json");

// Five at least, because most of a test's time is waiting for servers; not many, because each of them brings some.
const workers = Math.min(8, Math.max(5, availableParallelism()));

// Settings of the developer's shell, which could lead a test to a server that is not ours.
const foreign = /^(QL_|PG|DATABASE_URL$|REDIS_URL$|LIMITS_REDIS_URL$|S3_URL$)/;

process.exitCode = await main(Bun.argv.slice(2));

async function main(filters: string[]): Promise<number> {
  const missing = await ensure(testTools);
  const tallies: Tally[] = [];
  let postgres: Postgres | undefined;
  let chromium: SharedChromium | undefined;
  try {
    const shared: Record<string, string> = temporaryFiles();
    const building = filters.length === 0 ? build() : undefined;
    building?.catch(() => {}); // awaited below
    if (postgresAvailable()) {
      const initial = await makeInitial();
      postgres = await startPostgres({ initial });
      Object.assign(shared, { [sharedVariable]: postgres.base, [initialVariable]: initial });
    }
    if (filters.length > 0) {
      tallies.push(await test(filters, shared));
    } else {
      const checks = [
        check("lint", [join(root, "node_modules/.bin/biome"), "check", "."]),
        check("types", [process.execPath, "--no-env-file", "check", "--no-script"]),
        check("types of the dashboard", [process.execPath, "--no-env-file", "check", "--no-script", "-p", "web"]),
        check("types of its tests", [
          ...[process.execPath, "--no-env-file", "check", "--no-script", "-p", "web/tsconfig.test.json"],
        ]),
      ];
      if (chromiumAvailable()) {
        chromium = await shareChromium();
        shared[chromiumVariable] = chromium.address;
      }
      if (building !== undefined) shared[programVariable] = await building;
      tallies.push(await test([], shared));
      for (const finished of checks) tallies.push(showCheck(await finished));
    }
  } catch (error) {
    console.error(error);
    tallies.push({ passed: 0, failed: 1 });
  } finally {
    await chromium?.stop();
    await postgres?.stop();
  }
  return conclude(tallies, missing);
}

function conclude(tallies: readonly Tally[], missing: readonly Missing[]): number {
  for (const { name, install } of missing) {
    console.log(`\nWhat needs ${name} did not run, because it is not on this machine. To install it:\n  ${install}`);
  }
  const passed = tallies.reduce((sum, tally) => sum + tally.passed, 0);
  const failed = tallies.reduce((sum, tally) => sum + tally.failed, 0);
  console.log(`\n${passed} passed, ${failed} failed`);
  return failed === 0 && missing.length === 0 ? 0 : 1;
}

/**
 * In memory, where there is room: tests make and remove some hundred thousand files, most of them of databases. A folder
 * that forbids programs is not used, because some tests write one.
 */
function temporaryFiles(): Record<string, string> {
  const folder = "/dev/shm";
  if (!existsSync(folder)) return {};
  const { bavail, bsize } = statfsSync(folder);
  const options = / \/dev\/shm \S+ (\S+)/.exec(readFileSync("/proc/mounts", "utf8"))?.[1] ?? "noexec";
  if (bavail * bsize < memoryBytesLeast || options.split(",").includes("noexec")) return {};
  process.env.TMPDIR = folder; // for the PostgreSQL that all share
  return { TMPDIR: folder };
}

type Check = Finished & { title: string };

/** Never rejects: it is awaited only after the tests. */
async function check(title: string, command: readonly string[]): Promise<Check> {
  try {
    return { title, ...(await runProcess(command, { cwd: root, env: environment(), timeoutMs: checkMs })) };
  } catch (error) {
    return { title, code: 1, stdout: "", stderr: String(error) };
  }
}

/** After the tests, where it is not lost between their lines. */
function showCheck({ title, code, stdout, stderr }: Check): Tally {
  console.log(`\n${title}:\n${stdout}${stderr}`.trimEnd());
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/** Tests start hundreds of processes, and the executable starts in half the time that the source takes. */
async function build(): Promise<string> {
  const outfile = join(tempFolder("program"), "quicklink");
  await runProcess([process.execPath, "--no-env-file", "web/bundle.ts", "--if-changed"], {
    cwd: root,
    timeoutMs: checkMs,
  });
  const command = [process.execPath, "--no-env-file", "scripts/build.ts", outfile];
  const { code, stdout, stderr } = await runProcess(command, { cwd: root, env: environment(), timeoutMs: checkMs });
  if (code !== 0) throw new Error(`the program could not be built\n${stdout}${stderr}`);
  return outfile;
}

async function test(filters: readonly string[], shared: Record<string, string>): Promise<Tally> {
  mkdirSync(dirname(timings), { recursive: true });
  if (!existsSync(timings)) copyFileSync(firstTimings, timings);
  const isWhole = filters.length === 0;
  const first = await runTests(
    [
      ...[`--parallel=${workers}`, `--timings=${timings}`, "--update-timings"],
      ...(isWhole ? ["./src", "./test", "./prove", "./web"] : filters),
    ],
    // With CI set, `test.only` is an error. In a filtered run it is allowed.
    { ...shared, ...(isWhole ? { CI: "true" } : {}) },
  );
  if (isWhole) showSlowest(first.junit);
  return await secondRun(first, shared);
}

type TestRun = { readonly tally: Tally; readonly junit: string };

async function runTests(args: readonly string[], env: Record<string, string>): Promise<TestRun> {
  const report = join(tempFolder("junit"), "junit.xml");
  const code = await stream(
    [
      ...[process.execPath, "--no-env-file", "test", `--timeout=${testTimeoutMs}`],
      ...["--reporter=junit", `--reporter-outfile=${report}`, ...args],
    ],
    environment(env),
  );
  const junit = existsSync(report) ? readFileSync(report, "utf8") : "";
  return { tally: tallyOf(code, junit), junit };
}

/** Each failed file by itself, unless they are too many. */
async function secondRun({ tally, junit }: TestRun, shared: Record<string, string>): Promise<Tally> {
  const files = failedFiles(junit);
  if (files.length === 0 || files.length > unsteadyMost) return tally;
  let { passed, failed } = tally;
  const unsteady: string[] = [];
  for (const { file, failures } of files) {
    console.log(`\n${file} failed, and runs again by itself:`);
    const again = await runTests([`./${file}`], shared);
    if (again.tally.failed > 0) continue;
    passed += failures;
    failed -= failures;
    unsteady.push(`  ${file}: ${failedTests(junit, file).join(" · ")}`);
  }
  if (unsteady.length > 0) console.log(`\nUnsteady: failed beside other tests, passed alone.\n${unsteady.join("\n")}`);
  return { passed, failed };
}

function failedFiles(junit: string): { file: string; failures: number }[] {
  const suites = [...junit.matchAll(/^ {2}<testsuite name="([^"]+)"[^>]* failures="([1-9]\d*)"/gm)];
  return suites.map(([, file = "", failures]) => ({ file, failures: Number(failures) }));
}

function failedTests(junit: string, file: string): string[] {
  const cases = [...junit.matchAll(/<testcase name="([^"]*)"[^>]* file="([^"]*)"[^>]*[^/]>\s*<failure/g)];
  return cases.filter(([, , of]) => of === file).map(([, name = ""]) => name);
}

function showSlowest(junit: string): void {
  const suites = [...junit.matchAll(/^ {2}<testsuite name="([^"]+)"[^>]* time="([\d.]+)"/gm)];
  const slowest = suites.toSorted(([, , one], [, , other]) => Number(other) - Number(one)).slice(0, slowestShown);
  console.log("\nThe slowest files:");
  for (const [, file, seconds] of slowest) console.log(`  ${Math.round(Number(seconds))} s  ${file}`);
}

function tallyOf(code: number, junit: string): Tally {
  const totals = /<testsuites [^>]*>/.exec(junit)?.[0] ?? "";
  const count = (attribute: string) => Number(new RegExp(` ${attribute}="(\\d+)"`).exec(totals)?.[1] ?? 0);
  const skipped = count("skipped");
  const failed = count("failures") + skipped;
  const passed = count("tests") - failed;
  if (skipped > 0) console.log(`\n${skipped} skipped, which counts as failed: a test runs or it is removed.`);
  // A file that does not load, or a runner that dies, leaves no failed test in the report.
  const crashed = failed === 0 && (code !== 0 || passed === 0);
  if (crashed) console.log(`\nbun test ended with ${code} and ${passed} tests run, which counts as one failure.`);
  return { passed, failed: crashed ? 1 : failed };
}

async function stream(command: readonly string[], env: Record<string, string | undefined>): Promise<number> {
  const child = Bun.spawn([...command], { cwd: root, env, stdin: "ignore", stdout: "inherit", stderr: "inherit" });
  const forget = keep({ pid: child.pid, signal: "KILL" });
  const code = await child.exited;
  forget();
  return code;
}

function environment(extra: Record<string, string> = {}): Record<string, string> {
  const own = Object.entries(Bun.env).filter(([name, value]) => value !== undefined && !foreign.test(name));
  return { ...(Object.fromEntries(own) as Record<string, string>), ...extra };
}
