/**
 * A private PostgreSQL: its own folder, its own port, 127.0.0.1 only, without passwords, never as root.
 *
 * By default it acknowledges a commit before it has written it, which makes tests fast; killed, it would lose the last
 * ones. So only one that was started as `durable` can be killed. Benchmarks use that too, because a commit that costs
 * nothing is not a commit.
 */
import { chownSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client, escapeIdentifier } from "pg";
import { find } from "./machine.ts";
import { freePort } from "./ports.ts";
import { type Child, cleanEnvironment, type Environment, runProcess, startProcess, until } from "./process.ts";
import { removeFolder, tempFolder } from "./temp.ts";

export type Databases = {
  /** The address without a database. */
  readonly base: string;
  url(database: string): string;
  /** Creates an empty database with a unique name; returns its URL. */
  createDatabase(label?: string): Promise<string>;
  /**
   * The same, but with what `fill` puts into one that is its template: filled once by whichever process of the run comes
   * first, then copied, which takes a fraction of the time.
   */
  createFilled(template: string, fill: (url: string) => Promise<void>, label?: string): Promise<string>;
};

export type Postgres = Databases & {
  readonly port: number;
  /** Of the server that runs now: a restart changes it. */
  readonly pid: number;
  /** What it has logged so far, which by default is little. */
  output(): string;
  /** Permanently: the data is removed. */
  stop(): Promise<void>;
  /** SIGSTOP for all of it: it answers nothing, and its connections stay open. */
  pause(): void;
  resume(): void;
  /** On the same data and port, after an orderly stop if it still runs. */
  restart(): Promise<void>;
};

/** One that waits for the disk, and loses no commit that it has acknowledged. */
export type DurablePostgres = Postgres & {
  /** SIGKILL; the data stays, and `restart` recovers it. */
  kill(): Promise<void>;
};

/** Where the runner tells the test processes the address of the server that they share. */
export const sharedVariable = "QL_TEST_POSTGRES";

/** Where it tells them of a data folder that initdb has made: a copy takes a tenth of the time. */
export const initialVariable = "QL_TEST_POSTGRES_INITIAL";

const readyMs = 60_000;
// Vacuuming hundreds of databases that live for seconds takes time from the tests and gives nothing.
const fast = ["fsync=off", "full_page_writes=off", "synchronous_commit=off", "autovacuum=off"];

// The postmaster is dead, but some of its children are not: it refuses to start until they are.
const stillDying = /pre-existing shared memory block|lock file ".*" already exists/;

export function postgresAvailable(): boolean {
  return Bun.env[sharedVariable] !== undefined || find("postgresql") !== undefined;
}

let ownServer: Promise<Postgres> | undefined;

/** The server of this test run; a test file that runs alone starts its own. */
export async function sharedPostgres(): Promise<Databases> {
  const base = Bun.env[sharedVariable];
  if (base !== undefined) return databasesAt(base);
  ownServer ??= startPostgres();
  return await ownServer;
}

export type PostgresOptions = {
  /** Added to its environment. */
  env?: Environment;
  /** A data folder to copy: see `makeInitial`. */
  initial?: string | undefined;
};

export function startPostgres(options: PostgresOptions & { durable: true }): Promise<DurablePostgres>;
export function startPostgres(options?: PostgresOptions): Promise<Postgres>;
export async function startPostgres({
  durable = false,
  env = {},
  initial = Bun.env[initialVariable],
}: PostgresOptions & { durable?: boolean } = {}): Promise<Postgres> {
  return await start(durable, env, (tools, data) =>
    initial === undefined ? initdb(tools, data) : ["cp", "-a", initial, data],
  );
}

const initdb = (tools: string, data: string): string[] => [
  join(tools, "initdb"),
  ...["--pgdata", data, "--username", "postgres", "--auth", "trust"],
  ...["--encoding", "UTF8", "--locale", "C", "--no-sync"],
];

/** Makes such a folder. */
export async function makeInitial(): Promise<string> {
  const folder = tempFolder("postgres-initial");
  await prepareData(folder, initdb);
  return join(folder, "data");
}

export type Replica = Postgres & {
  /** Keeps receiving but replays nothing: reads from it become stale. */
  pauseReplay(): Promise<void>;
  resumeReplay(): Promise<void>;
};

/** A second server that streams everything from the first, and can only be read from. */
export async function startReplica(primary: Postgres): Promise<Replica> {
  const replica = await start(false, {}, (tools, data) => [
    join(tools, "pg_basebackup"),
    ...["--pgdata", data, "--host", "127.0.0.1", "--port", String(primary.port), "--username", "postgres"],
    ...["--write-recovery-conf", "--wal-method", "stream", "--checkpoint", "fast", "--no-sync"],
  ]);
  const admin = replica.url("postgres");
  return Object.assign(replica, {
    pauseReplay: () => query(admin, "SELECT pg_wal_replay_pause()"),
    resumeReplay: () => query(admin, "SELECT pg_wal_replay_resume()"),
  });
}

/** A command that makes a data folder; `tools` is where those of PostgreSQL are. */
type Prepare = (tools: string, data: string) => string[];

async function prepareData(folder: string, prepare: Prepare) {
  const tool = find("postgresql");
  if (tool === undefined) throw new Error("PostgreSQL is not on this machine");
  const data = join(folder, "data");
  const asUser = unprivileged(folder);
  const env = cleanEnvironment({ LC_ALL: "C", TZ: "UTC" });
  const words = prepare(tool.folder, data);
  const prepared = await runProcess([...asUser, ...words], { cwd: folder, env });
  if (prepared.code !== 0) throw new Error(`${words[0]} ended with ${prepared.code}\n${prepared.stderr}`);
  return { tool, data, asUser, env };
}

async function start(durable: boolean, more: Environment, prepare: Prepare): Promise<Postgres | DurablePostgres> {
  const folder = tempFolder("postgres");
  const { tool, data, asUser, env } = await prepareData(folder, prepare);
  const port = freePort();
  const settings = [
    `port=${port}`,
    "listen_addresses=127.0.0.1",
    `unix_socket_directories=${folder}`,
    "max_connections=200",
    "timezone=UTC",
    ...(durable ? [] : fast),
  ];
  const command = [
    ...asUser,
    // Only from here on, because switching the user starts another program.
    ...["env", ...Object.entries(more).map(([name, value]) => `${name}=${value}`)],
    join(tool.folder, "postgres"),
    ...["-D", data],
    ...settings.flatMap((setting) => ["-c", setting]),
  ];
  const databases = databasesAt(`postgres://postgres@127.0.0.1:${port}`);
  const launch = () => launchPostgres(command, folder, env, databases.url("postgres"));
  let server = await launch();

  return {
    ...databases,
    port,
    get pid() {
      return server.pid;
    },
    output: () => server.output(),
    stop: async () => {
      await stopFast(server);
      removeFolder(folder);
    },
    ...(durable ? { kill: () => server.kill() } : {}),
    pause: () => signalAll(server.pid, "SIGSTOP"),
    resume: () => signalAll(server.pid, "SIGCONT"),
    restart: async () => {
      await stopFast(server);
      server = await launch();
    },
  };
}

async function launchPostgres(command: string[], cwd: string, env: Record<string, string>, url: string) {
  return await until(
    "PostgreSQL to start",
    async () => {
      // QUIT lets the postmaster free its shared memory, which KILL would leave behind until the next boot.
      const server = startProcess(command, { cwd, env, lastSignal: "QUIT" });
      const ready = await until("PostgreSQL to answer", () => (server.running() ? answers(url) : false), readyMs);
      if (ready) return server;
      await server.exited;
      if (!stillDying.test(server.output())) throw new Error(`PostgreSQL did not start\n${server.output()}`);
      return undefined;
    },
    readyMs,
  );
}

/** PostgreSQL's SIGTERM waits for clients to disconnect; SIGINT disconnects them. */
async function stopFast(server: Child): Promise<void> {
  if (server.running()) await server.stop({ signal: "SIGINT" });
}

/** Each connection has its own process. The one that would start more comes first. */
function signalAll(postmaster: number, signal: NodeJS.Signals): void {
  process.kill(postmaster, signal);
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, "utf8");
  for (const pid of children.split(" ").filter(Boolean)) {
    try {
      process.kill(Number(pid), signal);
    } catch (error) {
      // It has ended since, as workers of autovacuum do.
      if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
    }
  }
}

async function answers(url: string): Promise<true | undefined> {
  try {
    await query(url, "SELECT 1");
    return true;
  } catch {
    return undefined;
  }
}

/** Those of a server that runs already. */
export function databasesAt(base: string): Databases {
  const url = (database: string) => `${base}/${database}`;
  const templates = new Map<string, Promise<void>>();
  async function create(label: string, from = "template1"): Promise<string> {
    const name = `${label}_${crypto.randomUUID().replaceAll("-", "")}`;
    await query(url("postgres"), `CREATE DATABASE ${escapeIdentifier(name)} TEMPLATE ${escapeIdentifier(from)}`);
    return url(name);
  }
  return {
    base,
    url,
    createDatabase: (label = "test") => create(label),
    async createFilled(template, fill, label = "test") {
      const made = templates.get(template) ?? makeTemplate(url, template, fill);
      templates.set(template, made);
      await made;
      return await create(label, template);
    },
  };
}

/** Under a lock and another name until it is whole, because the test processes of a run share the server. */
async function makeTemplate(
  url: (database: string) => string,
  name: string,
  fill: (url: string) => Promise<void>,
): Promise<void> {
  const client = new Client({ connectionString: url("postgres"), connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    await client.query("SELECT pg_advisory_lock(hashtext($1))", [name]);
    const found = await client.query("SELECT FROM pg_database WHERE datname = $1", [name]);
    if (found.rowCount !== 0) return;
    const draft = `${name}_${crypto.randomUUID().replaceAll("-", "")}`;
    await client.query(`CREATE DATABASE ${escapeIdentifier(draft)}`);
    await fill(url(draft));
    await client.query(`ALTER DATABASE ${escapeIdentifier(draft)} RENAME TO ${escapeIdentifier(name)}`);
  } finally {
    await client.end();
  }
}

async function query(connectionString: string, sql: string): Promise<void> {
  const client = new Client({ connectionString, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** PostgreSQL refuses to run as root: then the folder and the process go to a user that owns nothing else here. */
function unprivileged(folder: string): string[] {
  if (process.getuid?.() !== 0) return [];
  for (const user of ["postgres", "nobody"]) {
    const uid = idOf("-u", user);
    const gid = idOf("-g", user);
    if (uid === undefined || gid === undefined) continue;
    chownSync(folder, uid, gid);
    return ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--"];
  }
  throw new Error("there is neither a user postgres nor a user nobody to run PostgreSQL as");
}

function idOf(kind: "-u" | "-g", user: string): number | undefined {
  const { exitCode, stdout } = Bun.spawnSync(["id", kind, user], { stderr: "ignore" });
  return exitCode === 0 ? Number(stdout.toString()) : undefined;
}
