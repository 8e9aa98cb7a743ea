/**
 * An older copy of the program, to compare with: a folder with its own `npm install`, named by `QL_BENCH_BEFORE`. It runs
 * its own server and its own commands, because ours would migrate its database.
 *
 *     git worktree add --detach ../before 2e323dc && (cd ../before && npm install)
 *     QL_BENCH_BEFORE=../before npm run bench -- create
 */
import { join, resolve } from "node:path";
import { freePort } from "../test/ground/ports.ts";
import { startPostgres } from "../test/ground/postgres.ts";
import { cleanEnvironment, type Environment, type Finished, runProcess, startProcess } from "../test/ground/process.ts";
import { tempFolder } from "../test/ground/temp.ts";
import type { Database, Subject } from "./subject.ts";

export const olderFolder = (): string | undefined =>
  Bun.env.QL_BENCH_BEFORE === undefined ? undefined : resolve(Bun.env.QL_BENCH_BEFORE);

const commandMs = 600_000;
const startMs = 60_000;

export const runOlder = (folder: string, args: readonly string[], env: Environment): Promise<Finished> =>
  runProcess([...olderProgram(folder), ...args], { cwd: folder, env: cleanEnvironment(env), timeoutMs: commandMs });

export const olderProgram = (folder: string) => [process.execPath, "--no-env-file", join(folder, "src/main.ts")];

export async function startOlder(folder: string, database: Database): Promise<Subject> {
  const postgres = database === "sqlite" ? undefined : await startPostgres({ durable: true });
  const dataDir = tempFolder("data");
  const port = freePort();
  const env: Environment = {
    ...{ PORT: String(port), HOST: "127.0.0.1", QL_DATA: dataDir, QL_LOG_LEVEL: "warn" },
    ...(postgres && { DATABASE_URL: await postgres.createDatabase("bench"), QL_CODE_SALT: crypto.randomUUID() }),
  };
  if (postgres !== undefined) must(await runOlder(folder, ["migrate"], env));
  const child = startProcess([...olderProgram(folder), "serve"], { cwd: folder, env: cleanEnvironment(env) });
  const url = `http://127.0.0.1:${port}`;
  await child.waitForUrl(`${url}/readyz`, startMs);
  const [key] = await child.waitForOutput(/ql_[A-Za-z0-9]{43}/);
  must(await runOlder(folder, ["tenant", "update", "default", "--plan", "unlimited"], env));
  const server = {
    ...{ url, port, pid: child.pid, key, dataDir, output: child.output, kill: child.kill },
    waitForOutput: (pattern: RegExp) => child.waitForOutput(pattern),
    stop: () => child.stop(),
  };
  return {
    ...{ database, server, postgres, env },
    async stop() {
      await child.stop();
      await postgres?.stop();
    },
  };
}

function must({ code, stdout, stderr }: Finished): void {
  if (code !== 0) throw new Error(`the older program failed\n${stdout}${stderr}`);
}
