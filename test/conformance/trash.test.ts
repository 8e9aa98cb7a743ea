import { beforeAll, describe, expect, test } from "bun:test";
import { dayMs, manualClock } from "../../src/base/clock.ts";
import { Problem } from "../../src/base/errors.ts";
import { newId } from "../../src/base/ids.ts";
import { purgeRollups } from "../../src/clicks/rollups/purge-rollups.ts";
import { createDomainStore } from "../../src/domains/store.ts";
import { createFileStore } from "../../src/files/store.ts";
import { createHealthStore } from "../../src/link-health/store.ts";
import type { Links } from "../../src/links/links.ts";
import type { LinkStore } from "../../src/links/store.ts";
import { type TrashStore, trashDays } from "../../src/links/trash/trash-store.ts";
import type { LinkNumber } from "../../src/sql/schema.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { acrossTenants, ofTenant } from "../../src/sql/tenant-db.ts";
import type { Tenant } from "../../src/tenants/tenants.ts";
import { byCommand, byKey } from "../ground/actors.ts";
import { onEachDatabase } from "./databases.ts";
import { type LinkWorld, openLinkWorld } from "./link-world.ts";

const url = "https://example.com/";

async function problemOf(work: Promise<unknown>): Promise<Problem> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof Problem) return error;
  throw new Error(`not a Problem: ${error}`);
}

onEachDatabase(({ openTwo }) => {
  const clock = manualClock(Date.UTC(2026, 10, 17));
  let sql: Sql;
  let store: LinkStore;
  let trash: TrashStore;
  let links: Links;
  let elsewhere: Links;
  let blocked: Set<string>;
  let newTenant: LinkWorld["newTenant"];
  let tenant: Tenant;
  let stranger: Tenant;
  let names = 0;
  const fresh = (label: string) => `${label}-${++names}`;

  beforeAll(async () => {
    ({ sql, store, trash, links, elsewhere, blocked, newTenant } = openLinkWorld(await openTwo(), clock));
    tenant = await newTenant();
    stranger = await newTenant();
  });

  async function addDomain(owner: Tenant, host: string): Promise<void> {
    const domain = { isDefault: false, rootUrl: null, missingUrl: null, rootBlocked: false, missingBlocked: false };
    const times = { createdAt: clock.now(), verifiedAt: null };
    const domains = createDomainStore(sql);
    await domains.add({ ...domain, ...times, tenantId: owner.id, host, state: "pending", token: "t" }, 9, byCommand);
    await domains.verify(owner.id, host, byCommand, clock.now());
  }

  const rowOf = (id: string) =>
    ofTenant(sql.db, tenant.id)
      .selectFrom("links")
      .selectAll()
      .where("id", "=", id as never)
      .executeTakeFirst();

  describe("a deleted link", () => {
    test("comes back with everything it had: its number, password and maker too", async () => {
      const input = {
        ...{ url, title: "T", notes: "N", tags: ["a"], permanent: true, hitsPerMonth: 7, forwardQuery: true },
        ...{ fallbackUrl: "https://example.org/", utm: { source: "mail" }, clickFacts: false, password: "a password" },
        split: [
          { url: "https://example.com/1", weight: 1 },
          { url: "https://example.com/2", weight: 2 },
        ],
      };
      const made = await links.create(tenant, input, byKey);
      const before = await rowOf(made.id);
      await links.remove(tenant.id, made.id, byKey);
      expect(await rowOf(made.id)).toBeUndefined();
      clock.advance(1_000);
      const restored = await links.restore(tenant, made.id, byCommand);
      expect(restored).toEqual({ ...made, version: 3, updatedAt: clock.now() });
      expect(await rowOf(made.id)).toEqual({ ...before, updated_at: clock.now() } as never);
      expect(await links.get(tenant.id, made.id)).toEqual(restored);
      expect(await store.target("", made.code)).toMatchObject({ version: 3, value: { url: expect.any(String) } });
      expect(await trash.get(tenant.id, made.id)).toBeUndefined();
    });

    test("is seen by nothing but the trash", async () => {
      const owner = await newTenant();
      const { id, code } = await links.create(owner, { url, title: "hidden" }, byKey);
      await links.remove(owner.id, id, byKey);
      expect(await store.get(owner.id, id)).toBeUndefined();
      expect(await store.byCode(owner.id, "", code)).toBeUndefined();
      expect(await store.list(owner.id, 10)).toEqual([]);
      expect(await store.listUp(owner.id, 10)).toEqual([]);
      expect(await store.find(owner.id, { limit: 10, sort: "code", order: "asc", search: "hidden" })).toEqual([]);
      expect(await store.byIds(owner.id, [id])).toEqual(new Map());
      expect(await store.target("", code)).toEqual({ version: 2, value: undefined });
      expect(await trash.list(owner.id, 10)).toMatchObject([{ id, link: { code, version: 2, title: "hidden" } }]);
    });

    test("keeps its code, and only its workspace is told where the code is", async () => {
      const code = fresh("kept");
      const { id } = await links.create(tenant, { url, code }, byKey);
      await links.remove(tenant.id, id, byKey);
      const mine = await problemOf(links.create(tenant, { url, code }, byKey));
      expect(mine).toMatchObject({ code: "code_taken", more: { trashedLink: id, errors: [{ code: "in_trash" }] } });
      expect(mine.detail).toContain(`POST /api/trash/${id}/restore`);
      const theirs = await problemOf(links.create(stranger, { url, code }, byKey));
      expect(theirs.code).toBe("code_taken");
      expect(JSON.stringify([theirs.detail, theirs.more])).not.toContain(id);
      for (const atomic of [false, true]) {
        const [result] = await links.createMany(tenant, [{ url, code }], byKey, atomic);
        expect(result).toMatchObject({ problem: { code: "code_taken", more: { trashedLink: id } } });
      }
    });

    test("of another tenant cannot be seen, restored or deleted for good", async () => {
      const { id, code } = await links.create(tenant, { url }, byKey);
      await links.remove(tenant.id, id, byKey);
      expect(await trash.get(stranger.id, id)).toBeUndefined();
      expect(await trash.byCode(stranger.id, "", code)).toBeUndefined();
      expect(await trash.list(stranger.id, 100)).toEqual([]);
      expect((await problemOf(links.restore(stranger, id, byKey))).code).toBe("not_found");
      expect(await trash.erase(stranger.id, id, byKey, clock.now())).toBe(false);
      expect(await trash.eraseSome(stranger.id, 100, byKey, clock.now())).toBe(0);
      expect(await trash.get(tenant.id, id)).toMatchObject({ id });
    });

    test("is listed with those deleted last in front, page by page", async () => {
      const owner = await newTenant();
      const ids = [];
      for (let i = 0; i < 5; i++) {
        const { id } = await links.create(owner, { url }, byKey);
        if (i % 2 === 0) clock.advance(1);
        await links.remove(owner.id, id, byKey);
        ids.push(id);
      }
      const all = await trash.list(owner.id, 10);
      expect(new Set(all.map(({ id }) => id))).toEqual(new Set(ids));
      expect(all.map(({ deletedAt }) => deletedAt)).toEqual(
        all.map(({ deletedAt }) => deletedAt).toSorted((a, b) => b - a),
      );
      const paged = [];
      for (let last: (typeof all)[number] | undefined; ; ) {
        const page = await trash.list(owner.id, 2, last);
        paged.push(...page);
        last = page.at(-1);
        if (page.length < 2) break;
      }
      expect(paged).toEqual(all);
    });
  });

  describe("restoring", () => {
    test("checks the destinations against the blocklist of today", async () => {
      const inputs = [
        { url: "https://bad.example/" },
        { url, fallbackUrl: "https://bad.example/" },
        {
          url,
          split: [
            { url: "https://bad.example/1", weight: 1 },
            { url: "https://example.com/2", weight: 1 },
          ],
        },
      ];
      for (const input of inputs) {
        const { id, code } = await links.create(tenant, input, byKey);
        await links.remove(tenant.id, id, byKey);
        blocked.add("bad.example");
        expect((await problemOf(links.restore(tenant, id, byKey))).code).toBe("invalid_input");
        expect(await store.target("", code)).toEqual({ version: 2, value: undefined });
        blocked.delete("bad.example");
        expect((await links.restore(tenant, id, byKey)).version).toBe(3);
      }
    });

    test("checks that the file is still there", async () => {
      const files = createFileStore(sql);
      const key = { id: newId("file", clock), tenantId: tenant.id };
      await files.insert({ ...key, name: "a", sizeBytes: 1, type: "text/plain", sha256: null, createdAt: clock.now() });
      await files.admit(key, clock.now() + 1_000);
      await files.keep(key, { sha256: "0".repeat(64), max: null, at: clock.now() });
      const { id } = await links.create(tenant, { url: "", file: key.id }, byKey);
      await links.remove(tenant.id, id, byKey);
      await links.restore(tenant, id, byKey);
      await links.remove(tenant.id, id, byKey);
      await files.condemn(key, "stored");
      expect((await problemOf(links.restore(tenant, id, byKey))).more.errors).toMatchObject([{ field: "file" }]);
    });

    test("checks that the domain is still the tenant's", async () => {
      const host = `${fresh("d")}.example.net`;
      await addDomain(tenant, host);
      const { id } = await links.create(tenant, { url, domain: host, code: "abc" }, byKey);
      await links.remove(tenant.id, id, byKey);
      const own = ofTenant(sql.db, tenant.id);
      await own.updateTable("domains").set({ state: "pending" }).where("host", "=", host).execute();
      expect((await problemOf(links.restore(tenant, id, byKey))).more.errors).toMatchObject([{ field: "domain" }]);
      await own.updateTable("domains").set({ state: "verified" }).where("host", "=", host).execute();
      expect((await links.restore(tenant, id, byKey)).domain).toBe(host);
    });

    test("keeps to the hits that the plan allows by now", async () => {
      const owner = await newTenant();
      const { id } = await links.create(owner, { url, hitsPerMonth: 9_000 }, byKey);
      await links.remove(owner.id, id, byKey);
      const poorer = { ...owner, limits: { ...owner.limits, hitsPerLinkPerMonth: 100 } };
      expect((await links.restore(poorer, id, byKey)).hitsPerMonth).toBe(100);
    });

    test("does not count as a new link, and brings back an expired one as it is", async () => {
      const owner = await newTenant();
      const { id, expiresAt } = await links.create(owner, { url, expiresAt: clock.now() + 5 }, byKey);
      await links.remove(owner.id, id, byKey);
      clock.advance(10);
      expect((await links.restore(owner, id, byKey)).expiresAt).toBe(expiresAt);
      const used = await ofTenant(sql.db, owner.id).selectFrom("tenant_usage").select("used").execute();
      expect(used).toEqual([{ used: 1 }]);
    });

    test("gives its destination another check", async () => {
      const targets = createHealthStore(sql);
      const { id } = await links.create(tenant, { url }, byKey);
      await targets.checkSoon(id, clock.now());
      await targets.want(id, clock.now() + 1);
      await targets.checkSoon(id, clock.now() + 2);
      const rows = await sql.db
        .selectFrom("targets")
        .select(["wants_title", "next_check_at"])
        .where("link_id", "=", id)
        .execute();
      expect(rows).toEqual([{ wants_title: 1, next_check_at: clock.now() + 1 }]);
    });

    test("is done by one of many at once, and never beside a new link with the code", async () => {
      for (let round = 0; round < 10; round++) {
        const code = fresh("raced");
        const { id } = await links.create(tenant, { url, code }, byKey);
        await links.remove(tenant.id, id, byKey);
        const outcomes = await Promise.allSettled([
          links.restore(tenant, id, byKey),
          elsewhere.restore(tenant, id, byKey),
          elsewhere.create(tenant, { url: "https://example.org/", code }, byKey),
          links.create(tenant, { url: "https://example.org/", code }, byKey),
          trash.erase(tenant.id, id, byKey, clock.now()),
        ]);
        const won = outcomes.map(({ status }) => status === "fulfilled");
        const restored = Number(won[0]) + Number(won[1]);
        expect(restored).toBeLessThanOrEqual(1);
        const rows = await acrossTenants(sql.db)
          .selectFrom("links")
          .select("id")
          .where("domain", "=", "")
          .where("code", "=", code)
          .execute();
        expect(rows.length).toBe(restored + Number(won[2]) + Number(won[3]));
        expect(rows.length).toBeLessThanOrEqual(1);
        expect(await trash.byCode(tenant.id, "", code)).toBeUndefined();
      }
    });

    test("meets edits and deletions of the same link without losing it", async () => {
      for (let round = 0; round < 10; round++) {
        const { id, code } = await links.create(tenant, { url }, byKey);
        await Promise.allSettled([
          links.patch(tenant, id, { title: "one" }, byKey),
          elsewhere.patch(tenant, id, { title: "two" }, byKey),
          elsewhere.remove(tenant.id, id, byKey),
          links.restore(tenant, id, byKey),
        ]);
        const [link, trashed] = [await store.get(tenant.id, id), await trash.get(tenant.id, id)];
        expect([link, trashed].filter((one) => one !== undefined)).toHaveLength(1);
        const rows = await ofTenant(sql.db, tenant.id)
          .selectFrom("history")
          .select("version")
          .where("subject_id", "=", id)
          .execute();
        const versions = rows.map(({ version }) => version ?? 0).toSorted((a, b) => a - b);
        expect(new Set(versions).size).toBe(versions.length);
        expect((await store.target("", code)).version).toBe(1 + versions.length);
      }
    });
  });

  test("a deleted link keeps its old clicks while it can be restored, and no longer", async () => {
    const { id, code } = await links.create(tenant, { url }, byKey);
    const own = ofTenant(sql.db, tenant.id);
    const { number: link } = await own
      .selectFrom("links")
      .select("number")
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    await own
      .insertInto("click_links")
      .values({ link, domain: "", code, clicks: 7, first_at: 1, last_at: 1 })
      .execute();
    const month = { grain: 3, start: 0, until: 1, reasons: "[]", visitors: 7, itemised: 0, series: "{}", facts: "" };
    await sql.db
      .insertInto("click_rollups")
      .values({ subject: link, ...month })
      .execute();
    const purge = async () => {
      await purgeRollups(sql, { now: clock.now(), eventDaysOf: () => 1 });
      return (await own.selectFrom("click_links").select("clicks").where("link", "=", link).execute()).length;
    };
    await links.remove(tenant.id, id, byKey);
    expect(await purge()).toBe(1);
    await trash.erase(tenant.id, id, byKey, clock.now());
    expect(await purge()).toBe(0);
  });

  describe("deleting for good", () => {
    test("frees the code for its owner alone, raises the version, and is recorded", async () => {
      const code = fresh("erased");
      const { id } = await links.create(tenant, { url, code }, byKey);
      await links.remove(tenant.id, id, byKey);
      expect(await trash.erase(tenant.id, id, byKey, clock.now())).toBe(true);
      expect(await trash.erase(tenant.id, id, byKey, clock.now())).toBe(false);
      expect((await problemOf(links.restore(tenant, id, byKey))).code).toBe("not_found");
      expect((await problemOf(links.create(stranger, { url, code }, byKey))).code).toBe("code_taken");
      expect((await links.create(tenant, { url, code }, byKey)).version).toBe(4);
      const rows = await ofTenant(sql.db, tenant.id)
        .selectFrom("history")
        .select(["action", "version"])
        .where("subject_id", "=", id)
        .orderBy("version")
        .execute();
      expect(rows).toEqual([
        { action: "link.delete", version: 2 },
        { action: "link.erase", version: 3 },
      ]);
    });

    test("takes clicks from another shortener along: a second import of the link brings them again", async () => {
      const own = ofTenant(sql.db, tenant.id);
      const past = { start: 1, until: 2, source: "shlink", clicks: 500, visitors: null };
      const imported = async (code: string, expiresAt: number | null = null) => {
        const { id } = await links.create(tenant, { url, code, expiresAt }, byKey);
        const { number } = (await rowOf(id)) ?? {};
        await own
          .insertInto("click_history")
          .values({ ...past, link: number as LinkNumber })
          .execute();
        return id;
      };
      const rows = () => own.selectFrom("click_history").select("clicks").execute();
      const id = await imported(fresh("imported"));
      await links.remove(tenant.id, id, byKey);
      expect(await rows()).toHaveLength(1);
      await trash.erase(tenant.id, id, byKey, clock.now());
      expect(await rows()).toEqual([]);
      await imported(fresh("imported"), clock.now() + 1);
      await store.purge(clock.now() + 2, 100, clock.now() + 2);
      expect(await rows()).toEqual([]);
    });

    test("happens to what was deleted long ago, and to nothing else", async () => {
      const owner = await newTenant();
      const made = [];
      for (let i = 0; i < 3; i++) {
        const { id } = await links.create(owner, { url }, byKey);
        await links.remove(owner.id, id, byKey);
        made.push(id);
        clock.advance(dayMs);
      }
      const before = clock.now() - trashDays * dayMs;
      expect(await trash.eraseOld(before, 100, byCommand, clock.now())).toBe(0);
      clock.advance((trashDays - 2) * dayMs);
      const erased = await trash.eraseOld(clock.now() - trashDays * dayMs, 1_000, byCommand, clock.now());
      expect(erased).toBeGreaterThanOrEqual(1);
      const left = await trash.list(owner.id, 10);
      expect(left.map(({ id }) => id)).toEqual(made.slice(1).toReversed());
    });

    test("goes through a domain's trash, and leaves the rest", async () => {
      const owner = await newTenant();
      const host = `${fresh("d")}.example.net`;
      await addDomain(owner, host);
      for (const domain of [host, null]) {
        for (const code of ["one", "two", "six"]) {
          const { id } = await links.create(owner, { url, domain, code: domain ? code : fresh(code) }, byKey);
          await links.remove(owner.id, id, byKey);
        }
      }
      const domains = createDomainStore(sql);
      expect(await domains.remove(owner.id, host, byKey, clock.now())).toBe("trash");
      expect(await trash.eraseSome(owner.id, 2, byKey, clock.now(), host)).toBe(2);
      expect(await trash.eraseSome(owner.id, 2, byKey, clock.now(), host)).toBe(1);
      expect(await trash.list(owner.id, 10)).toHaveLength(3);
      expect(await domains.remove(owner.id, host, byKey, clock.now())).toMatchObject({ domain: { host } });
      // The next owner of the domain gets its codes.
      await addDomain(stranger, host);
      expect((await links.create(stranger, { url, domain: host, code: "one" }, byKey)).version).toBe(4);
    });
  });
});
