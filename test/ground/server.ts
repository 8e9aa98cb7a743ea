/** The real server as a child process, and the real command line, without this shell's environment. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { runOnTerminal, type Terminal } from "../../src/cli/terminal.ts";
import { run } from "../../src/main.ts";
import { freePort } from "./ports.ts";
import { cleanEnvironment, type Environment, type Finished, runProcess, startProcess, until } from "./process.ts";
import { tempFolder } from "./temp.ts";

export type Server = {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** The API key that the first start writes to the data folder. */
  readonly key: string;
  readonly dataDir: string;
  /** So far. A line arrives some time after what caused it: `waitForOutput` waits for it. */
  output(): string;
  waitForOutput(pattern: RegExp): Promise<unknown>;
  /** SIGTERM; gives the exit code. */
  stop(): Promise<number>;
  kill(): Promise<void>;
};

/** To restart it on the same data, pass the previous `dataDir` and `key`, and `port` to keep its address. */
export type ServerOptions = {
  env?: Environment;
  dataDir?: string;
  port?: number;
  key?: string;
  /** Options of `serve`. */
  args?: readonly string[];
  /** A command that runs the given one in a modified environment. */
  within?: readonly string[];
  /** Another copy of `src/`, such as a mutant. */
  source?: string;
};

/** `folder` is where a `.env` is looked for. */
export type CliOptions = { env?: Environment; input?: string; stdin?: Readable; folder?: string };

const root = join(import.meta.dir, "../..");

/** Where the runner tells the test processes of the executable that it has built. */
export const programVariable = "QL_TEST_PROGRAM";

/** Where a control tells its proof of a copy of the source with a mistake in it. */
export const sourceVariable = "QL_TEST_SOURCE";

/** The source under test. */
export const sourceFolder = Bun.env[sourceVariable] ?? join(root, "src");

const sourceIn = (folder: string) => [process.execPath, "--no-env-file", join(folder, "main.ts")];

/** The program as a process: what the runner has built, which starts in half the time, else the source. */
export const program: readonly string[] =
  Bun.env[programVariable] === undefined ? sourceIn(sourceFolder) : [Bun.env[programVariable]];

/** The same, for a script. */
export const programInShell = program.map((word) => `'${word}'`).join(" ");

const keyWrittenMs = 30_000;

export async function startServer(options: ServerOptions = {}): Promise<Server> {
  const port = options.port ?? freePort();
  const dataDir = options.dataDir ?? tempFolder("data");
  const url = `http://127.0.0.1:${port}`;
  const settings = { PORT: String(port), HOST: "127.0.0.1", QL_DATA: dataDir, QL_LOG_LEVEL: "warn" };
  const env: Environment = { ...settings, ...options.env };
  const child = startProcess(
    [
      ...(options.within ?? []),
      ...(options.source === undefined ? program : sourceIn(options.source)),
      "serve",
      ...(options.args ?? []),
    ],
    { cwd: root, env: cleanEnvironment(env) },
  );
  try {
    await child.waitForUrl(`${url}/readyz`);
    // It is created after everything else, which may be after the first answer.
    const key = options.key ?? (await until("an API key", () => firstKey(env.QL_DATA), keyWrittenMs));
    return {
      url,
      port,
      pid: child.pid,
      key,
      dataDir,
      output: child.output,
      waitForOutput: (pattern) => child.waitForOutput(pattern),
      stop: () => child.stop(),
      kill: child.kill,
    };
  } catch (error) {
    await child.kill();
    throw error;
  }
}

function firstKey(folder = ""): string | undefined {
  const path = join(folder, "first-key");
  return existsSync(path) ? readFileSync(path, "utf8").trim() : undefined;
}

/**
 * Runs one command to its end, in this process. Give it `QL_DATA` or `DATABASE_URL`, or it works on a new empty folder.
 * What is about the process itself (signals, locks, its priority, a terminal) takes `cliProcess`.
 */
export async function cli(args: readonly string[], options: CliOptions = {}): Promise<Finished> {
  const [stdout, stderr] = [collect(), collect()];
  const terminal: Terminal = {
    environment: environmentOf(options),
    folder: options.folder ?? root,
    stdin: options.stdin ?? Readable.from([Buffer.from(options.input ?? "")]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    ownsProcess: false,
    exitCode: 0,
  };
  const code = await runOnTerminal(terminal, () => run(args));
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

/** The same, as a process. */
export async function cliProcess(args: readonly string[], options: CliOptions = {}): Promise<Finished> {
  return await runProcess([...program, ...args], {
    cwd: root,
    env: environmentOf(options),
    ...(options.input === undefined ? {} : { input: options.input }),
  });
}

const environmentOf = ({ env }: CliOptions): Environment =>
  cleanEnvironment({ QL_DATA: env?.QL_DATA ?? tempFolder("data"), QL_LOG_LEVEL: "warn", ...env });

function collect(): { stream: Writable; text(): string } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString() };
}
