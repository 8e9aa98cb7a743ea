/**
 * A request with an Idempotency-Key runs once, whatever happens to the server.
 *
 * Three things are shown on each database. Fifty concurrent requests with one key run once. A server kills itself with
 * -9 between the commit and the reply, by a line added to a copy of the program at that place, and the request is
 * repeated on a new server: the response must be what SQL says was created. And clients that send keyed requests
 * without pause, while the server is killed at random moments, repeat what was not answered until it is: in the end
 * every request has run once (`doubled`, `lost`), and every one that is repeated once more gets the same bytes as
 * before (`other_answer`).
 *
 * An abandoned claim of a dead server is waited for: not at all on SQLite, up to five seconds on PostgreSQL.
 */

import { progress } from "../bench/show.ts";
import { authorization, type Database, databases, startSubject } from "../bench/subject.ts";
import { acrossTenants } from "../src/sql/tenant-db.ts";
import { type Edit, mutant } from "../test/ground/mutant.ts";
import type { Environment } from "../test/ground/process.ts";
import { type Server, startServer } from "../test/ground/server.ts";
import { look } from "./database.ts";
import { type Proof, wholly } from "./proof.ts";

export const idempotency: Proof = {
  name: "idempotency",
  shows: "50 requests with one key at once, and a server killed between commit and reply: done once, same answer",
  needs: ["postgresql"],
  controls: [],
  run: wholly(run),
};

const atOnce = 50;
const keysAtOnce = 10;
const killsAfterCommit = 3;
const randomKills = 8;
const clients = 8;
const perClient = 15;
const requestMs = 15_000;
const answerMs = 60_000;
const pauseMs = 50;

interface Asked {
  readonly path: string;
  readonly key: string;
  readonly body: string;
  /** Identifies this request's rows: in the URL of links, in the name of keys. */
  readonly mark: string;
}

interface Told {
  readonly status: number;
  readonly text: string;
}

/** Where a dying server ends itself: the request is committed, but not answered. */
const afterCommit: readonly Edit[] = [
  {
    file: "http/idempotency.ts",
    from: "return run.finish(await answerOf(response))",
    to: 'process.kill(process.pid, "SIGKILL")',
  },
];

async function run(): Promise<boolean> {
  const results = [];
  for (const database of databases) results.push(await once(database));
  return results.every(Boolean);
}

async function once(database: Database): Promise<boolean> {
  const shown = progress();
  shown.now(`${database}: starting`);
  const subject = await startSubject(database);
  let server: Server = subject.server;
  const { dataDir, port, key } = server;
  const env = { ...subject.env, QL_DATA: dataDir };
  const start = (source?: string) => startServer({ env: subject.env, dataDir, port, key, ...(source && { source }) });
  try {
    const many = await concurrent(server, env);
    console.log(
      `database=${database} keys=${keysAtOnce} at_once=${atOnce} executions=${many.executions} other_answers=${many.others}`,
    );

    const dying = mutant(afterCommit);
    const killed = { rounds: 0, died: 0, same: 0, executions: 0 };
    await server.stop();
    for (let round = 1; round <= killsAfterCommit; round++) {
      for (const asked of everyKind(`commit-${round}`)) {
        shown.now(`${database}: killed after the commit ${killed.rounds} times`);
        killed.rounds++;
        server = await start(dying);
        if ((await send(server, asked)) === undefined) killed.died++;
        await server.kill();
        const rows = (await made(env))(asked.mark);
        server = await start();
        const told = await answered(() => server, asked);
        if (sameAs(told, rows)) killed.same++;
        killed.executions += (await made(env))(asked.mark).length / expected(asked);
        await server.stop();
      }
    }
    server = await start();
    shown.end();
    console.log(
      `database=${database} killed=between_commit_and_reply rounds=${killed.rounds} died=${killed.died} ` +
        `executions=${killed.executions} same_answer=${killed.same}`,
    );

    const all: { asked: Asked; told: Told }[] = [];
    let repeated = 0;
    for (let kill = 1; kill <= randomKills; kill++) {
      shown.now(`${database}: killed ${kill} of ${randomKills} times`);
      let alive = server;
      const work = Array.from({ length: clients }, async (_, client) => {
        for (let i = 0; i < perClient; i++) {
          const [asked = missing()] = everyKind(`random-${kill}-${client}-${i}`).slice(i % 3);
          const told = await answered(
            () => alive,
            asked,
            () => repeated++,
          );
          all.push({ asked, told });
        }
      });
      const done = Promise.all(work);
      await Bun.sleep(Math.random() * killWithinMs);
      await server.kill();
      server = await start();
      alive = server;
      await done;
    }
    let other = 0;
    for (const { asked, told } of all) if ((await answered(() => server, asked)).text !== told.text) other++;
    const rowsOf = await made(env);
    const rows = all.map(({ asked }) => rowsOf(asked.mark).length / expected(asked));
    const doubled = rows.filter((times) => times > 1).length;
    const lost = rows.filter((times) => times < 1).length;
    const failed = all.filter(({ told }) => told.status >= 300).length;
    shown.end();
    console.log(
      `database=${database} killed=at_random rounds=${randomKills} requests=${all.length} sent_again=${repeated} ` +
        `failed=${failed} other_answer=${other} doubled=${doubled} lost=${lost}`,
    );
    return (
      many.executions === "1" &&
      many.others === 0 &&
      killed.died === killed.rounds &&
      killed.same === killed.rounds &&
      killed.executions === killed.rounds &&
      repeated > 0 &&
      failed + other + doubled + lost === 0
    );
  } finally {
    shown.end();
    await server.stop().catch(() => {});
    await subject.postgres?.stop();
  }
}

const killWithinMs = 300;
const bulkSize = 150; // more than one transaction

/** One request of each kind of POST that creates something. */
function everyKind(mark: string): Asked[] {
  const asked = (path: string, name: string, body: unknown): Asked => ({
    path,
    key: `${name}-${crypto.randomUUID()}`,
    body: JSON.stringify(body),
    mark: `${name}-${mark}-end`,
  });
  const url = (name: string, n = 0) => `https://example.com/${n}/${name}-${mark}-end`;
  return [
    asked("/api/links", "one", { url: url("one") }),
    asked("/api/links/bulk", "many", { links: Array.from({ length: bulkSize }, (_, n) => ({ url: url("many", n) })) }),
    asked("/api/keys", "key", { name: `key-${mark}-end`, scopes: ["links:read"] }),
  ];
}

const expected = ({ path }: Asked): number => (path === "/api/links/bulk" ? bulkSize : 1);

function missing(): never {
  throw new Error("there is no such kind of request");
}

/** `undefined` if the server went away first. */
async function send(server: Server, { path, key, body }: Asked): Promise<Told | undefined> {
  try {
    const response = await fetch(server.url + path, {
      method: "POST",
      headers: { ...authorization(server), "idempotency-key": key },
      body,
      keepalive: false,
      signal: AbortSignal.timeout(requestMs),
    });
    return { status: response.status, text: await response.text() };
  } catch {
    return undefined;
  }
}

/** Like a client: until there is an answer other than "later". */
async function answered(server: () => Server, asked: Asked, again: () => void = () => {}): Promise<Told> {
  for (const since = performance.now(); ; again()) {
    const told = await send(server(), asked);
    const later = told === undefined || told.status >= 500 || told.text.includes('"idempotency_in_flight"');
    if (!later) return told;
    if (performance.now() - since > answerMs) throw new Error(`no answer to ${JSON.stringify(asked)}: ${told?.text}`);
    await Bun.sleep(pauseMs);
  }
}

async function concurrent(server: Server, env: Environment): Promise<{ executions: string; others: number }> {
  const executions: number[] = [];
  let others = 0;
  for (let n = 0; n < keysAtOnce; n++) {
    const [asked = missing()] = everyKind(`at-once-${n}`);
    const replies = await Promise.all(Array.from({ length: atOnce }, () => answered(() => server, asked)));
    others += new Set(replies.map(({ status, text }) => `${status} ${text}`)).size - 1;
    executions.push((await made(env))(asked.mark).length);
  }
  // Of each key; one figure if all are alike.
  return { executions: [...new Set(executions)].join(), others };
}

interface Row {
  readonly id: string;
  /** Its code, or the shown part of its secret. */
  readonly name: string;
  readonly created_at: number;
}

/** Everything that requests have created, by their marks. */
async function made(env: Environment): Promise<(mark: string) => readonly Row[]> {
  const rows = await look(env, async ({ db }) => [
    ...(await acrossTenants(db)
      .selectFrom("links")
      .select(["id", "code as name", "url as mark", "created_at"])
      .execute()),
    ...(await acrossTenants(db)
      .selectFrom("api_keys")
      .select(["id", "hint as name", "name as mark", "created_at"])
      .execute()),
  ]);
  const byMark = Map.groupBy(rows, ({ mark }) => mark.slice(mark.lastIndexOf("/") + 1));
  return (mark) => byMark.get(mark) ?? [];
}

/** Whether the response describes what was created before the server died. */
function sameAs({ text }: Told, rows: readonly Row[]): boolean {
  type Made = { id: string; code?: string; hint?: string; createdAt: string };
  const body = JSON.parse(text) as Made & { results?: { link: Made }[] };
  const all = body.results?.map(({ link }) => link) ?? [body];
  const outline = (row: Row) => `${row.id} ${row.name} ${row.created_at}`;
  const told = all.map(({ id, code, hint, createdAt }) =>
    outline({ id, name: code ?? hint ?? "", created_at: Date.parse(createdAt) }),
  );
  return rows.length > 0 && told.toSorted().join() === rows.map(outline).toSorted().join();
}
