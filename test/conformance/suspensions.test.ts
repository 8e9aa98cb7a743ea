import { beforeAll, describe, expect, test } from "bun:test";
import { applyBlocklist, isOutdated } from "../../src/abuse/apply-blocklist.ts";
import { type Blocklist, parseBlocklist } from "../../src/abuse/blocklist.ts";
import { createSuspensions, type Suspensions } from "../../src/abuse/suspensions.ts";
import { manualClock } from "../../src/base/clock.ts";
import { createPasswords } from "../../src/base/passwords.ts";
import { createCodes } from "../../src/codes/codes.ts";
import { createIssuer } from "../../src/codes/issuer.ts";
import { createDomainStore } from "../../src/domains/store.ts";
import { createLinks, type Links } from "../../src/links/links.ts";
import { createLinkStore, type LinkStore } from "../../src/links/store.ts";
import { takeCodeBlock } from "../../src/sql/code-counter.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { createTenants, type Tenant, type Tenants } from "../../src/tenants/tenants.ts";
import { byCommand, byKey } from "../ground/actors.ts";
import { linkStores } from "../ground/links.ts";
import { onEachDatabase } from "./databases.ts";

const yearMs = 366 * 86_400_000;
const why = { cause: "operator", reason: "phishing", by: { kind: "command", name: "night shift" } } as const;

onEachDatabase(({ open }) => {
  let sql: Sql;
  let store: LinkStore;
  let links: Links;
  let tenants: Tenants;
  let tenant: Tenant;
  let suspensions: Suspensions;
  let names = 0;
  const clock = manualClock(Date.UTC(2026, 10, 16));

  beforeAll(async () => {
    sql = await open();
    store = createLinkStore(sql);
    links = createLinks({
      ...linkStores(sql),
      store,
      issuer: createIssuer(createCodes("a salt for tests of suspensions"), (size) => takeCodeBlock(sql, size), 1_000),
      clock,
      ownHosts: new Set(),
      passwords: createPasswords(),
      defaultDays: 365,
      publish() {},
    });
    tenants = createTenants(sql, clock);
    tenant = await tenants.create("somebody", "Somebody", byCommand);
    suspensions = createSuspensions(sql, clock);
  });

  const make = (url = "https://example.com/", owner = tenant) =>
    links.create(owner, { url, code: `code-${++names}` }, byCommand);
  const target = (code: string) => store.target("", code);
  const changesOf = async (code: string) =>
    (await sql.db.selectFrom("changes").select("version").where("code", "=", code).orderBy("id").execute()).map(
      ({ version }) => version,
    );

  /** Of the domain itself, as the feed tells them. */
  const versionsOf = async (host: string) =>
    (
      await sql.db
        .selectFrom("changes")
        .select("version")
        .where("domain", "=", host)
        .where("code", "=", "")
        .orderBy("id")
        .execute()
    ).map(({ version }) => version);

  describe("a suspended link", () => {
    test("has a newer version that says so, in the feed too, and who did it when and why", async () => {
      const { code } = await make();
      expect(await suspensions.suspendLink({ domain: "", code }, why)).toBe(2);
      expect(await target(code)).toMatchObject({ version: 2, value: { suspended: true } });
      expect(await changesOf(code)).toEqual([1, 2]);
      expect(
        await sql.db.selectFrom("suspended_links").selectAll().where("code", "=", code).executeTakeFirst(),
      ).toMatchObject({
        cause: "operator",
        reason: "phishing",
        suspended_by: "night shift",
        suspended_at: clock.now(),
      });
    });

    test("is restored for its own cause only, and what was not suspended gets no new version", async () => {
      const { code } = await make();
      const place = { domain: "", code };
      await suspensions.suspendLink(place, why);
      expect(await suspensions.restoreLink(place, byCommand, "blocklist")).toBeUndefined();
      expect(await target(code)).toMatchObject({ version: 2, value: { suspended: true } });
      expect(await suspensions.restoreLink(place, byCommand, "operator")).toBe(3);
      expect(await suspensions.restoreLink(place, byCommand)).toBeUndefined();
      expect(await target(code)).toMatchObject({ version: 3, value: { suspended: false } });
    });

    test("stays suspended through an edit, and through being deleted and made again", async () => {
      const link = await make();
      const place = { domain: "", code: link.code };
      await suspensions.suspendLink(place, why);
      await links.patch(tenant, link.id, { url: "https://example.com/other", status: "active" }, byCommand);
      expect((await target(link.code)).value?.suspended).toBe(true);
      const { trash } = linkStores(sql);
      await links.remove(tenant.id, link.id, byCommand);
      await links.restore(tenant, link.id, byKey);
      expect((await target(link.code)).value?.suspended).toBe(true);
      await links.remove(tenant.id, link.id, byCommand);
      await trash.erase(tenant.id, link.id, byCommand, clock.now());
      await links.create(tenant, { url: "https://example.com/", code: link.code }, byKey);
      expect((await target(link.code)).value?.suspended).toBe(true);
      expect(await suspensions.ofLinks([place])).toEqual(new Map([[link.code, "phishing"]]));
    });

    test("leads on again after it was restored, as a newer version still", async () => {
      const { code, url } = await make();
      await suspensions.suspendLink({ domain: "", code }, why);
      expect(await suspensions.restoreLink({ domain: "", code }, byCommand)).toBe(3);
      const { version, value } = await target(code);
      expect({ version, url: value?.url, suspended: value?.suspended }).toEqual({
        version: 3,
        url,
        suspended: false,
      });
      expect(await suspensions.restoreLink({ domain: "", code }, byCommand)).toBeUndefined();
    });

    test("that never existed is not created", async () => {
      expect(await suspensions.suspendLink({ domain: "", code: "never-was" }, why)).toBeUndefined();
      expect(await suspensions.ofLinks([{ domain: "", code: "never-was" }])).toEqual(new Map());
    });

    test("leaves its code free of that once it is purged and free for anyone", async () => {
      const link = await links.create(
        tenant,
        { url: "https://example.com/", code: "old-one", expiresAt: clock.now() + 1 },
        byCommand,
      );
      await suspensions.suspendLink({ domain: "", code: link.code }, why);
      await store.purge(clock.now() + yearMs, 100, clock.now());
      expect(await suspensions.ofLinks([{ domain: "", code: link.code }])).toEqual(new Map());
    });
  });

  describe("a suspended tenant", () => {
    test("says so, and leaves the versions of its links as they were", async () => {
      const other = await tenants.create("other", "Other", byCommand);
      const { code } = await make("https://example.com/", other);
      await suspensions.suspendTenant(other.id, "spam", byCommand);
      expect((await tenants.byId(other.id))?.suspended).toBe("spam");
      expect(await target(code)).toMatchObject({ version: 1, value: { suspended: false } });
      expect(await changesOf(code)).toEqual([1]);
      expect(await suspensions.restoreTenant(other.id, byCommand)).toBe(true);
      expect(await suspensions.restoreTenant(other.id, byCommand)).toBe(false);
    });
  });

  test("the targets of a suspended tenant's domains are not used, and the feed says so", async () => {
    const owner = await tenants.create("owner", "Owner", byCommand);
    const domains = createDomainStore(sql);
    const host = "owned.example.com";
    await domains.add(
      {
        ...{ tenantId: owner.id, host, state: "pending", token: host, isDefault: false },
        ...{ rootUrl: "https://elsewhere.example/", missingUrl: null, rootBlocked: false, missingBlocked: false },
        ...{ createdAt: 0, verifiedAt: null },
      },
      100,
      byCommand,
    );
    await domains.verify(owner.id, host, byCommand, clock.now());
    expect(await versionsOf(host)).toEqual([1]);
    for (const [version, work, rootUrl] of [
      [2, () => suspensions.suspendTenant(owner.id, "phishing", byCommand), null],
      [3, () => suspensions.restoreTenant(owner.id, byCommand), "https://elsewhere.example/"],
    ] as const) {
      await work();
      expect((await versionsOf(host)).at(-1)).toBe(version);
      expect((await domains.verified(host)).map((one) => one.rootUrl)).toEqual([rootUrl]);
    }
  });

  describe("a blocklist that changes", () => {
    test("stops what leads to its hosts, frees what no longer does, and leaves alone what the operator stopped", async () => {
      const evil = await make("https://www.evil.example/");
      const falls = await links.create(
        tenant,
        { url: "https://fine.example/", fallbackUrl: "https://evil.example/", code: `code-${++names}` },
        byCommand,
      );
      const ruled = await links.create(
        tenant,
        {
          url: "https://else.example/",
          rules: [{ when: { device: ["mobile"] }, url: "https://m.evil.example/" }],
          code: `code-${++names}`,
        },
        byCommand,
      );
      const fine = await make("https://fine.example/");
      const mine = await make("https://evil.example/");
      await suspensions.suspendLink({ domain: "", code: mine.code }, why);
      let hosts = parseBlocklist("evil.example").hosts;
      const blocklist: Blocklist = { isBlocked: (host) => hosts.has(host), fingerprint: () => hosts.fingerprint };
      const parts = { sql, suspensions, blocklist, clock };
      const suspended = async () =>
        (await Promise.all([evil, falls, ruled, fine, mine].map(({ code }) => target(code)))).map(
          ({ value }) => value?.suspended,
        );

      expect(await isOutdated(parts)).toBe(true);
      expect(await applyBlocklist(parts)).toMatchObject({ suspended: 3, freed: 0 });
      expect(await suspended()).toEqual([true, true, true, false, true]);
      expect(await isOutdated(parts)).toBe(false);
      expect(await suspensions.ofLinks([evil])).toEqual(new Map([[evil.code, "www.evil.example is on the blocklist"]]));

      hosts = parseBlocklist("fine.example").hosts;
      expect(await isOutdated(parts)).toBe(true);
      expect(await applyBlocklist(parts)).toMatchObject({ suspended: 1, freed: 2 });
      expect(await suspended()).toEqual([false, true, false, true, true]);

      hosts = parseBlocklist("").hosts;
      expect(await applyBlocklist(parts)).toMatchObject({ suspended: 0, freed: 2 });
      expect(await suspended()).toEqual([false, false, false, false, true]);
    });

    test("goes over all links, however many pages they are", async () => {
      const many = await tenants.create("many", "Many", byCommand);
      const made = await links.createMany(
        many,
        Array.from({ length: 1_203 }, (_, i) => ({
          url: i % 400 === 0 ? "https://bad.example/" : "https://good.example/",
        })),
        byCommand,
      );
      const { hosts } = parseBlocklist("bad.example");
      const blocklist: Blocklist = { isBlocked: (host) => hosts.has(host), fingerprint: () => hosts.fingerprint };
      const applied = await applyBlocklist({ sql, suspensions, blocklist, clock });
      expect(applied.suspended).toBe(4);
      expect(applied.looked).toBeGreaterThanOrEqual(made.length);
    });

    test("keeps the targets of custom domains from being used, one by one, and lets them be used again", async () => {
      const domains = createDomainStore(sql);
      const [host, claimed] = ["links.example.com", "claimed.example.com"];
      for (const one of [host, claimed]) {
        await domains.add(
          {
            ...{ tenantId: tenant.id, host: one, state: "pending", token: one, isDefault: false },
            ...{ rootUrl: "https://www.evil.example/", missingUrl: "https://fine.example/" },
            ...{ rootBlocked: false, missingBlocked: false, createdAt: 0, verifiedAt: null },
          },
          100,
          byCommand,
        );
      }
      await domains.verify(tenant.id, host, byCommand, clock.now());
      const served = async () => {
        const [found] = await domains.verified(host);
        return [found?.rootUrl, found?.missingUrl];
      };
      const told = async (work: () => Promise<unknown>) => {
        const before = await versionsOf(host);
        await work();
        return (await versionsOf(host)).length - before.length;
      };
      let hosts = parseBlocklist("evil.example").hosts;
      const blocklist: Blocklist = { isBlocked: (one) => hosts.has(one), fingerprint: () => hosts.fingerprint };
      const apply = () => applyBlocklist({ sql, suspensions, blocklist, clock });

      expect(await told(apply)).toBe(1);
      expect(await served()).toEqual([null, "https://fine.example/"]);
      // What its owner set is kept, and shown as blocked.
      expect(await domains.get(tenant.id, host)).toMatchObject({
        ...{ rootUrl: "https://www.evil.example/", rootBlocked: true, missingBlocked: false },
      });
      expect(await domains.get(tenant.id, claimed)).toMatchObject({ rootBlocked: true });

      hosts = parseBlocklist("evil.example\nfine.example").hosts;
      expect(await told(apply)).toBe(1);
      expect(await served()).toEqual([null, null]);
      // A target that is changed was looked at by then.
      await domains.change(tenant.id, host, { rootUrl: "https://other.example/" }, byCommand, clock.now());
      expect(await served()).toEqual(["https://other.example/", null]);
      expect(await told(apply)).toBe(0);

      hosts = parseBlocklist("else.example").hosts;
      expect(await told(apply)).toBe(1);
      expect(await served()).toEqual(["https://other.example/", "https://fine.example/"]);
      expect(await told(apply)).toBe(0);
    });

    test("that was never read changes nothing", async () => {
      const blocklist: Blocklist = { isBlocked: () => false, fingerprint: () => undefined };
      expect(await isOutdated({ sql, blocklist })).toBe(false);
      expect(await applyBlocklist({ sql, suspensions, blocklist, clock })).toEqual({
        ...{ looked: 0, suspended: 0, freed: 0, domains: 0 },
      });
    });
  });
});
