/** A real server on each database, and what tests do with one: call it, run commands on its data, read its tables. */
import { Database as SqliteFile } from "bun:sqlite";
import { connect } from "node:net";
import { join } from "node:path";
import { Client } from "pg";
import { freePort } from "../ground/ports.ts";
import { postgresAvailable, sharedPostgres } from "../ground/postgres.ts";
import { cleanEnvironment, type Environment, type Finished, startProcess, until } from "../ground/process.ts";
import { cli, program, type Server, startServer } from "../ground/server.ts";
import { tempFolder } from "../ground/temp.ts";

export type DatabaseName = "SQLite" | "PostgreSQL";

export const databases: readonly DatabaseName[] = postgresAvailable() ? ["SQLite", "PostgreSQL"] : ["SQLite"];

export type Reply = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  json<Body>(): Body;
};

export type LinkBody = {
  id: string;
  domain: string;
  code: string;
  shortUrl: string;
  url: string | null;
  file: string | null;
  permanent: boolean;
  status: string;
  expiresAt: string | null;
  title: string | null;
  notes: string | null;
  tags: string[];
  fallbackUrl: string | null;
  hitsPerMonth: number | null;
  clickFacts: boolean;
  rules: { when: Record<string, unknown>; url: string }[];
  split: { url: string; weight: number }[];
  utm: Record<string, string> | null;
  forwardQuery: boolean;
  password: boolean;
  target: {
    state: string;
    checkedAt: string;
    httpStatus: number | null;
    reason: string | null;
    responseMs: number | null;
    failingSince: string | null;
  } | null;
  suspended: string | null;
  clicks: number;
  lastClickAt: string | null;
  hitsUsed: number;
  fileName: string | null;
  hitsLimit: number | null;
  version: number;
  createdAt: string;
  updatedAt: string;
};

export type FileBody = {
  id: string;
  name: string;
  size: number;
  type: string;
  sha256: string | null;
  state: string;
  createdAt: string;
  storedAt: string | null;
};

export type UploadBody = FileBody & {
  upload: { method: string; url: string; headers: Record<string, string>; expiresAt: string };
};

export type ProblemBody = {
  type: string;
  title: string;
  status: number;
  code: string;
  detail: string;
  used?: number;
  held?: number;
  limit?: number;
  missing?: number;
  errors?: { field: string; code: string; message: string }[];
  requestId?: string;
};

export type CallOptions = {
  /** A different key than that of the first start; null for none. */
  key?: string | null;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent unchanged. */
  text?: string | Uint8Array | ReadableStream<Uint8Array>;
};

export type Site = {
  readonly server: Server;
  /** Settings with which a command, or the next server, uses the same data. */
  readonly env: Environment;
  /** The API. */
  call(method: string, path: string, options?: CallOptions): Promise<Reply>;
  /** Like a browser, but without following redirects. */
  visit(path: string, headers?: Record<string, string>, method?: string): Promise<Reply>;
  /** The same where nothing is unavailable: a 503 fails the test. */
  reach(path: string, headers?: Record<string, string>, method?: string): Promise<Reply>;
  /** The same after an outage, repeated until the answer is not a 503. */
  reachOnceRecovered(path: string, headers?: Record<string, string>, method?: string): Promise<Reply>;
  create(fields: Record<string, unknown>): Promise<LinkBody>;
  /** A file of these bytes, sent and completed. */
  store(body: string, fields?: Record<string, unknown>): Promise<FileBody>;
  /** Sends bytes to the address of an upload. */
  send(upload: UploadBody["upload"], body: string | Uint8Array, headers?: Record<string, string>): Promise<Reply>;
  /** Returns when the server knows what the command changed of keys, workspaces and plans. */
  cli(...args: string[]): Promise<Finished>;
  /** Another tenant with its own key. */
  tenant(slug: string, plan?: string): Promise<string>;
  /** Everything that a request could have written. */
  rows(): Promise<Record<string, unknown[]>>;
};

const browser = {
  accept: "text/html,application/xhtml+xml,*/*;q=0.8",
  "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0",
};

/** A busy machine may exceed the 50 ms that Redis has by default, and then SQL lends; or the 100 ms of SQL. */
export const patience: Environment = { QL_REDIS_WAIT_MS: "1000", QL_SQL_WAIT_MS: "2000" };

const unguarded: Environment = { QL_GUESSES_PER_MINUTE: "none" };

/** A new empty database with its tables, and the settings that lead to it, with patience. */
export async function newDatabase(database: DatabaseName): Promise<Environment> {
  const env: Environment = { ...patience, QL_DATA: tempFolder("data") };
  if (database === "SQLite") return env;
  env.QL_CODE_SALT = "a salt for end-to-end tests";
  env.DATABASE_URL = await (await sharedPostgres()).createFilled("migrated", migrateAt, "e2e");
  return env;
}

const migrateAt = async (url: string): Promise<void> => {
  must(await cli(["migrate"], { env: { DATABASE_URL: url, QL_CODE_SALT: "any salt will do here" } }));
};

/**
 * Without the limits of a plan or on guesses, so that no test depends on how many calls another one made. `source` is another
 * copy of `src/`.
 */
export async function startSite(database: DatabaseName, more: Environment = {}, source?: string): Promise<Site> {
  const env = await newDatabase(database);
  const port = more.PORT === undefined ? {} : { port: Number(more.PORT) };
  const settings = { ...unguarded, ...env, ...more };
  const server = await startServer({
    ...{ dataDir: String(env.QL_DATA), env: settings, ...port },
    ...(source !== undefined && { source }),
  });
  // Before the first call, so that the server has nothing of it in memory.
  must(await cli(["tenant", "update", "default", "--plan", "unlimited"], { env }));
  return siteOf(server, env);
}

const isOfCallers = ([command = "", action = ""]: readonly string[]): boolean =>
  ["tenant update", "tenant suspend", "tenant restore", "plan set", "key revoke"].includes(`${command} ${action}`);

/** Until it has read the change feed to an end that was not before now. A server that is gone follows nothing. */
async function untilFollowed({ url }: Server): Promise<void> {
  const since = performance.now();
  await until("the server to read the change feed", async () => {
    const asked = performance.now(); // the age is one of later: on a busy machine, much later than it was asked for
    const metrics = await fetch(`${url}/metrics`).then(
      (response) => response.text(),
      () => "",
    );
    const age = /^quicklink_feed_age_seconds (\S+)$/m.exec(metrics)?.[1];
    return age === undefined || Number(age) * 1_000 < asked - since || undefined;
  });
}

export function siteOf(server: Server, env: Environment): Site {
  // A command shows short links as the server does.
  async function run(...args: string[]): Promise<Finished> {
    const done = await cli(args, { env: { ...env, PORT: String(server.port) } });
    if (isOfCallers(args)) await untilFollowed(server);
    return done;
  }

  async function call(method: string, path: string, options: CallOptions = {}): Promise<Reply> {
    const key = options.key === undefined ? server.key : options.key;
    const sent = options.text ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const headers = {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(options.body === undefined ? {} : { "content-type": "application/json" }),
      ...options.headers,
    };
    return await request(server.url + path, { method, headers, ...(sent === undefined ? {} : { body: sent }) });
  }

  // The server calls itself localhost, which may be another address than the one it listens on.
  const send: Site["send"] = ({ method, url, headers }, body, more = {}) =>
    request(server.url + new URL(url).pathname + new URL(url).search, {
      method,
      headers: { ...headers, ...more },
      body,
    });

  const visit: Site["visit"] = (path, headers = {}, method = "GET") =>
    request(server.url + path, { method, headers: { ...browser, ...headers } });

  return {
    server,
    env,
    call,
    cli: run,
    visit,
    async reach(...asked) {
      const reply = await visit(...asked);
      if (reply.status !== 503) return reply;
      throw new Error(`${asked[0]} was unavailable\n${reply.text}\n${server.output().slice(-5_000)}`);
    },
    reachOnceRecovered(...asked) {
      let last = "";
      return until(
        `an answer from ${asked[0]}`,
        async () => {
          const reply = await visit(...asked);
          last = reply.text;
          return reply.status === 503 ? undefined : reply;
        },
        undefined,
        () => `${last}\n${server.output().slice(-5_000)}`,
      );
    },
    async create(fields) {
      const reply = await call("POST", "/api/links", { body: fields });
      if (reply.status !== 201) throw new Error(`no link was made: ${reply.text}\n${server.output().slice(-5_000)}`);
      return reply.json();
    },
    send,
    async store(body, fields = {}) {
      const announced = await call("POST", "/api/files", {
        body: { name: "a file.txt", type: "text/plain", size: Buffer.byteLength(body), ...fields },
      });
      if (announced.status !== 201) throw new Error(`no file was announced: ${announced.text}`);
      const { id, upload } = announced.json<UploadBody>();
      const sent = await send(upload, body);
      if (sent.status !== 201) throw new Error(`the file was not taken: ${sent.text}`);
      const completed = await call("POST", `/api/files/${id}/complete`);
      if (completed.status !== 200) throw new Error(`the file was not completed: ${completed.text}`);
      return completed.json();
    },
    async tenant(slug, plan = "unlimited") {
      must(await run("tenant", "create", slug, "--plan", plan));
      return must(await run("key", "create", "test", "--tenant", slug)).trim();
    },
    rows: () => allRows(env),
  };
}

async function request(url: string, init: RequestInit): Promise<Reply> {
  const response = await fetch(url, { redirect: "manual", ...init });
  const streams = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  const text = streams ? await beginning(response) : await response.text();
  return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) };
}

/** A stream has no end to wait for. */
async function beginning({ body }: Response): Promise<string> {
  const reader = body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  return new TextDecoder().decode(first?.value);
}

/**
 * Passes a time that is soon. If the attempt comes back with nothing, because a busy machine took longer than that, it is
 * made again with a later one.
 */
export async function withSoon<T>(attempt: (soon: string) => Promise<T | undefined>): Promise<T> {
  for (let leftMs = 600; leftMs < 20_000; leftMs *= 3) {
    const done = await attempt(new Date(Date.now() + leftMs).toISOString());
    if (done !== undefined) return done;
  }
  throw new Error("every time was too soon");
}

/** A link that has expired. The API takes no date in the past. */
export async function createExpired(site: Site, fields: Record<string, unknown>): Promise<LinkBody> {
  const link = await withSoon(async (expiresAt) => {
    const reply = await site.call("POST", "/api/links", { body: { ...fields, expiresAt } });
    if (reply.status === 201) return reply.json<LinkBody>();
    if (reply.status === 422 && reply.text.includes("expiresAt")) return undefined;
    throw new Error(`no link was made: ${reply.text}`);
  });
  await until("the link to expire", () => Date.parse(String(link.expiresAt)) <= Date.now() || undefined);
  return link;
}

/** The output of a command that must not fail. */
export function must({ code, stdout, stderr }: Finished): string {
  if (code !== 0) throw new Error(`the command ended with ${code}\n${stdout}${stderr}`);
  return stdout;
}

/** Runs SQL directly, without the server. */
export async function query(env: Environment, statement: string): Promise<unknown[]> {
  const [rows = []] = await queries(env, [statement]);
  return rows;
}

/** The same for several statements, over one connection: PostgreSQL starts a process for each. */
async function queries(env: Environment, statements: readonly string[]): Promise<unknown[][]> {
  if (env.DATABASE_URL === undefined) {
    const file = new SqliteFile(join(String(env.QL_DATA), "quicklink.sqlite"), { readwrite: true });
    try {
      file.run("pragma busy_timeout = 5000");
      return statements.map((statement) => file.query(statement).all());
    } finally {
      file.close();
    }
  }
  const client = new Client({ connectionString: env.DATABASE_URL });
  await client.connect();
  try {
    const results: unknown[][] = [];
    for (const statement of statements) results.push((await client.query(statement)).rows);
    return results;
  } finally {
    await client.end();
  }
}

async function allRows(env: Environment): Promise<Record<string, unknown[]>> {
  const statements = {
    links: "select * from links order by id",
    versions: "select domain, code, version, state, tenant_id from link_versions order by domain, code",
    changes: "select count(*) as n from changes",
    // Except the time of last use, which a refused call may change too.
    keys: "select id, tenant_id, name, scopes, expires_at, revoked_at from api_keys order by id",
    emails: "select id, tenant_id, kind, recipient from emails order by id",
    emailSettings: "select * from email_settings order by tenant_id",
    suppressions: "select tenant_id, address, reason from suppressions order by tenant_id, address",
    tenants: "select id, slug, plan, limits from tenants order by id",
    domains: "select tenant_id, host, state, token, is_default, root_url from domains order by tenant_id, host",
    files: "select id, tenant_id, name, size_bytes, type, sha256, state from files order by id",
    storage: "select tenant_id, bytes, version from tenant_storage order by tenant_id",
  };
  const rows = await queries(env, Object.values(statements));
  return Object.fromEntries(Object.keys(statements).map((name, i) => [name, rows[i] ?? []]));
}

/** A series of the Prometheus text, by its whole name with labels. */
export function metric(text: string, series: string): number {
  const line = text.split("\n").find((one) => one.startsWith(`${series} `));
  if (line === undefined) throw new Error(`there is no ${series} in\n${text}`);
  return Number(line.slice(series.length + 1));
}

const vainMs = 45_000;

/** A server that is expected to exit by itself. */
export async function serveInVain(
  env: Environment,
  args: readonly string[] = [],
): Promise<{ code: number; output: string }> {
  const child = startProcess([...program, "serve", ...args], {
    cwd: join(import.meta.dir, "../.."),
    env: cleanEnvironment({ PORT: String(freePort()), HOST: "127.0.0.1", ...env }),
  });
  const code = await Promise.race([child.exited, Bun.sleep(vainMs).then(() => undefined)]);
  if (code !== undefined) return { code, output: child.output() };
  await child.kill();
  throw new Error(`the server should have given up, but still ran after ${vainMs} ms\n${child.output()}`);
}

export type Line = {
  send(bytes: string | Uint8Array): void;
  received(): Buffer;
  /** Waits for bytes, read as Latin-1, that match. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>;
  /** Until the other side closes. */
  readonly closed: Promise<void>;
  hangUp(): void;
};

/** A raw connection, for what no HTTP client would send. */
export async function dial(port: number): Promise<Line> {
  const socket = connect(port, "127.0.0.1");
  const chunks: Buffer[] = [];
  const opened = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  socket.on("connect", () => opened.resolve());
  socket.on("data", (chunk) => chunks.push(Buffer.from(chunk)));
  socket.on("error", (error) => opened.reject(error));
  socket.on("close", () => closed.resolve());
  await opened.promise;
  const received = () => Buffer.concat(chunks);
  return {
    send: (bytes) => void socket.write(bytes),
    received,
    waitFor: (pattern) =>
      until(`the server to send ${pattern}`, () => pattern.exec(received().toString("latin1")) ?? undefined),
    closed: closed.promise,
    hangUp: () => void socket.destroy(),
  };
}

/** Sends, and returns everything until the server closes: request that with `Connection: close`. */
export async function raw(port: number, bytes: string | Uint8Array, timeoutMs = 45_000): Promise<string> {
  const line = await dial(port);
  line.send(bytes);
  const late = Bun.sleep(timeoutMs).then(() => "late" as const);
  if ((await Promise.race([line.closed, late])) === "late") {
    line.hangUp();
    throw new Error(`the server did not hang up within ${timeoutMs} ms\n${line.received().toString("latin1")}`);
  }
  return line.received().toString("latin1");
}

/** No listener any more. */
export async function refused(port: number): Promise<true | undefined> {
  try {
    (await dial(port)).hangUp();
    return undefined;
  } catch {
    return true;
  }
}

/** A request that the server is certainly working on, because its body never ends. */
export async function hangingRequest(server: Server): Promise<Line> {
  const line = await dial(server.port);
  line.send(
    `POST /api/links HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.key}\r\n` +
      "Content-Type: application/json\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n",
  );
  await line.waitFor(/100 Continue/);
  return line;
}
