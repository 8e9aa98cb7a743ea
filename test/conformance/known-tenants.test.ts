/** What servers keep of tenants, plans and API keys: every change is seen by all of them, with one row in the feed. */
import { beforeAll, describe, expect, test } from "bun:test";
import { createSuspensions } from "../../src/abuse/suspensions.ts";
import { dayMs } from "../../src/base/clock.ts";
import type { PersonId, TenantId } from "../../src/base/ids.ts";
import { createCache, type Source } from "../../src/cache/cache.ts";
import type { Change } from "../../src/cache/feed.ts";
import type { LoadMany } from "../../src/cache/gathered-source.ts";
import { uncounted } from "../../src/cache/hit-counts.ts";
import { createClickSettings } from "../../src/clicks/settings.ts";
import { createDomainStore } from "../../src/domains/store.ts";
import { createAccountData } from "../../src/people/account-data.ts";
import { createMembers } from "../../src/people/workspaces/members.ts";
import { createWorkspaces } from "../../src/people/workspaces/workspaces.ts";
import { createFeed, type FeedPosition } from "../../src/sql/feed.ts";
import type { TenantNumber } from "../../src/sql/schema.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { acrossTenants, ofTenant } from "../../src/sql/tenant-db.ts";
import { type ApiKey, createKeys, type KeyHash, keySource, sizeOfKey } from "../../src/tenants/keys.ts";
import {
  createKnownTenants,
  loadPlans,
  loadTenants,
  sizeOfPlan,
  sizeOfTenant,
  type TenantKey,
} from "../../src/tenants/known-tenants.ts";
import { tenantNumberOf } from "../../src/tenants/tenant-number.ts";
import {
  createTenants,
  defaultLimits,
  type Limits,
  type Tenant,
  type TenantRecord,
} from "../../src/tenants/tenants.ts";
import { byCommand } from "../ground/actors.ts";
import { nameOf } from "../ground/changes.ts";
import { onEachDatabase } from "./databases.ts";
import { by, clock, newMember, newWorkspace, touchOf } from "./people.ts";
import { twin } from "./two-tenants.ts";

const team = "team";
const wait = { redis: 5_000, sql: 5_000 };
const cached = { clock, counts: uncounted(), wait, sizeBytes: 1_000_000 };
const trustedMs = 30_000;
const roomForOne = 2_000;

/** A server that has no Redis, and reads the feed when it is told to. */
async function openServer(sql: Sql, onLoad: () => Promise<void> = async () => {}, sizeBytes = cached.sizeBytes) {
  let isAway = false;
  const each = <Value>(load: LoadMany<Value>, after = async () => {}): Source<Value> => ({
    async load(key) {
      if (isAway) throw new Error("away");
      const [answer = new Error("no answer")] = await load([key]);
      await after();
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  const source = each(loadTenants(sql), onLoad);
  const tenants = createTenants(sql, clock);
  const known = createKnownTenants({
    tenants: createCache<TenantRecord, TenantKey>({ ...cached, sizeBytes, source, sizeOf: sizeOfTenant }),
    plans: createCache<Limits>({ ...cached, source: each(loadPlans(sql)), sizeOf: sizeOfPlan }),
    ...{ sql, read: tenants.byId },
  });
  const knownKeys = createCache<ApiKey, KeyHash>({
    ...{ ...cached, source: keySource(sql), sizeOf: sizeOfKey, staleMs: 0 },
  });
  const feed = createFeed(sql);
  let position: FeedPosition = await feed.end();
  // Test files share the PostgreSQL, and what transactions of others hold back is read again: it is no news.
  const seen = new Set<string>();
  const isNews = (change: Change): boolean => {
    const domain = "domain" in change ? change.domain : "";
    const name = `${change.kind} ${domain} ${nameOf(change)} ${change.version}`;
    const isKnown = seen.has(name);
    seen.add(name);
    return !isKnown;
  };
  for (const change of (await feed.after(position, 1_000)).changes) isNews(change);
  return {
    known,
    keys: createKeys({ sql, clock, known: knownKeys }),
    /** The database of lookups and of the feed does not answer; the primary does. */
    setAway(away: boolean): void {
      isAway = away;
    },
    /** Reads the feed to its end, and returns what is new in it. */
    async follow(): Promise<Change[]> {
      const { changes, next } = await feed.after(position, 1_000);
      for (const change of changes) {
        known.announce(change);
        if (change.kind === "key") knownKeys.announce(change.key as KeyHash, change.version);
      }
      position = next;
      known.followed(clock.elapsed());
      knownKeys.followed(clock.elapsed());
      return changes.filter(isNews).map(({ at: _, ...change }) => change);
    },
  };
}

type Server = Awaited<ReturnType<typeof openServer>>;

onEachDatabase(({ openTwo }) => {
  let [sql, other]: readonly [Sql, Sql] = [undefined, undefined] as never;
  let hosts = 0;

  beforeAll(async () => {
    [sql, other] = await openTwo();
    await createTenants(sql, clock).setPlan(team, { ...defaultLimits, hitsPerLinkPerMonth: 70 }, byCommand);
  });

  const tenantsOf = () => createTenants(sql, clock);
  const whole = async (id: TenantId): Promise<Tenant> => (await tenantsOf().byId(id)) as Tenant;
  const changePlan = (hitsPerLinkPerMonth: number, apiPerMinute = 600) =>
    tenantsOf().setPlan(team, { ...defaultLimits, hitsPerLinkPerMonth, apiPerMinute }, byCommand);
  const slugOf = async (id: TenantId) => (await whole(id)).slug;
  const owned = (tenant: TenantId) => newMember(sql, tenant, "owner");
  const workspaces = () => createWorkspaces({ sql, clock, sessions: touchOf(sql), publish() {} });
  const right = (id: PersonId) => ({ actor: by(id), isOperator: false });

  async function withDomain(tenant: TenantId): Promise<string> {
    const host = `known-${++hosts}.example.com`;
    const domains = createDomainStore(sql);
    const never = { rootUrl: null, missingUrl: null, rootBlocked: false, missingBlocked: false, verifiedAt: null };
    const domain = { tenantId: tenant, host, state: "pending", token: "t", isDefault: false, createdAt: 1, ...never };
    await domains.add(domain as Parameters<typeof domains.add>[0], 100, byCommand);
    await domains.verify(tenant, host, byCommand, clock.now());
    return host;
  }

  /** What a server answers about a tenant: to its links, and to its API calls. */
  async function seenBy({ known }: Server, tenant: TenantId) {
    const number = await tenantNumberOf(sql.db, tenant);
    const { isStopped, hitsPerLink, facts } = known.peek(number) ?? (await known.lookup(number));
    const { name, slug, plan, suspended, defaultDomain, limits, deleteAt } = (await known.byId(tenant)) as Tenant;
    return {
      ...{ isStopped, hitsPerLink, facts, name, slug, plan, suspended, defaultDomain, calls: limits.apiPerMinute },
      isDeleted: deleteAt !== null,
    };
  }

  const changes: readonly [string, (tenant: TenantId) => Promise<unknown>, object, ("tenant" | "plan")?][] = [
    ["a plan that changes", () => changePlan(7, 5), { hitsPerLink: 7, calls: 5 }, "plan"],
    [
      "another plan",
      async (tenant) => tenantsOf().change(await slugOf(tenant), { plan: "unlimited" }, byCommand),
      { plan: "unlimited", hitsPerLink: null, calls: null },
    ],
    [
      "a limit of its own",
      async (tenant) =>
        tenantsOf().change(await slugOf(tenant), { overrides: { hitsPerLinkPerMonth: 3, apiPerMinute: 9 } }, byCommand),
      { hitsPerLink: 3, calls: 9 },
    ],
    [
      "another name, by the operator",
      async (tenant) => tenantsOf().change(await slugOf(tenant), { name: "Another" }, byCommand),
      { name: "Another" },
    ],
    [
      "another name and slug, by its people",
      (tenant) => workspaces().change(tenant, byCommand, { name: "Third", slug: `third-${++hosts}` }),
      { name: "Third", slug: expect.stringContaining("third-") as never },
    ],
    [
      "a suspension",
      (tenant) => createSuspensions(sql, clock).suspendTenant(tenant, "spam", byCommand),
      { isStopped: true, suspended: "spam" },
    ],
    [
      "a deletion",
      async (tenant) => workspaces().remove(tenant, right(await owned(tenant))),
      { isStopped: true, isDeleted: true },
    ],
    [
      "clicks without facts",
      async (tenant) => createClickSettings(sql, clock).change(await whole(tenant), { facts: false }, byCommand),
      { facts: false },
    ],
    [
      "a default domain",
      async (tenant) =>
        createDomainStore(sql).change(tenant, await withDomain(tenant), { isDefault: true }, byCommand, clock.now()),
      { defaultDomain: expect.stringContaining("known-") as never },
    ],
  ];

  describe("a tenant that gets", () => {
    test.each(changes)(
      "%s has it on every server once its row of the feed is read",
      async (_, change, after, kind = "tenant") => {
        await changePlan(70);
        const [tenant, bystander] = [await newWorkspace(sql), await newWorkspace(sql)];
        await tenantsOf().change(await slugOf(tenant), { plan: team }, byCommand);
        const servers = [await openServer(sql), await openServer(other)];
        for (const server of servers) await server.follow();
        const [before] = await Promise.all(servers.map((server) => seenBy(server, tenant)));
        const unchanged = await seenBy(servers[0] as Server, bystander);
        expect(before).not.toMatchObject(after);

        await change(tenant);
        for (const server of servers) {
          expect<unknown>(await seenBy(server, tenant)).toEqual(before); // nothing was read yet
          const told = (await server.follow()).filter((one) => one.kind === "tenant" || one.kind === "plan");
          expect(told.map((one) => one.kind)).toEqual([kind]);
          expect<unknown>(await seenBy(server, tenant)).toEqual({ ...before, ...after });
          expect(await seenBy(server, bystander)).toEqual(unchanged);
        }
      },
    );

    test("a suspension, a deletion or a default domain back has that, too", async () => {
      const tenant = await newWorkspace(sql);
      const owner = await owned(tenant);
      const host = await withDomain(tenant);
      const domains = createDomainStore(sql);
      const server = await openServer(other);
      await server.follow();
      const before = await seenBy(server, tenant);
      const undone: readonly [() => Promise<unknown>, () => Promise<unknown>][] = [
        [
          () => createSuspensions(sql, clock).suspendTenant(tenant, "spam", byCommand),
          () => createSuspensions(sql, clock).restoreTenant(tenant, byCommand),
        ],
        [() => workspaces().remove(tenant, right(owner)), () => workspaces().restore(tenant, right(owner))],
        [
          () => domains.change(tenant, host, { isDefault: true }, byCommand, clock.now()),
          () => domains.remove(tenant, host, byCommand, clock.now()),
        ],
      ];
      for (const [change, undo] of undone) {
        await change();
        await server.follow();
        expect(await seenBy(server, tenant)).not.toEqual(before);
        await undo();
        await server.follow();
        expect(await seenBy(server, tenant)).toEqual(before);
      }
    });

    test("nothing new leaves no row in the feed: a restored tenant that was not suspended, facts that were on", async () => {
      const tenant = await newWorkspace(sql);
      const server = await openServer(sql);
      expect(await createSuspensions(sql, clock).restoreTenant(tenant, byCommand)).toBe(false);
      await createClickSettings(sql, clock).change(await whole(tenant), { facts: true, eventDays: 3 }, byCommand);
      expect(await server.follow()).toEqual([]);
    });
  });

  test("a change of a plan is one row of the feed, however many tenants have it, and touches no link", async () => {
    const tenants = [await newWorkspace(sql), await newWorkspace(sql), await newWorkspace(sql)];
    for (const id of tenants) await tenantsOf().change(await slugOf(id), { plan: team }, byCommand);
    const server = await openServer(other);
    await changePlan(4);
    expect((await server.follow()).map(({ kind }) => kind)).toEqual(["plan"]);
    for (const id of tenants) expect(await seenBy(server, id)).toMatchObject({ hitsPerLink: 4 });
  });

  test("a tenant that is being read while it changes is read again", async () => {
    const tenant = await newWorkspace(sql);
    const number = await tenantNumberOf(sql.db, tenant);
    let loads = 0;
    const server = await openServer(other, async () => {
      if (loads++ > 0) return;
      await createSuspensions(sql, clock).suspendTenant(tenant, "spam", byCommand);
      await server.follow();
    });
    expect((await server.known.lookup(number)).isStopped).toBe(true);
    expect(loads).toBe(2);
  });

  test("what was resolved before news is not current after them, and what nobody changed is found in memory", async () => {
    const [tenant, bystander] = [await newWorkspace(sql), await newWorkspace(sql)];
    const { known, follow } = await openServer(sql);
    await follow();
    const numbers = [await tenantNumberOf(sql.db, tenant), await tenantNumberOf(sql.db, bystander)] as const;
    const [one, two] = [await known.lookup(numbers[0]), await known.lookup(numbers[1])];
    expect([one.generation, two.generation]).toEqual([known.generation, known.generation]);
    await follow();
    expect(one.generation).toBe(known.generation);
    await createSuspensions(sql, clock).suspendTenant(tenant, "spam", byCommand);
    await follow();
    expect(one.generation).toBeLessThan(known.generation);
    expect(known.peek(numbers[0])).toBeUndefined();
    expect(known.peek(numbers[1])).toBe(two);
    expect(two.generation).toBe(known.generation);
    expect((await known.lookup(numbers[0])).isStopped).toBe(true);

    await tenantsOf().change(await slugOf(bystander), { plan: team }, byCommand);
    await follow();
    const third = await known.lookup(numbers[1]);
    expect(third.generation).toBe(known.generation);
    await changePlan(5);
    await follow();
    expect(third.generation).toBeLessThan(known.generation);
  });

  test("a server that does not hear of the feed trusts a tenant and a plan for one second, and then knows what was last known", async () => {
    const tenant = await newWorkspace(sql);
    await tenantsOf().change(await slugOf(tenant), { plan: team }, byCommand);
    const number = await tenantNumberOf(sql.db, tenant);
    const { known, follow } = await openServer(sql);
    await follow();
    await known.lookup(number);
    clock.advance(1_499);
    expect(known.peek(number)).toBeDefined();
    clock.advance(1);
    expect(known.peek(number)).toBeUndefined();
    await known.lookup(number);
    clock.advance(999);
    expect(known.peek(number)).toBeDefined();
    clock.advance(1);
    expect(known.peek(number)).toBeUndefined();
    await follow();
    expect(known.peek(number)).toBeDefined();
    clock.advance(trustedMs);
    await follow();
    expect(known.peek(number)).toBeUndefined();
    expect(known.recall(number)).toMatchObject({ isStopped: false, generation: known.generation });
    await createSuspensions(sql, clock).suspendTenant(tenant, "spam", byCommand);
    expect(known.recall(number)?.isStopped).toBe(false);
    await follow();
    expect(known.recall(number)).toBeUndefined(); // it is known to be outdated
  });

  test("a tenant that does not exist is not remembered: a replica may not have it yet", async () => {
    const number = (await tenantNumberOf(sql.db, await newWorkspace(sql))) as number;
    const next = (number - 1) as TenantNumber;
    const server = await openServer(sql);
    await server.follow();
    await expect(server.known.lookup(next)).rejects.toThrow("no tenant");
    const late = await newWorkspace(sql);
    expect(await tenantNumberOf(sql.db, late)).toBe(next);
    expect((await server.known.lookup(next)).isStopped).toBe(false);
    expect(await server.known.byId("ten_none" as TenantId)).toBeUndefined();
  });

  test("news are news although the tenant was read before them, and is no longer kept when they come", async () => {
    const [tenant, another] = [await newWorkspace(sql), await newWorkspace(sql)];
    const [number, next] = [await tenantNumberOf(sql.db, tenant), await tenantNumberOf(sql.db, another)];
    const { known, follow } = await openServer(sql, async () => {}, roomForOne);
    await follow();
    const ofItsLinks = await known.lookup(number);
    await known.lookup(next);
    await createSuspensions(sql, clock).suspendTenant(tenant, "spam", byCommand);
    expect((await known.lookup(number)).isStopped).toBe(true); // a link that is visited before the feed is read
    await known.lookup(next);
    await follow();
    expect(ofItsLinks.isStopped).toBe(false);
    expect(ofItsLinks.generation).toBeLessThan(known.generation);
    const { generation } = known;
    known.announce({ kind: "tenant", key: String(number), version: 1 }); // said again, as long as a transaction is open
    expect(known.generation).toBe(generation);
  });

  test("a call is judged by the primary while the replica does not answer, and not by what was last known", async () => {
    const [tenant, other] = [await newWorkspace(sql), await newWorkspace(sql)];
    for (const id of [tenant, other]) await tenantsOf().change(await slugOf(id), { plan: team }, byCommand);
    await changePlan(70, 600);
    const { known, follow, setAway } = await openServer(sql);
    await follow();
    for (const id of [tenant, other]) expect(await known.byId(id)).toMatchObject({ suspended: null });
    setAway(true);
    await createSuspensions(sql, clock).suspendTenant(tenant, "spam", byCommand);
    await changePlan(70, 5);
    clock.advance(3_000);
    expect(await known.byId(tenant)).toMatchObject({ suspended: "spam" });
    expect((await known.byId(other))?.limits.apiPerMinute).toBe(5);
    const number = await tenantNumberOf(sql.db, tenant);
    expect((await known.lookup(number)).isStopped).toBe(false); // a link answers as it was last known
    setAway(false);
    expect(await known.byId(tenant)).toMatchObject({ suspended: "spam" });
  });

  test("a call never gets the tenant that a Redis of another database has under its number", async () => {
    const [tenant, foreign] = [await newWorkspace(sql), await newWorkspace(sql)];
    const [answer] = await loadTenants(sql)([`/${await tenantNumberOf(sql.db, foreign)}` as TenantKey]);
    if (answer === undefined || answer instanceof Error) throw new Error("no tenant");
    const known = createKnownTenants({
      tenants: createCache<TenantRecord, TenantKey>({
        ...{ ...cached, source: { load: async () => answer }, sizeOf: sizeOfTenant },
      }),
      plans: createCache<Limits>({
        ...cached,
        source: { load: async () => ({ version: 0, value: undefined }) },
        sizeOf: sizeOfPlan,
      }),
      ...{ sql, read: createTenants(sql, clock).byId },
    });
    expect((await known.byId(tenant))?.id).toBe(tenant);
  });

  test("a tenant or plan that cannot be read fails alone, and not those that are looked up with it", async () => {
    const ids = [await newWorkspace(sql), await newWorkspace(sql), await newWorkspace(sql)] as const;
    const numbers = await Promise.all(ids.map((id) => tenantNumberOf(sql.db, id)));
    await sql.db.updateTable("tenants").set({ limits: "{" }).where("id", "=", ids[1]).execute();
    await sql.db.insertInto("plans").values({ name: "damaged", limits: "{}", created_at: 1 }).execute();
    const kindOf = (answer: object) => (answer instanceof Error ? "error" : "read");
    const tenants = await loadTenants(sql)(numbers.map((number) => `/${number}`));
    expect(tenants.map(kindOf)).toEqual(["read", "error", "read"]);
    const plans = await loadPlans(sql)([team, "damaged", "none"]);
    expect(plans.map(kindOf)).toEqual(["read", "error", "read"]);
    await sql.db.updateTable("tenants").set({ limits: "{}" }).where("id", "=", ids[1]).execute();
    await sql.db.deleteFrom("plans").where("name", "=", "damaged").execute();
  });

  describe("an API key that is kept", () => {
    const accounts = () => createAccountData({ sql, clock, sessions: touchOf(sql) });
    const members = () => createMembers({ sql, clock, sessions: touchOf(sql) });

    async function newKey(more: { createdBy?: PersonId; expiresAt?: number } = {}) {
      const tenant = await newWorkspace(sql);
      const about = { name: "a key", scopes: ["admin"] as const, ...more };
      return { tenant, ...(await createKeys({ sql, clock }).create(tenant, about, byCommand)) };
    }

    const ends: readonly [string, (made: Awaited<ReturnType<typeof newKey>>, person: PersonId) => Promise<unknown>][] =
      [
        ["is revoked", ({ tenant, key }) => createKeys({ sql, clock }).revoke(tenant, key.id, byCommand)],
        ["is revoked with its creator", ({ tenant }, person) => members().remove(tenant, byCommand, person, "revoke")],
        ["is revoked with its creator's account", (_, person) => accounts().erase(person, "revoke")],
      ];

    test.each(ends)("and %s is refused once the feed is read", async (_, end) => {
      const { id: person } = { id: await newMember(sql, await newWorkspace(sql), "member") };
      const made = await newKey({ createdBy: person });
      await newMember(sql, made.tenant, "owner");
      await ofTenant(sql.db, made.tenant)
        .insertInto("members")
        .values({ person_id: person, role: "member", created_at: clock.now() })
        .execute();
      const { key: bystander, secret } = await newKey();
      const servers = [await openServer(sql), await openServer(other)];
      for (const server of servers) {
        await server.follow();
        expect((await server.keys.authenticate(made.secret))?.id).toBe(made.key.id);
        expect((await server.keys.authenticate(secret))?.id).toBe(bystander.id);
      }
      await end(made, person);
      for (const server of servers) {
        await server.follow();
        expect(await server.keys.authenticate(made.secret)).toBeUndefined();
        expect((await server.keys.authenticate(secret))?.id).toBe(bystander.id);
      }
    });

    test("loses its creator with the account, and works on", async () => {
      const person = await newMember(sql, await newWorkspace(sql), "member");
      const { secret } = await newKey({ createdBy: person });
      const server = await openServer(other);
      await server.follow();
      expect((await server.keys.authenticate(secret))?.createdBy).toBe(person);
      await accounts().erase(person, "keep");
      await server.follow();
      expect(await server.keys.authenticate(secret)).toMatchObject({ createdBy: null });
    });

    test("ends by the clock, without a word of the feed", async () => {
      const expiresAt = clock.now() + dayMs;
      const { secret } = await newKey({ expiresAt });
      const server = await openServer(sql);
      await server.follow();
      expect(await server.keys.authenticate(secret)).toBeDefined();
      clock.advance(expiresAt - clock.now() - 1);
      await server.follow();
      expect(await server.keys.authenticate(secret)).toBeDefined();
      clock.advance(1);
      await server.follow();
      expect(await server.keys.authenticate(secret)).toBeUndefined();
    });

    test("lets nobody in when the database cannot say whether it still works", async () => {
      const { secret } = await newKey();
      const server = await openServer(sql);
      await server.follow();
      const knownKeys = createCache<ApiKey, KeyHash>({
        ...{ ...cached, sizeOf: sizeOfKey, staleMs: 0 },
        source: { load: (hash) => (isAway ? Promise.reject(new Error("away")) : keySource(sql).load(hash, 0)) },
      });
      let isAway = false;
      const keys = createKeys({ sql, clock, known: knownKeys });
      expect(await keys.authenticate(secret)).toBeDefined();
      isAway = true;
      clock.advance(999);
      expect(await keys.authenticate(secret)).toBeDefined();
      clock.advance(1);
      await expect(keys.authenticate(secret)).rejects.toThrow("away");
    });

    test("is not the twin's, which has the same name", async () => {
      const { key } = await newKey();
      const rows = await acrossTenants(sql.db)
        .selectFrom("api_keys")
        .select("tenant_id")
        .where("hint", "=", key.hint)
        .execute();
      expect(rows.map((row) => row.tenant_id).sort()).toContain(twin);
      expect(await createKeys({ sql, clock }).revoke(twin, key.id, byCommand)).toBe(false);
    });
  });
});
