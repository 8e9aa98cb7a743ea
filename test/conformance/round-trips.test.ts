/**
 * What looking up links, authenticating calls, lending and recording hits cost in statements, each of which is a round trip to PostgreSQL. A visitor far from the
 * database is refused when they take too long; so their number must not grow with the number of links. And what announcing an upload
 * costs, in statements and in calls of Redis.
 */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { CompiledQuery } from "kysely";
import { Client } from "pg";
import { manualClock, systemClock } from "../../src/base/clock.ts";
import { newId, type TenantId } from "../../src/base/ids.ts";
import { createCache } from "../../src/cache/cache.ts";
import { gatheredSource, keysPerQuery, type LoadMany } from "../../src/cache/gathered-source.ts";
import { uncounted } from "../../src/cache/hit-counts.ts";
import { createRecorder } from "../../src/clicks/recorder.ts";
import { createFiles } from "../../src/files/files.ts";
import { createStorageQuota } from "../../src/files/quota/quota.ts";
import { createFileStore } from "../../src/files/store.ts";
import { createMemoryCounters } from "../../src/in-memory/counters.ts";
import type { Counters } from "../../src/limits/counters.ts";
import { createMeters } from "../../src/limits/meters.ts";
import { createLinkStore } from "../../src/links/store.ts";
import { linkSource } from "../../src/redirect/link-source.ts";
import { connectRedis } from "../../src/redis/client.ts";
import { createRedisCounters } from "../../src/redis/counters.ts";
import { createJobClaims } from "../../src/sql/jobs.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { ofTenant } from "../../src/sql/tenant-db.ts";
import { type ApiKey, createKeys, type KeyHash, keySource, sizeOfKey } from "../../src/tenants/keys.ts";
import {
  createKnownTenants,
  loadPlans,
  loadTenants,
  sizeOfPlan,
  sizeOfTenant,
  type TenantKey,
} from "../../src/tenants/known-tenants.ts";
import { createTenants, defaultLimits, type Limits, type TenantRecord } from "../../src/tenants/tenants.ts";
import { byCommand } from "../ground/actors.ts";
import { redisAvailable, startRedis } from "../ground/redis.ts";
import { connected, patientMs } from "./counter-stores.ts";
import { onEachDatabase } from "./databases.ts";
import { fresh, reasons, silent, sqlLeases, thisMonth } from "./lenders.ts";
import { openDiskStore } from "./stores.ts";

/** The first word of every statement that was sent, on any connection of this process. */
let sent: string[] = [];
/** With its values on PostgreSQL, which plans for them. */
const statements: { readonly text: string; readonly values: readonly unknown[] }[] = [];
const { query: querySqlite } = Database.prototype;
const { query: queryPostgres } = Client.prototype;

beforeAll(() => {
  Database.prototype.query = function (this: Database, text: string) {
    note(text);
    return querySqlite.call(this, text);
  } as typeof querySqlite;
  Client.prototype.query = function (this: Client, ...sending: unknown[]) {
    const [statement, values] = sending as [string | { text: string; values?: unknown[] }, unknown[] | undefined];
    if (typeof statement === "string") note(statement, values);
    else note(statement.text, statement.values ?? values);
    return Reflect.apply(queryPostgres, this, sending);
  } as typeof queryPostgres;
});
afterAll(() => {
  Database.prototype.query = querySqlite;
  Client.prototype.query = queryPostgres;
});

function note(text: string, values: readonly unknown[] = []): void {
  statements.push({ text, values });
  sent.push(text.trim().split(/\s/, 1)[0]?.toLowerCase() ?? "");
}

async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  sent = [];
  await work();
  return sent;
}

/** A server's meters and its recorder, which records only when it is asked to, or when its clock is moved. */
function openCounting(sql: Sql) {
  const id = fresh("recorder");
  const clock = manualClock(systemClock.now());
  const leases = sqlLeases(sql);
  const meters = createMeters({
    ...{ reasons: reasons.length, store: leases, clock, month: thisMonth, newLeaseId: () => fresh("lease") },
    patience: { redis: 5_000, sql: 5_000 },
    usedUp() {},
    flush: () => recorder.flush(),
  });
  const write = (sequence: number, batch: Parameters<typeof leases.record>[2]) => leases.record(id, sequence, batch);
  const recorder = createRecorder({ meters, write, clock, log: silent });
  const visit = (code: string, max: number | null) => meters.spend(meters.of(code), "hits", max, 0);
  return { visit, recorder, clock };
}

const transaction = (...statements: string[]) => ["begin", ...statements, "commit"];

/** SQLite has rows of few lengths: up to 16 are one list, 17 are 16 and 1, 100 are 64, 32 and 4. PostgreSQL gets all at once. */
const counts: [links: number, lists: number][] = [
  ...Array.from({ length: 16 }, (_, i): [number, number] => [i + 1, 1]),
  [17, 2],
  [100, 3],
];

const stampede = 2_000;

interface CountedLedger {
  readonly counters: Counters;
  /** Of Redis, so far. */
  calls(): number;
  /** Forgets everything. */
  lose(): Promise<void>;
  stop(): Promise<void>;
}

async function countedInProcess(): Promise<CountedLedger> {
  let calls = 0;
  let current = createMemoryCounters({ clock: systemClock });
  const counters = new Proxy({} as Counters, {
    get(_, method: keyof Counters) {
      calls++;
      return current[method];
    },
  });
  return {
    counters,
    calls: () => calls,
    async lose() {
      current = createMemoryCounters({ clock: systemClock });
    },
    async stop() {},
  };
}

async function countedInRedis(): Promise<CountedLedger> {
  const server = await startRedis();
  let calls = 0;
  const redis = connectRedis(server.url, { deadlineMs: patientMs, observe: () => void calls++ });
  await connected(redis);
  return {
    counters: createRedisCounters({ redis }),
    calls: () => calls,
    lose: () => server.flush(),
    async stop() {
      await redis.close();
      await server.stop();
    },
  };
}

const countedLedgers = { "in process": countedInProcess, ...(redisAvailable() && { "in Redis": countedInRedis }) };

onEachDatabase(({ name, open }) => {
  let opened: Promise<Sql> | undefined;

  test("a process that looks at all of its jobs asks one question", async () => {
    const sql = await open();
    const never = new AbortController().signal;
    const claims = createJobClaims(sql, { id: fresh("holder"), lapse: () => never }, systemClock);
    const jobs = ["sweep", "clean", "purge"].map((name) => ({
      ...{ name, deadlineMs: 60_000, early: false, work: async () => {} },
      ...{ firstAt: systemClock.now() + 60_000, next: (now: number) => now + 60_000 },
    }));
    const look = () => Promise.all(jobs.map((job) => claims.run(job, never)));
    await look();
    expect(await statementsOf(look)).toEqual(["select"]);
    for (const { dueInMs } of await look()) expect(dueInMs).toBeGreaterThan(30_000);
  });

  test("2,000 cold links at once are looked up in eight statements, and lent to in four transactions", async () => {
    opened ??= open();
    const sql = await opened;
    const codes = Array.from({ length: stampede }, () => fresh("link"));
    const counts = uncounted();
    const source = gatheredSource(linkSource(createLinkStore(sql).targets), {
      ...{ atOnce: 4, waiting: 10_000, waitMs: 60_000, counts, clock: systemClock },
      run: (work) => work(),
    });
    const lookUp = async () => {
      const found = await Promise.all(codes.map((code) => source.load(code, 0)));
      for (const one of found) expect(one).toEqual({ version: 0, value: undefined });
    };
    expect(await statementsOf(lookUp)).toEqual(new Array(Math.ceil(stampede / keysPerQuery)).fill("select"));
    expect(counts.events.shed).toBe(0);

    const { visit, recorder } = openCounting(sql);
    const lent = await statementsOf(async () => {
      const verdicts = await Promise.all(codes.map((code) => visit(code, 1_000)));
      for (const verdict of verdicts) expect(verdict.kind).toBe("granted");
    });
    expect(lent.filter((word) => word === "begin")).toHaveLength(4);
    const totals = sqlLeases(sql);
    const ask = (key: string) => totals.total({ key, draws: "hits", month: thisMonth() });
    const asked = await statementsOf(async () => expect(await Promise.all(codes.map(ask))).toContain(10));
    expect(asked).toEqual(new Array(8).fill("select"));
    await recorder.stop();
  });

  test("a call with an API key reads its key, tenant and plan once, and nothing while they are in memory", async () => {
    opened ??= open();
    const sql = await opened;
    const plan = fresh("plan");
    const tenants = createTenants(sql, systemClock);
    await tenants.setPlan(plan, defaultLimits, byCommand);
    const { id } = await tenants.create(fresh("tenant"), "Somebody", byCommand, plan);
    const { secret } = await createKeys({ sql, clock: systemClock }).create(
      id,
      { name: "a key", scopes: ["links:read"] },
      byCommand,
    );
    const clock = manualClock(systemClock.now());
    const cached = { clock, counts: uncounted(), wait: { redis: 5_000, sql: 5_000 }, sizeBytes: 1_000_000 };
    const gathered = <Value>(load: LoadMany<Value>) =>
      gatheredSource(load, {
        ...{ atOnce: 4, waiting: 10, waitMs: 60_000, counts: uncounted(), clock },
        run: (work) => work(),
      });
    const known = createKnownTenants({
      tenants: createCache<TenantRecord, TenantKey>({
        ...cached,
        source: gathered(loadTenants(sql)),
        sizeOf: sizeOfTenant,
      }),
      plans: createCache<Limits>({ ...cached, source: gathered(loadPlans(sql)), sizeOf: sizeOfPlan }),
      ...{ sql, read: tenants.byId },
    });
    const knownKeys = createCache<ApiKey, KeyHash>({ ...cached, source: keySource(sql), sizeOf: sizeOfKey });
    const keys = createKeys({ sql, clock, known: knownKeys });
    const call = async () => {
      const key = await keys.authenticate(secret);
      expect(await known.byId(key?.tenantId as TenantId)).toMatchObject({ id, plan });
    };
    // The version and the row of each, and once the number of the tenant.
    expect(await statementsOf(call)).toEqual(new Array(7).fill("select"));
    expect(await statementsOf(() => Promise.all(Array.from({ length: 100 }, call)))).toEqual([]);

    // Without memory: the key with its version, the tenant and the plan, for every call.
    const before = async () => {
      const key = await createKeys({ sql, clock }).authenticate(secret);
      expect(await tenants.byId(key?.tenantId as TenantId)).toMatchObject({ id, plan });
    };
    expect(await statementsOf(before)).toEqual(new Array(4).fill("select"));

    // Without news of the feed, each is read again after a second, by one for all.
    clock.advance(1_000);
    expect(await statementsOf(() => Promise.all(Array.from({ length: 100 }, call)))).toEqual(
      new Array(6).fill("select"),
    );
  });

  test("first visits share a transaction, with a statement for each", async () => {
    opened ??= open();
    const leases = sqlLeases(await opened);
    const visits = Array.from({ length: 5 }, () => ({
      ...{ key: fresh("link"), draws: "hits" as const, max: 1_000, reason: 0 },
    }));
    const time = name === "PostgreSQL" ? ["select"] : [];
    expect(await statementsOf(() => leases.countFirst(visits, () => true))).toEqual(
      transaction(...time, ...visits.map(() => "insert")),
    );
  });

  test("a link whose row is damaged fails alone, and a database that is away is asked once", async () => {
    opened ??= open();
    const sql = await opened;
    const damaged = fresh("damaged");
    const load = linkSource(async (places) => {
      // As SQLite does for a damaged page.
      if (places.some(({ code }) => code === damaged)) throw new Error("database disk image is malformed");
      return await createLinkStore(sql).targets(places);
    });
    const codes = [fresh("link"), damaged, fresh("link"), fresh("link")];
    const found = await load(codes);
    expect(found.map((one) => one instanceof Error)).toEqual([false, true, false, false]);
    const away = Object.assign(new Error("no connection"), { code: "ECONNREFUSED" });
    let asked = 0;
    const unavailable = linkSource(async () => {
      asked++;
      throw away;
    });
    await expect(unavailable(codes)).rejects.toThrow("no connection");
    expect(asked).toBe(1);
  });

  test.each(counts)(
    "the hits of %p links are recorded in one transaction; statements for each table on SQLite: %p",
    async (links, listsOfSqlite) => {
      const lists = name === "PostgreSQL" ? 1 : listsOfSqlite;
      opened ??= open();
      const sql = await opened;
      const { visit, recorder, clock } = openCounting(sql);
      const codes = Array.from({ length: links }, () => fresh("link"));
      const insert = (times: number): string[] => Array.from({ length: times * lists }, () => "insert");

      const unlimited = async () => {
        for (const code of codes) await visit(code, null);
        clock.advance(1_000);
        await recorder.flush();
      };
      // The batch's number, the months.
      expect(await statementsOf(unlimited)).toEqual(transaction("insert", ...insert(1)));

      // The months before, which PostgreSQL locks after it has told the time; the leases, the months after.
      const lent = await statementsOf(() => Promise.all(codes.map((code) => visit(code, 1_000))));
      const before = name === "PostgreSQL" ? ["select", "insert"] : ["select"];
      expect(lent).toEqual(transaction(...before, ...insert(2)));

      // Besides, the ended leases.
      expect(await statementsOf(() => recorder.stop())).toEqual(transaction("insert", ...insert(1), "delete"));
      const { counted } = await sql.db
        .selectFrom("quotas")
        .select((is) => is.fn.sum<number>("counted").as("counted"))
        .where("code", "in", codes)
        .executeTakeFirstOrThrow();
      expect(Number(counted)).toBe(2 * links);
    },
  );

  test.each(Object.entries(countedLedgers))(
    "an upload is announced with two statements and one call, and refused with two statements, with the counters %s",
    async (_, openLedger) => {
      opened ??= open();
      const sql = await opened;
      const ledger = await openLedger();
      const disk = await openDiskStore();
      try {
        const tenants = createTenants(sql, systemClock);
        const slug = fresh("tenant");
        await tenants.create(slug, "Somebody", byCommand);
        const tenant = await tenants.change(slug, { overrides: { storageBytes: 1_000 } }, byCommand);
        const store = createFileStore(sql);
        const quota = createStorageQuota(ledger.counters, store, systemClock.now);
        const { storage } = disk;
        const files = createFiles({
          ...{ store, storage, quota, clock: systemClock, log: silent, mostBytes: 5_000, publish() {} },
        });
        const announce = (size: number) => files.create(tenant, { name: "a.txt", size, type: "text/plain" });
        const costOf = async (work: () => Promise<unknown>) => {
          const before = ledger.calls();
          return { statements: await statementsOf(work), calls: ledger.calls() - before };
        };
        // The first one sends the script.
        await announce(100);
        for (let i = 0; i < 3; i++) {
          const cost = await costOf(() => announce(100));
          expect(cost).toEqual({ statements: ["insert", "update"], calls: 1 });
        }
        const refused = await costOf(async () => {
          await expect(announce(601)).rejects.toMatchObject({ code: "over_quota" });
        });
        expect(refused).toEqual({ statements: ["insert", "delete"], calls: 0 });
        // Holds that were lost are restored with a few more.
        await ledger.lose();
        await announce(600);
        expect(await quota.figures(tenant.id)).toMatchObject({ used: 0, held: 1_000 });
      } finally {
        await disk.stop();
        await ledger.stop();
      }
    },
  );

  test("what a tenant has announced is added up by its own index, however many files it has", async () => {
    const sql = await open();
    const { id: tenantId } = await createTenants(sql, systemClock).create(fresh("tenant"), "Somebody", byCommand);
    const file = () => ({ id: newId("file", systemClock), name: "a", size_bytes: 1, type: "a/b", sha256: null });
    const times = { created_at: 1, upload_until: 2, stored_at: 3 };
    const stored = { ...times, state: "stored", settled: 1 } as const;
    const rows = Array.from({ length: 2_000 }, () => ({ ...file(), ...stored }));
    for (let at = 0; at < rows.length; at += 500) {
      await ofTenant(sql.db, tenantId)
        .insertInto("files")
        .values(rows.slice(at, at + 500))
        .execute();
    }
    await run(sql, "analyze");
    const store = createFileStore(sql);
    const { id, name, type, size_bytes: sizeBytes } = file();
    const draft = { id, tenantId, name, type, sizeBytes, sha256: null, createdAt: systemClock.now() };
    statements.length = 0;
    expect(await store.insert(draft)).toEqual({ bytes: 0, version: 0, files: 0, pending: 0, uploads: 0 });
    expect(await store.storageUse(tenantId)).toEqual({ bytes: 0, version: 0, files: 0, pending: 0, uploads: 0 });
    const explain = sql.dialect === "postgres" ? "explain" : "explain query plan";
    const asked = [...statements];
    expect(asked).toHaveLength(2);
    for (const { text, values } of asked) {
      const literal = (place: string) =>
        values[Number(place) - 1] === null ? "null" : `'${values[Number(place) - 1]}'`;
      const given = text.replaceAll(/\$(\d+)/g, (_, place: string) => literal(place));
      const plan = JSON.stringify((await run(sql, `${explain} ${given}`)).rows);
      expect(plan).toContain("files_announced");
      expect(plan).not.toContain("files_of_tenant");
    }
  });
});

const run = (sql: Sql, text: string) => sql.db.executeQuery(CompiledQuery.raw(text));
