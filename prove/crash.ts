/**
 * Everything acknowledged survives a crash.
 *
 * Eight clients create links without pause: with generated codes, with unique custom codes, and with custom codes that
 * all of them want. The server dies by kill -9 and is restarted on the same data, many times, on each database: at
 * random moments; and, by a line added to a copy of the program, between the commit and the reply, and in the middle of
 * a transaction, between a link's version and its row. Then every link that was answered with 201 is looked up in three
 * ways, by its redirect, in the API's list and in SQL, each with its destination (`missing`); no code and no destination
 * may occur twice, and no row may exist without its version and its change (`torn`). Links that were sent but not
 * answered may exist or not: those that do show which kills fell between commit and reply. A redirect that answers 503
 * is repeated and counted (`asked_again`): "unavailable" is acceptable, "not found" is not.
 *
 * PostgreSQL itself keeps running, and so does the machine: kill -9 keeps what the operating system had accepted. That
 * a commit also waits for the disk is a setting (synchronous=FULL, fsync=on), which cannot be shown here.
 */

import { randomInt } from "node:crypto";
import { progress } from "../bench/show.ts";
import { authorization, type Database, databases, startSubject } from "../bench/subject.ts";
import { acrossTenants } from "../src/sql/tenant-db.ts";
import { type Edit, mutant } from "../test/ground/mutant.ts";
import { type Server, startServer } from "../test/ground/server.ts";
import { look } from "./database.ts";
import type { Attempt, Proof } from "./proof.ts";

export const crash: Proof = {
  name: "crash",
  shows: "kill -9 of the server under concurrent creates, on each database: nothing acknowledged is lost",
  needs: ["postgresql"],
  controls: [
    {
      name: "a reply before the commit",
      edits: [
        {
          file: "links/create/new-links.ts",
          from: "return gathered({ spender: spenderOf(tenant, links, spending), links });",
          to: `void gathered({ spender: spenderOf(tenant, links, spending), links });
      return links.map((link) => ({ kind: "created", link: asCreated(tenant, link, 1) }));`,
        },
      ],
      plays: ["sqlite"],
      breaks: ["sqlite.missing"],
    },
    {
      name: "a block of codes used again after a crash",
      edits: [
        {
          file: "sql/code-counter.ts",
          from: '.set((expression) => ({ next: expression("next", "+", size) }))',
          to: '.set((expression) => ({ next: expression("next", "+", 0) }))',
        },
        { file: "sql/code-counter.ts", from: "return next - size;", to: "return next;" },
      ],
      plays: ["sqlite"],
      breaks: ["sqlite.unexpected"],
    },
    {
      name: "versions in a transaction of their own",
      edits: [
        {
          file: "links/create/new-links.ts",
          from: "await raiseVersions(sql, trx, { claims }, at)",
          to: "await sql.transaction((own) => raiseVersions(sql, own, { claims }, at))",
        },
      ],
      plays: ["postgres"],
      breaks: ["postgres.torn"],
    },
  ],
  run,
};

/** How many kills, by where they fall. */
interface Plan {
  readonly at_random: number;
  readonly after_commit: number;
  readonly in_transaction: number;
}

type Place = keyof Plan;

const usual: Plan = { at_random: 14, after_commit: 3, in_transaction: 3 };
const few: Plan = { at_random: 3, after_commit: 1, in_transaction: 1 };

const dieAt = (times: number) =>
  `globalThis.times = (globalThis.times ?? 0) + 1; if (globalThis.times === ${times}) process.kill(process.pid, "SIGKILL");`;

/** Where a copy of the program ends itself, once it has done some work. */
const dyingAt: Readonly<Record<Exclude<Place, "at_random">, Edit>> = {
  after_commit: {
    file: "links/api.ts",
    from: 'const link = await links.create(tenant, { ...toNewLink(c.req.valid("json")), ...(id && { id }) }, by);',
    to: `const link = await links.create(tenant, { ...toNewLink(c.req.valid("json")), ...(id && { id }) }, by);
    ${dieAt(100)}`,
  },
  in_transaction: {
    file: "links/create/new-links.ts",
    from: "const { results, created, lost } = divide(inspected, claimed);",
    to: `const { results, created, lost } = divide(inspected, claimed); ${dieAt(40)}`,
  },
};

const clients = 8;
const fewestAcks = 50;
const mostAcks = 300;
const laterMs = 4;
const requestMs = 15_000;
const pageSize = 100;
const shownMost = 10;
const checksAtOnce = 16;
const asksMost = 20;
const askAgainMs = 250;

/** A link that the server acknowledged. */
interface Acked {
  readonly id: string;
  readonly code: string;
  readonly url: string;
}

/** Everything that was sent, by its destination, which is unique. */
interface Sent {
  readonly acked: Acked[];
  readonly unacked: Set<string>;
  /** Custom codes that another client already had. */
  taken: number;
  /** Any other answers. */
  readonly unexpected: string[];
}

/** A server that died. */
interface Death {
  readonly place: Place;
  readonly round: number;
  readonly inFlight: number;
}

async function run(attempt: Attempt): Promise<void> {
  for (const database of databases) if (attempt.plays(database)) await survive(attempt, database);
}

async function survive({ short, claim }: Attempt, database: Database): Promise<void> {
  const shown = progress();
  shown.now(`${database}: starting`);
  const plan = short ? few : usual;
  const places = (Object.keys(plan) as Place[]).flatMap((place) => Array.from({ length: plan[place] }, () => place));
  const subject = await startSubject(database);
  const { dataDir, port, key } = subject.server;
  const env = subject.env;
  let server: Server = subject.server;
  try {
    const sent: Sent = { acked: [], unacked: new Set(), taken: 0, unexpected: [] };
    const deaths: Death[] = [];
    for (const [round, place] of places.entries()) {
      if (place !== "at_random") {
        await server.stop();
        server = await startServer({ env, dataDir, port, key, source: mutant([dyingAt[place]]) });
      }
      deaths.push({ place, round, inFlight: await createUntilDead(server, place, round, sent) });
      shown.now(`${database}: died ${deaths.length} of ${places.length} times, ${sent.acked.length} acknowledged`);
      server = await startServer({ env, dataDir, port, key });
    }
    shown.now(`${database}: looking for ${sent.acked.length} links`);
    const found = await check(server, { QL_DATA: dataDir, ...env }, sent);
    shown.end();

    const inFlight = deaths.reduce((sum, death) => sum + death.inFlight, 0);
    const died = (place: Place) => deaths.filter((death) => death.place === place).length;
    const committed = deaths.filter(({ round }) => found.unackedPresent.some((url) => roundOf(url) === round));
    const byChance = committed.filter(({ place }) => place === "at_random").length;
    console.log(
      `database=${database} kills=${deaths.length} at_random=${died("at_random")} after_commit=${died("after_commit")} ` +
        `in_transaction=${died("in_transaction")} fell_between_commit_and_reply=${committed.length} of_these_by_chance=${byChance} ` +
        `acked=${sent.acked.length} acked_missing=${found.missing.length} duplicates=${found.duplicates} torn=${found.torn} ` +
        `in_flight=${inFlight} unacked=${sent.unacked.size} unacked_present=${found.unackedPresent.length} ` +
        `slugs_taken=${sent.taken} unexpected=${sent.unexpected.length} asked_again=${found.askedAgain}`,
    );
    for (const what of found.missing.slice(0, shownMost)) console.log(`  missing: ${what}`);
    for (const answer of [...new Set(sent.unexpected)].slice(0, shownMost)) console.log(`  unexpected: ${answer}`);

    const acked = sent.acked.length;
    const about = {
      promise: "every link that was answered with 201 survives kill -9 of the server",
      scenario: database,
      done: `${deaths.length} × kill -9 with ${inFlight} requests in flight, ${byChance} of ${died("at_random")} random ones between commit and reply`,
    };
    const none = { exactly: 0 };
    claim({ ...about, measure: "missing", times: acked, figure: found.missing.length, unit: "links", bound: none });
    claim({ ...about, measure: "duplicates", times: acked, figure: found.duplicates, bound: none });
    claim({ ...about, measure: "torn", times: found.rows, figure: found.torn, unit: "links", bound: none });
    const answers = acked + sent.taken + sent.unexpected.length;
    claim({ ...about, measure: "unexpected", times: answers, figure: sent.unexpected.length, bound: none });
    claim({
      ...{ ...about, measure: "kills_after_commit", times: deaths.length, figure: committed.length, unit: "kills" },
      bound: { least: plan.after_commit },
    });
    const busy = deaths.filter((death) => death.inFlight > 0).length;
    claim({
      ...{ ...about, measure: "kills_at_work", times: deaths.length, figure: busy, unit: "kills" },
      bound: { least: plan.after_commit + plan.in_transaction + 1 },
    });
  } finally {
    shown.end();
    await server.stop().catch(() => {});
    await subject.postgres?.stop();
  }
}

/** Kills the server, unless it ends itself. Returns how many requests were in flight when it died. */
async function createUntilDead(server: Server, place: Place, round: number, sent: Sent): Promise<number> {
  const enough = Promise.withResolvers<void>();
  const acksWanted =
    place === "at_random" ? sent.acked.length + randomInt(fewestAcks, mostAcks) : Number.POSITIVE_INFINITY;
  let alive = true;
  let inFlight = 0;
  let cut = 0;

  async function create(client: number): Promise<void> {
    for (let i = 0; alive; i++) {
      const url = `https://example.com/${round}/${client}/${i}`;
      const code = slugFor(round, client, i);
      inFlight++;
      sent.unacked.add(url);
      try {
        await post(server, { url, ...(code !== undefined && { code }) }, sent);
      } catch (error) {
        cut++;
        // A server that refuses connections before it was killed has died by itself.
        if (place !== "at_random") enough.resolve();
        else if (alive) enough.reject(error);
        return;
      } finally {
        inFlight--;
      }
      if (sent.acked.length >= acksWanted) enough.resolve();
    }
  }

  const creating = Promise.all(Array.from({ length: clients }, (_, client) => create(client)));
  await enough.promise;
  if (place !== "at_random") {
    await creating;
    await server.kill();
    return cut;
  }
  // Not right after an answer, but anywhere in the work on the next ones.
  await Bun.sleep(Math.random() * laterMs);
  const underWay = inFlight;
  alive = false;
  await server.kill();
  await creating;
  return underWay;
}

const roundOf = (url: string): number => Number(new URL(url).pathname.split("/")[1]);

/** Of ten links six get a generated code, three a unique custom code, and one a code that every client wants. */
function slugFor(round: number, client: number, i: number): string | undefined {
  if (i % 10 === 3) return `wanted-${round}-${i}`;
  return i % 3 === 1 ? `own-${round}-${client}-${i}` : undefined;
}

async function post(server: Server, link: { url: string; code?: string }, sent: Sent): Promise<void> {
  const response = await fetch(`${server.url}/api/links`, {
    method: "POST",
    headers: authorization(server),
    body: JSON.stringify(link),
    // On a new connection: a reused one may be found closed, and then `fetch` sends the request twice.
    keepalive: false,
    signal: AbortSignal.timeout(requestMs),
  });
  const body = (await response.json()) as Acked;
  sent.unacked.delete(link.url);
  if (response.status === 201) sent.acked.push({ id: body.id, code: body.code, url: link.url });
  else if (response.status === 409 && link.code?.startsWith("wanted-")) sent.taken++;
  else sent.unexpected.push(`${response.status} ${JSON.stringify(body).slice(0, 300)}`);
}

async function check(server: Server, env: { QL_DATA: string }, { acked, unacked }: Sent) {
  const listed = await listAll(server);
  const stored = await readSql(env);
  const missing = new Map<Acked, string>();
  for (const link of acked) {
    const { id, code, url } = link;
    const same = (other: Acked | undefined) => other?.code === code && other.url === url;
    if (!same(listed.get(id))) missing.set(link, `the list has ${JSON.stringify(listed.get(id))}`);
    if (!same(stored.links.get(id))) missing.set(link, `SQL has ${JSON.stringify(stored.links.get(id))}`);
  }
  let askedAgain = 0;
  const queue = acked.values();
  await Promise.all(
    Array.from({ length: checksAtOnce }, async () => {
      for (const link of queue) {
        const { answer, tries } = await ask(server, link.code);
        askedAgain += tries - 1;
        if (answer !== `302 ${link.url}`) missing.set(link, `the redirect answered ${answer}`);
      }
    }),
  );
  const rows = [...stored.links.values()];
  const codes = rows.map(({ code }) => code);
  const urls = rows.map(({ url }) => url);
  return {
    missing: [...missing].map(([link, why]) => `${JSON.stringify(link)}: ${why}`),
    duplicates: repeated(acked.map(({ code }) => code)) + repeated(codes) + repeated(urls),
    torn: stored.torn,
    askedAgain,
    rows: rows.length,
    unackedPresent: urls.filter((url) => unacked.has(url)),
  };
}

const repeated = (values: readonly string[]): number => values.length - new Set(values).size;

/** 503 means "try again": on a busy machine PostgreSQL may need longer than a redirect waits. */
async function ask(server: Server, code: string): Promise<{ answer: string; tries: number }> {
  for (let tries = 1; ; tries++) {
    const signal = AbortSignal.timeout(requestMs);
    const response = await fetch(`${server.url}/${code}`, { redirect: "manual", signal });
    await response.arrayBuffer();
    const answer = `${response.status} ${response.headers.get("location")}`;
    if (response.status !== 503 || tries === asksMost) return { answer, tries };
    await Bun.sleep(askAgainMs);
  }
}

async function listAll(server: Server): Promise<Map<string, Acked>> {
  const all = new Map<string, Acked>();
  for (let cursor: string | null = ""; cursor !== null; ) {
    const query: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const response = await fetch(`${server.url}/api/links?limit=${pageSize}${query}`, {
      headers: authorization(server),
      signal: AbortSignal.timeout(requestMs),
    });
    const page = (await response.json()) as { items: Acked[]; nextCursor: string | null };
    for (const link of page.items) all.set(link.id, link);
    cursor = page.nextCursor;
  }
  return all;
}

async function readSql(env: { QL_DATA: string }): Promise<{ links: Map<string, Acked>; torn: number }> {
  return await look(env, async ({ db }) => {
    const links = await acrossTenants(db).selectFrom("links").select(["id", "code", "url"]).execute();
    const versions = await db.selectFrom("link_versions").select(["code", "state"]).execute();
    const changes = await db.selectFrom("changes").select("code").where("kind", "in", ["link", "links"]).execute();
    const live = new Set(versions.filter(({ state }) => state === "live").map(({ code }) => code));
    const changed = new Set(changes.flatMap(({ code }) => code.split(" ")));
    const codes = new Set(links.map(({ code }) => code));
    const halves = links.filter(({ code }) => !live.has(code) || !changed.has(code)).length;
    const orphans = [...live, ...changed].filter((code) => !codes.has(code)).length;
    return { links: new Map(links.map((link) => [link.id, link])), torn: halves + orphans };
  });
}
