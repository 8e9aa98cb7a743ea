/**
 * Any link is decided alike wherever it is read from: SQL, the memory of the server that read it there, Redis, and the
 * memory of a second server that found it in Redis and never asked SQL.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createSuspensions, type Suspensions } from "../../src/abuse/suspensions.ts";
import { systemClock } from "../../src/base/clock.ts";
import { newId } from "../../src/base/ids.ts";
import { createMetrics } from "../../src/base/metrics.ts";
import { createCache, type Source } from "../../src/cache/cache.ts";
import { gatheredSource } from "../../src/cache/gathered-source.ts";
import { countCache, uncounted } from "../../src/cache/hit-counts.ts";
import { partOf } from "../../src/cache/tier.ts";
import { createTiered } from "../../src/cache/tiered.ts";
import { granted, type Verdict } from "../../src/limits/verdict.ts";
import { cacheKey, type MeteredTarget, splitKey } from "../../src/links/link.ts";
import type { ChoiceFields } from "../../src/links/routing/choice.ts";
import { devices, type RuleCondition, systems } from "../../src/links/routing/rules.ts";
import { createLinkStore, type LinkStore } from "../../src/links/store.ts";
import { isCachedLink, isTenantRecord, type SharedValue, sharedForm } from "../../src/redirect/cache-format.ts";
import { complete, type Decision, decide, type VisitFacts } from "../../src/redirect/decide.ts";
import { cachedLink, linkSource, sizeOfCached } from "../../src/redirect/link-source.ts";
import { createRedisCache } from "../../src/redis/cache.ts";
import { connectRedis, type Redis } from "../../src/redis/client.ts";
import type { FileTable, TenantNumber } from "../../src/sql/schema.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { acrossTenants } from "../../src/sql/tenant-db.ts";
import { loadTenants, sizeOfTenant } from "../../src/tenants/known-tenants.ts";
import { tenantNumberOf } from "../../src/tenants/tenant-number.ts";
import {
  createTenants,
  defaultLimits,
  type Tenant,
  type TenantRecord,
  type Tenants,
} from "../../src/tenants/tenants.ts";
import { byCommand } from "../ground/actors.ts";
import { type RedisServer, redisAvailable, startRedis } from "../ground/redis.ts";
import { connected, patientMs } from "./counter-stores.ts";
import { onEachDatabase } from "./databases.ts";

const now = Date.UTC(2026, 10, 16);
const runs = 150;
const timeoutMs = 120_000;
const host = "links.example";
const position = "00000000000000000000.0000000000000001";

const url = fc.constantFrom(
  "https://example.com/",
  "https://xn--mnchen-3ya.example/a?b=1#c",
  "https://u.example/x/v/t",
);
const text = fc.string({ minLength: 1, maxLength: 12, unit: "grapheme" }).filter((one) => !one.includes("\0"));
const time = fc.integer({ min: now - 2, max: now + 2 });
const limit = fc.constantFrom(null, 0, 1, 7, 1_000_000);
const orNone = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });

const conditions: { readonly [Name in keyof Required<RuleCondition>]: fc.Arbitrary<NonNullable<RuleCondition[Name]>> } =
  {
    country: fc.subarray(["DE", "FR", "US"], { minLength: 1 }),
    device: fc.subarray([...devices], { minLength: 1 }),
    os: fc.subarray([...systems], { minLength: 1 }),
    language: fc.subarray(["de", "en-gb"], { minLength: 1 }),
    from: time,
    until: time,
    hours: fc.record(
      {
        zone: fc.constant("Europe/Berlin"),
        days: fc.subarray(["mon", "sun"]),
        fromMinute: minute(),
        untilMinute: minute(),
      },
      { requiredKeys: ["zone", "fromMinute", "untilMinute"] },
    ),
    query: fc.record({ name: text, value: text }, { requiredKeys: ["name"] }),
  };

function minute() {
  return fc.integer({ min: 0, max: 1_439 });
}

const choice: { readonly [Name in keyof ChoiceFields]: fc.Arbitrary<ChoiceFields[Name]> } = {
  rules: fc.array(fc.record({ when: fc.record(conditions, { requiredKeys: [] }), url }), { maxLength: 3 }),
  split: fc.array(fc.record({ url, weight: fc.integer({ min: 1, max: 1_000 }) }), { maxLength: 3 }),
  forwardQuery: fc.boolean(),
  utm: orNone(fc.record({ source: text, campaign: text }, { requiredKeys: [] })),
};

/**
 * What each field of a target comes from. A field that targets are given needs a row here, or this does not compile;
 * and one that is the same for all links makes the test fail.
 */
const causes = {
  url,
  file: orNone(
    fc.record({
      name: text,
      type: fc.constantFrom("text/plain", "image/png"),
      sizeBytes: fc.nat(),
      hashed: fc.boolean(),
    }),
  ),
  permanent: fc.boolean(),
  expiresAt: orNone(time),
  fallbackUrl: orNone(url),
  password: fc.boolean(),
  suspended: fc.constantFrom(false, false, true),
  choice: fc.record(choice),
  hitsPerMonth: limit,
  /** The numbers come from the database. */
  clicks: fc.record({
    tags: fc.uniqueArray(text, { maxLength: 3 }),
    facts: fc.boolean(),
  }),
} satisfies { readonly [Field in keyof Required<MeteredTarget>]: fc.Arbitrary<unknown> };

const links = fc.record({
  ...causes,
  status: fc.constantFrom("active", "active", "active", "disabled"),
  domain: fc.constantFrom("", host),
});
type AnyLink = typeof links extends fc.Arbitrary<infer Value> ? Value : never;

const anyTenant = fc.record({
  name: fc.string({ minLength: 1, maxLength: 60 }).filter((name) => !name.includes("\0")),
  plan: fc.constantFrom("default", "unlimited", "small"),
  limit: fc.option(limit, { nil: undefined }),
  facts: fc.option(fc.boolean(), { nil: undefined }),
  suspended: fc.constantFrom(undefined, "spam", "phishing"),
  isDeleted: fc.boolean(),
  domain: fc.boolean(),
});
type AnyTenant = typeof anyTenant extends fc.Arbitrary<infer Value> ? Value : never;

const noSource = { load: () => Promise.reject(new Error("SQL was asked")) };
const flags = [false, true];
const facts: readonly VisitFacts[] = flags.flatMap((head) =>
  flags.flatMap((prefetch) =>
    flags.flatMap((bot) =>
      flags.flatMap((preview) => flags.map((unlocked) => ({ head, prefetch, bot, preview, unlocked, stopped: false }))),
    ),
  ),
);
const verdicts: readonly Verdict[] = [
  granted,
  { kind: "denied", retryAfterSeconds: 7 },
  { kind: "unavailable", retryAfterSeconds: 5 },
];

/** Whatever a visitor might be answered. */
function decisions(target: MeteredTarget | undefined): Decision[] {
  return facts.flatMap((visit) => {
    const decision = decide(target, visit, now);
    if (target === undefined || !("draws" in decision)) return [decision];
    return [decision, ...verdicts.map((verdict) => complete(target, decision, verdict))];
  });
}

if (redisAvailable()) {
  onEachDatabase(({ open }) => {
    describe("any link", () => {
      let sql: Sql;
      let store: LinkStore;
      let tenants: Tenants;
      let suspensions: Suspensions;
      let server: RedisServer;
      let connections: readonly [Redis, Redis];
      let serial = 0;

      beforeAll(async () => {
        sql = await open();
        store = createLinkStore(sql);
        tenants = createTenants(sql, systemClock);
        suspensions = createSuspensions(sql, systemClock);
        await tenants.setPlan("small", { ...defaultLimits, hitsPerLinkPerMonth: 5 }, byCommand);
        server = await startRedis();
        const connect = () => connectRedis(server.url, { deadlineMs: patientMs });
        connections = [connect(), connect()];
        await Promise.all(connections.map(connected));
      });

      afterAll(async () => {
        await Promise.all(connections.map((redis) => redis.close()));
        await server.stop();
      });

      /** Its place in SQL. */
      async function write(link: AnyLink): Promise<string> {
        const slug = `t${++serial}`;
        const tenant = await tenants.create(slug, slug, byCommand);
        const domain = link.domain === "" ? "" : `${serial}.${link.domain}`;
        if (domain !== "") await verify(tenant, domain);
        const { permanent, expiresAt, fallbackUrl, status } = link;
        const stored = {
          ...{ permanent, expiresAt, fallbackUrl, status, title: null, notes: null, hitsPerMonth: link.hitsPerMonth },
          ...{ tags: link.clicks.tags, clickFacts: link.clicks.facts },
          ...{ ...link.choice, passwordHash: link.password ? "a hash" : null },
          ...(link.file === null ? { url: link.url, file: null } : { url: "", file: await file(tenant, link.file) }),
        };
        const code = `code-${serial}`;
        const made = {
          ...stored,
          id: newId("link", systemClock),
          domain,
          code,
          generated: false,
          at: now,
          by: byCommand,
        };
        expect((await store.createEach(tenant.id, [made], "nothing"))[0]?.kind).toBe("created");
        const why = { cause: "operator", reason: "phishing", by: byCommand } as const;
        if (link.suspended) await suspensions.suspendLink({ domain, code }, why);
        return cacheKey(domain, code);
      }

      async function setFacts({ id: tenant_id }: Tenant, facts: boolean): Promise<void> {
        const never = { late: 0, hours_until: 0, days_until: 0, months_until: 0 };
        await acrossTenants(sql.db)
          .insertInto("click_tenants")
          .values({ tenant_id, zone: "UTC", facts: facts ? 1 : 0, event_days: null, ...never })
          .execute();
      }

      async function verify({ id: tenant_id }: Tenant, name: string, is_default: 0 | 1 = 0): Promise<void> {
        const times = { created_at: now, verified_at: now };
        const row = { tenant_id, host: name, state: "verified", token: "x", is_default, ...times } as const;
        await acrossTenants(sql.db)
          .insertInto("domains")
          .values({ ...row, root_url: null, missing_url: null, root_blocked: 0, missing_blocked: 0 })
          .execute();
      }

      async function file({ id: tenant_id }: Tenant, given: NonNullable<AnyLink["file"]>) {
        const id = newId("file", systemClock);
        const { name, type, sizeBytes: size_bytes, hashed } = given;
        const row: FileTable = {
          ...{ id, tenant_id, name, type, size_bytes, sha256: hashed ? "ab".repeat(32) : null, state: "stored" },
          ...{ settled: 1, created_at: now, upload_until: now, stored_at: now },
        };
        await acrossTenants(sql.db).insertInto("files").values(row).execute();
        return id;
      }

      async function writeTenant(tenant: AnyTenant): Promise<TenantNumber> {
        const { plan, limit: override, facts, suspended, isDeleted, name, domain } = tenant;
        const slug = `t${++serial}`;
        await tenants.create(slug, name, byCommand, plan);
        const overrides = override === undefined ? {} : { hitsPerLinkPerMonth: override };
        const made = await tenants.change(slug, { overrides }, byCommand);
        if (facts !== undefined) await setFacts(made, facts);
        if (suspended !== undefined) await suspensions.suspendTenant(made.id, suspended, byCommand);
        if (domain) await verify(made, `${serial}.${host}`, 1);
        if (isDeleted) await sql.db.updateTable("tenants").set({ delete_at: now }).where("id", "=", made.id).execute();
        return await tenantNumberOf(sql.db, made.id);
      }

      /** As `server/cache.ts` puts a server together, with Redis just corrected and the feed just read. */
      async function openServer<Value extends SharedValue>(
        redis: Redis,
        source: Source<Value>,
        isPart: (value: SharedValue) => value is Value,
        sizeOf: (value: Value) => number,
      ) {
        const counts = countCache(createMetrics());
        const tier = createRedisCache({ redis, form: sharedForm, clock: systemClock, later: (write) => write() });
        for (const tag of tier.servers()) {
          if ((await tier.stand(tag)).position === "") await tier.begin(tag, position);
          tier.believe(tag, systemClock.elapsed());
        }
        const tiered = createTiered({ tier: partOf(tier, isPart), sql: source, counts, clock: systemClock });
        const cache = createCache<Value>({
          ...{ source: tiered, clock: systemClock, counts, sizeBytes: 1_000_000, sizeOf },
          wait: { redis: patientMs, sql: patientMs },
        });
        cache.followed(systemClock.elapsed());
        return { cache, counts };
      }

      test(
        "is decided alike by SQL, in memory, through Redis and on a second server",
        async () => {
          const seen = new Map<string, Set<string>>();
          await fc.assert(
            fc.asyncProperty(links, async (link) => {
              const key = await write(link);
              const { domain, code } = splitKey(key);
              const { version, value } = await store.target(domain, code);
              const { tags, facts } = link.clicks;
              if (value) expect(value.clicks).toMatchObject({ tags, facts });
              const wanted = { version, value: value && cachedLink(value) };
              const fromSql = gatheredSource(linkSource(store.targets), {
                ...{ atOnce: 1, waiting: 1, waitMs: patientMs, counts: uncounted(), clock: systemClock },
                run: (work) => work(),
              });
              const one = await openServer(connections[0], fromSql, isCachedLink, sizeOfCached);
              expect(await one.cache.lookup(key)).toMatchObject({ version });
              const inMemory = one.cache.peek(key);
              // What was sent before on the same connection is done before.
              await connections[0].send(`{${key}}`, ["EXISTS", `{${key}}`]);
              const two = await openServer(connections[1], noSource, isCachedLink, sizeOfCached);
              const throughRedis = await two.cache.lookup(key);
              expect(two.counts.hit.redis).toBe(1);
              const atTheSecond = two.cache.peek(key);
              for (const found of [inMemory, throughRedis, atTheSecond]) {
                expect({ version: found?.version, value: found?.value }).toEqual(wanted);
                expect(decisions(found?.value)).toEqual(decisions(value));
              }
              for (const [field, one] of Object.entries(value ?? {})) {
                seen.set(field, (seen.get(field) ?? new Set()).add(JSON.stringify(one)));
              }
            }),
            { numRuns: runs },
          );
          const dull = Object.keys(causes).filter((field) => (seen.get(field)?.size ?? 0) < 2);
          expect(dull).toEqual([]);
          expect([...seen.keys()].sort()).toEqual(Object.keys(causes).sort());
        },
        timeoutMs,
      );

      test(
        "is put together with its tenant, which is the same from SQL, in memory, through Redis and on a second server",
        async () => {
          const seen = new Map<string, Set<string>>();
          await fc.assert(
            fc.asyncProperty(anyTenant, async (tenant) => {
              const key = `/${await writeTenant(tenant)}`;
              const [wanted] = await loadTenants(sql)([key]);
              if (wanted === undefined || wanted instanceof Error) throw wanted;
              const fromSql: Source<TenantRecord> = { load: async () => wanted };
              const one = await openServer(connections[0], fromSql, isTenantRecord, sizeOfTenant);
              const first = await one.cache.lookup(key);
              await connections[0].send(`{${key}}`, ["EXISTS", `{${key}}`]);
              const two = await openServer(connections[1], noSource, isTenantRecord, sizeOfTenant);
              const throughRedis = await two.cache.lookup(key);
              expect(two.counts.hit.redis).toBe(1);
              for (const { version, value } of [first, throughRedis]) expect({ version, value }).toEqual(wanted);
              expect(wanted.value).toMatchObject({
                ...{ name: tenant.name, plan: tenant.plan, clickFacts: tenant.facts ?? true },
                ...{ suspended: tenant.suspended ?? null, deleteAt: tenant.isDeleted ? now : null },
              });
              for (const [field, one] of Object.entries(wanted.value ?? {})) {
                seen.set(field, (seen.get(field) ?? new Set()).add(JSON.stringify(one)));
              }
              // A tenant is no link, and is not taken for one.
              const asLink = await openServer(connections[1], noSource, isCachedLink, sizeOfCached);
              await expect(asLink.cache.lookup(key)).rejects.toThrow("SQL was asked");
            }),
            { numRuns: runs },
          );
          expect([...seen].filter(([, values]) => values.size < 2).map(([field]) => field)).toEqual([]);
        },
        timeoutMs,
      );
    });
  });
}
