/** The real server and the real command line, as child processes with nothing of this shell's environment. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "./ports.ts";
import { cleanEnvironment, type Environment, type Finished, runProcess, startProcess, until } from "./process.ts";
import { tempFolder } from "./temp.ts";

export type Server = {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** The API key that the first start leaves in the data folder. */
  readonly key: string;
  readonly dataDir: string;
  output(): string;
  /** SIGTERM; gives the exit code. */
  stop(): Promise<number>;
  kill(): Promise<void>;
};

/** To start it again on the same data, pass the former `dataDir` and `key`, and `port` to keep its address. */
export type ServerOptions = {
  env?: Environment;
  dataDir?: string;
  port?: number;
  key?: string;
  /** Options of `serve`. */
  args?: readonly string[];
  /** A command that runs the one given to it, in surroundings of its own. */
  within?: readonly string[];
  /** Another copy of `src/`, such as a mutant. */
  source?: string;
};

export type CliOptions = { env?: Environment; input?: string };

const root = join(import.meta.dir, "../..");
const programIn = (source = "src") => [process.execPath, "--no-env-file", join(source, "main.ts")];
const keyWrittenMs = 10_000;

export async function startServer(options: ServerOptions = {}): Promise<Server> {
  const port = options.port ?? freePort();
  const dataDir = options.dataDir ?? tempFolder("data");
  const url = `http://127.0.0.1:${port}`;
  const settings = { PORT: String(port), HOST: "127.0.0.1", QL_DATA: dataDir, QL_LOG_LEVEL: "warn" };
  const env: Environment = { ...settings, ...options.env };
  const child = startProcess(
    [...(options.within ?? []), ...programIn(options.source), "serve", ...(options.args ?? [])],
    { cwd: root, env: cleanEnvironment(env) },
  );
  try {
    await child.waitForUrl(`${url}/readyz`);
    // It is made when all else is there, which may be after the first answer.
    const key = options.key ?? (await until("an API key", () => firstKey(env.QL_DATA), keyWrittenMs));
    return {
      url,
      port,
      pid: child.pid,
      key,
      dataDir,
      output: child.output,
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

/** Runs one command to its end. Give it `QL_DATA` or `DATABASE_URL`, or it works on a new empty folder. */
export async function cli(args: readonly string[], options: CliOptions = {}): Promise<Finished> {
  return await runProcess([...programIn(), ...args], {
    cwd: root,
    env: cleanEnvironment({
      QL_DATA: options.env?.QL_DATA ?? tempFolder("data"),
      QL_LOG_LEVEL: "warn",
      ...options.env,
    }),
    ...(options.input === undefined ? {} : { input: options.input }),
  });
}
