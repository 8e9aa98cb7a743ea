/**
 * A request with an Idempotency-Key runs once, whatever happens to the server.
 *
 * Four things are shown on each database. Fifty concurrent requests with one key run once. Two tenants that use the same
 * key for the same request get a link each. A server kills itself with
 * -9 between the commit and the reply, by a line added to a copy of the program at that place, and the request is
 * repeated on a new server: the response must be what SQL says was created. And clients that send keyed requests
 * without pause, while the server is killed at random moments, repeat what was not answered until it is: in the end
 * every request has run once (`doubled`, `lost`), and every one that is repeated once more gets the same bytes as
 * before (`other_answer`).
 *
 * An abandoned claim of a dead server is waited for: not at all on SQLite, up to five seconds on PostgreSQL.
 */

import { progress } from "../bench/show.ts";
import { authorization, type Database, databases, figures, startSubject } from "../bench/subject.ts";
import { acrossTenants } from "../src/sql/tenant-db.ts";
import { type Edit, mutant } from "../test/ground/mutant.ts";
import type { Environment } from "../test/ground/process.ts";
import { cliProcess, type Server, startServer } from "../test/ground/server.ts";
import { look } from "./database.ts";
import type { Attempt, Proof } from "./proof.ts";

export const idempotency: Proof = {
  name: "idempotency",
  shows: "50 requests with one key at once, and a server killed between commit and reply: done once, same answer",
  needs: ["postgresql"],
  controls: [
    {
      name: "a key that all tenants share",
      edits: [
        {
          file: "http/idempotency.ts",
          from: 'await answers.begin(tenant.id, ownKey(c.get("caller"), key),',
          to: "await answers.begin(oneForAll ??= tenant.id, key,",
        },
        {
          file: "http/idempotency.ts",
          from: "const pattern = ",
          to: "let oneForAll: TenantId | undefined;\nconst pattern = ",
        },
      ],
      plays: ["sqlite"],
      breaks: ["sqlite.other_tenant"],
    },
    {
      name: "an answer that is not kept",
      edits: [
        {
          file: "http/idempotency.ts",
          from: "return run.finish(await answerOf(response));",
          to: "return run.forget();",
        },
      ],
      plays: ["sqlite"],
      breaks: ["sqlite.executions_at_once", "sqlite.doubled", "sqlite.other_answer"],
    },
    {
      name: "an id that is not derived from the key",
      edits: [
        {
          file: "idempotency/derived-ids.ts",
          from: "idFrom(name, createdAt, bytes(",
          to: "idFrom(name, createdAt, randomBytes(32) ?? bytes(",
        },
      ],
      plays: ["sqlite"],
      breaks: ["sqlite.executions_after_commit", "sqlite.same_after_commit"],
    },
    {
      name: "a claim that does not keep others out",
      edits: [
        {
          file: "idempotency/answers.ts",
          from: 'if (row.state === "running" && row.claimed_until > row.now)',
          to: "if (row.claimed_until === Number.POSITIVE_INFINITY)",
        },
      ],
      plays: ["sqlite"],
      breaks: ["sqlite.runs_at_once"],
    },
  ],
  run,
};

const atOnce = 50;
const usual = { keysAtOnce: 10, killsAfterCommit: 2, randomKills: 5 };
const few = { keysAtOnce: 3, killsAfterCommit: 1, randomKills: 2 };
const clients = 8;
const perClient = 15;
const requestMs = 15_000;
const answerMs = 20_000; // four times as long as the claim of a server that died
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
    from: "await keep(c.res, run, changedNothing).catch(failed);",
    to: 'process.kill(process.pid, "SIGKILL")',
  },
];

async function run(attempt: Attempt): Promise<void> {
  for (const database of databases) if (attempt.plays(database)) await once(attempt, database);
}

async function once({ short, claim }: Attempt, database: Database): Promise<void> {
  const { keysAtOnce, killsAfterCommit, randomKills } = short ? few : usual;
  const shown = progress();
  shown.now(`${database}: starting`);
  const subject = await startSubject(database);
  let server: Server = subject.server;
  const { dataDir, port, key } = server;
  const env = { ...subject.env, QL_DATA: dataDir };
  const start = (source?: string) => startServer({ env: subject.env, dataDir, port, key, ...(source && { source }) });
  const about = {
    promise: "a request with an Idempotency-Key runs once, and a repeat gets the same answer",
    scenario: database,
  };
  try {
    const many = await concurrent(server, env, keysAtOnce);
    const others = await otherTenant(server, env);
    console.log(
      `database=${database} keys=${many.keys} at_once=${atOnce} executions=${many.executions} runs=${many.runs} ` +
        `other_answers=${many.others} other_tenant: requests=${others.requests} got_an_answer_not_theirs=${others.notTheirs}`,
    );
    const together = { ...about, done: `${many.keys} keys, ${atOnce} requests at once with each`, times: many.keys };
    claim({ ...together, measure: "executions_at_once", figure: many.executions, bound: { exactly: many.keys } });
    claim({ ...together, measure: "runs_at_once", figure: many.runs, bound: { exactly: many.keys } });
    claim({ ...together, measure: "answers_at_once", figure: many.others, bound: { exactly: 0 } });
    claim({
      ...{ ...about, measure: "other_tenant", done: "the same keys and requests, from another tenant" },
      ...{ times: others.requests, figure: others.notTheirs, unit: "answers", bound: { exactly: 0 } },
    });

    const killed = { rounds: 0, died: 0, committed: 0, same: 0, executions: 0 };
    const dying = mutant(afterCommit);
    await server.stop();
    for (let round = 1; round <= killsAfterCommit; round++) {
      for (const asked of everyKind(`commit-${round}`)) {
        shown.now(`${database}: killed after the commit ${killed.rounds} times`);
        killed.rounds++;
        server = await start(dying);
        if ((await send(server, asked)) === undefined) killed.died++;
        await server.kill();
        const rows = (await made(env))(asked.mark);
        if (rows.length === expected(asked)) killed.committed++;
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
        `committed=${killed.committed} executions=${killed.executions} same_answer=${killed.same}`,
    );
    const { rounds } = killed;
    const after = { ...about, done: `${killed.died} servers died between commit and reply`, times: killed.died };
    claim({
      ...after,
      measure: "kills_after_commit",
      figure: killed.committed,
      unit: "kills",
      bound: { exactly: rounds },
    });
    claim({ ...after, measure: "executions_after_commit", figure: killed.executions, bound: { exactly: rounds } });
    claim({ ...after, measure: "same_after_commit", figure: killed.same, unit: "answers", bound: { exactly: rounds } });

    const all: { asked: Asked; told: Told }[] = [];
    let [repeated, kills] = [0, 0];
    for (let kill = 1; kill <= randomKills; kill++) {
      shown.now(`${database}: killed ${kill} of ${randomKills} times`);
      let alive = server;
      let answers = 0;
      const work = Array.from({ length: clients }, async (_, client) => {
        for (let i = 0; i < perClient; i++) {
          const [asked = missing()] = everyKind(`random-${kill}-${client}-${i}`).slice(i % 3);
          const told = await answered(
            () => alive,
            asked,
            () => repeated++,
          );
          answers++;
          all.push({ asked, told });
        }
      });
      const done = Promise.all(work);
      await Bun.sleep(Math.random() * killWithinMs);
      await server.kill();
      if (answers < clients * perClient) kills++;
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
    const failed = all.filter(({ told }) => told.status === 0 || told.status >= 300).length;
    shown.end();
    console.log(
      `database=${database} killed=at_random kills=${kills} requests=${all.length} sent_again=${repeated} ` +
        `failed=${failed} other_answer=${other} doubled=${doubled} lost=${lost}`,
    );
    const atRandom = {
      ...about,
      done: `${kills} × kill -9 under load, ${repeated} requests repeated`,
      times: all.length,
    };
    claim({ ...atRandom, measure: "kills_at_work", figure: kills, unit: "kills", bound: { least: 1 } });
    claim({ ...atRandom, measure: "repeated", figure: repeated, unit: "requests", bound: { least: 1 } });
    claim({ ...atRandom, measure: "failed", figure: failed, unit: "requests", bound: { exactly: 0 } });
    claim({ ...atRandom, measure: "doubled", figure: doubled, unit: "requests", bound: { exactly: 0 } });
    claim({ ...atRandom, measure: "lost", figure: lost, unit: "requests", bound: { exactly: 0 } });
    claim({ ...atRandom, measure: "other_answer", figure: other, unit: "answers", bound: { exactly: 0 } });
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

/** Like a client: until there is an answer other than "later", or for a long time. */
async function answered(server: () => Server, asked: Asked, again: () => void = () => {}): Promise<Told> {
  for (const since = performance.now(); ; again()) {
    const told = await send(server(), asked);
    const later = told === undefined || told.status >= 500 || told.text.includes('"idempotency_in_flight"');
    if (!later) return told;
    if (performance.now() - since > answerMs) return told ?? { status: 0, text: "no answer" };
    await Bun.sleep(pauseMs);
  }
}

async function concurrent(server: Server, env: Environment, keys: number) {
  // The API is loaded on its first use, and its figures with it.
  await (await fetch(`http://127.0.0.1:${server.port}/openapi.json`)).text();
  const before = await runsOf(server);
  let [executions, others] = [0, 0];
  for (let n = 0; n < keys; n++) {
    const [asked = missing()] = everyKind(`at-once-${n}`).slice(n % 3);
    const replies = await Promise.all(Array.from({ length: atOnce }, () => answered(() => server, asked)));
    others += new Set(replies.map(({ status, text }) => `${status} ${text}`)).size - 1;
    executions += (await made(env))(asked.mark).length / expected(asked);
  }
  return { keys, executions, others, runs: (await runsOf(server)) - before };
}

/** Requests that the server has run, rather than answered with what it kept. */
const runsOf = async (server: Server): Promise<number> =>
  (await figures(server))('quicklink_idempotency_total{outcome="run"}');

/** Another tenant sends the same requests with the same keys, and must get links of its own. */
async function otherTenant(server: Server, env: Environment): Promise<{ requests: number; notTheirs: number }> {
  const command = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await cliProcess(args, { env });
    if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}\n${stdout}${stderr}`);
    return stdout.trim();
  };
  await command("tenant", "create", "other", "--plan", "unlimited");
  const key = await command("key", "create", "other", "--tenant", "other");
  let [requests, notTheirs] = [0, 0];
  for (const asked of everyKind("two-tenants").filter(({ path }) => path !== "/api/keys")) {
    const ours = await answered(() => server, asked);
    const theirs = await answered(() => ({ ...server, key }), asked);
    requests++;
    const rows = (await made(env))(asked.mark);
    const own = rows.length === 2 * expected(asked) && theirs.status < 300 && theirs.text !== ours.text;
    if (!own) notTheirs++;
  }
  return { requests, notTheirs };
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
function sameAs({ status, text }: Told, rows: readonly Row[]): boolean {
  if (status === 0 || status >= 300) return false;
  type Made = { id: string; code?: string; hint?: string; createdAt: string };
  const body = JSON.parse(text) as Made & { results?: { link: Made }[] };
  const all = body.results?.map(({ link }) => link) ?? [body];
  const outline = (row: Row) => `${row.id} ${row.name} ${row.created_at}`;
  const told = all.map(({ id, code, hint, createdAt }) =>
    outline({ id, name: code ?? hint ?? "", created_at: Date.parse(createdAt) }),
  );
  return rows.length > 0 && told.toSorted().join() === rows.map(outline).toSorted().join();
}
