/** SIGTERM in the middle of long work in SQLite's background thread: the process exits with 0, and nothing is half done. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { until } from "../ground/process.ts";
import { startServer } from "../ground/server.ts";
import { metric, type ProblemBody, query, type Reply, type Site, siteOf, startSite } from "./servers.ts";

const links = Array.from({ length: 1_000 }, (_, i) => ({ url: `https://example.com/${i}`, code: `slow-${i}` }));
const timeoutMs = 120_000;

/** Rows to multiply, for statements that take long. */
const numbers = [
  "create table numbers (n integer)",
  `insert into numbers with recursive up(n) as (select 1 union all select n + 1 from up where n < 10000)
    select n from up`,
];
/**
 * Each of the three rows of a new link takes some 3 ms, as fast as this machine is: a thousand links are 9 s, of which a stop waits for
 * five, and a statement with 512 rows takes 1.5 s. It has to end within the five seconds that are left, also on a machine that is busy with
 * other tests.
 */
const tables = ["link_versions", "changes", "links"];
const rowMs = 3;

function slowInserts(): string[] {
  const factor = Math.max(1, Math.round(rowMs / msOfOne()));
  const slowly = `update slow set n = (select count(*) from numbers a, numbers b where a.n <= ${factor})`;
  return [
    ...numbers,
    "create table slow (n integer)",
    "insert into slow values (0)",
    ...tables.map((table) => `create trigger slow_${table} after insert on ${table} begin ${slowly}; end`),
  ];
}

/** How long counting the numbers once takes: the quickest of several tries. */
function msOfOne(): number {
  const database = new Database();
  for (const statement of numbers) database.run(statement);
  const times = Array.from({ length: 20 }, () => {
    const started = performance.now();
    database.query("select count(*) from numbers a, numbers b where a.n <= 10").get();
    return (performance.now() - started) / 10;
  });
  database.close();
  return Math.min(...times);
}

/** Reading a link takes one statement of hours. */
const slowReads = [
  ...numbers,
  "alter table links rename to all_links",
  "create view links as select * from all_links where (select count(*) from numbers a, numbers b, numbers c) > 0",
];

async function slowDown(site: Site, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await query(site.env, statement);
}

async function startSlow(): Promise<Site> {
  const site = await startSite("SQLite");
  await slowDown(site, slowInserts());
  return site;
}

/** The reply, or undefined if the connection was closed without one. */
const sent = (reply: Promise<Reply>): Promise<Reply | undefined> => reply.catch(() => undefined);

function expectHonest(reply: Reply | undefined): void {
  if (reply === undefined) return;
  expect(reply.status).toBe(503);
  expect(reply.headers.get("retry-after")).not.toBeNull();
  expect(reply.json<ProblemBody>()).toMatchObject({
    code: "unavailable",
    detail: expect.stringContaining("did not finish"),
  });
}

const running = (site: Site) =>
  until("the work to run", async () => {
    const { text } = await site.visit("/metrics");
    return metric(text, 'quicklink_shares_running{resource="work"}') > 0 || undefined;
  });

async function count(site: Site, from: string): Promise<number> {
  const [row] = (await query(site.env, `select count(*) as n from ${from}`)) as { n: number }[];
  return Number(row?.n);
}

/** As many versions, rows of the feed and links in the month's usage as there are links. */
async function expectConsistent(site: Site, made: number): Promise<void> {
  expect(await count(site, "links")).toBe(made);
  expect(await count(site, "link_versions")).toBe(made);
  expect(await count(site, "changes where kind = 'link'")).toBe(made);
  expect(await query(site.env, "select coalesce(sum(used), 0) as n from tenant_usage")).toEqual([{ n: made }]);
  expect(await query(site.env, "pragma integrity_check")).toEqual([{ integrity_check: "ok" }]);
}

test(
  "a bulk request keeps what it has created, and can be repeated to create the rest",
  async () => {
    const site = await startSlow();
    const options = { body: { links }, headers: { "idempotency-key": "interrupted" } };
    const reply = sent(site.call("POST", "/api/links/bulk", options));
    await until("the first links", async () => (await count(site, "links")) > 0 || undefined);
    expect(await site.server.stop()).toBe(0);
    expectHonest(await reply);
    const made = await count(site, "links");
    expect([made > 0, made < links.length, made % 100]).toEqual([true, true, 0]); // whole transactions
    await expectConsistent(site, made);

    for (const table of tables) await query(site.env, `drop trigger slow_${table}`);
    const { dataDir, key } = site.server;
    const again = siteOf(await startServer({ env: site.env, dataDir, key }), site.env);
    const repeated = await again.call("POST", "/api/links/bulk", options);
    expect(repeated.json<object>()).toMatchObject({ created: links.length, failed: 0 });
    expect(await again.server.stop()).toBe(0);
    await expectConsistent(site, links.length);
  },
  timeoutMs,
);

test(
  "an atomic bulk request creates nothing",
  async () => {
    const site = await startSlow();
    const reply = sent(site.call("POST", "/api/links/bulk", { body: { links, atomic: true } }));
    await running(site);
    expect(await site.server.stop()).toBe(0);
    expectHonest(await reply);
    await expectConsistent(site, 0);
  },
  timeoutMs,
);

test(
  "a statement that takes hours does not keep the process",
  async () => {
    const site = await startSite("SQLite");
    await site.create(links[0] ?? {});
    await slowDown(site, slowReads);
    const reply = sent(site.call("GET", "/api/links?search=anything"));
    await running(site);
    expect(await site.server.stop()).toBe(0);
    expectHonest(await reply);
  },
  timeoutMs,
);

test(
  "work that ends soon is finished",
  async () => {
    const few = 10;
    const site = await startSlow();
    const reply = site.call("POST", "/api/links/bulk", { body: { links: links.slice(0, few), atomic: true } });
    await running(site);
    expect(await site.server.stop()).toBe(0);
    expect((await reply).json<object>()).toMatchObject({ created: few, failed: 0 });
    await expectConsistent(site, few);
  },
  timeoutMs,
);
