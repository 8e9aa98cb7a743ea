import { describe, expect, test } from "bun:test";
import { sql as raw } from "kysely";
import { systemClock } from "../../src/base/clock.ts";
import { Problem } from "../../src/base/errors.ts";
import type { TenantId } from "../../src/base/ids.ts";
import { pagesOf } from "../../src/base/pages.ts";
import { createShares } from "../../src/base/shares.ts";
import type { Domain } from "../../src/domains/domain.ts";
import { createDomains, domainsMost } from "../../src/domains/domains.ts";
import { createDomainStore } from "../../src/domains/store.ts";
import { createTrashStore } from "../../src/links/trash/trash-store.ts";
import { createFeed } from "../../src/sql/feed.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { acrossTenants } from "../../src/sql/tenant-db.ts";
import { createTenants } from "../../src/tenants/tenants.ts";
import { byCommand } from "../ground/actors.ts";
import { nameOf } from "../ground/changes.ts";
import { databases } from "./databases.ts";
import { few } from "./stores.ts";
import { notOfTwin } from "./two-tenants.ts";

for (const database of databases) {
  describe(`domains on ${database.name}`, () => {
    async function open() {
      const sql = await database.open();
      const tenants = createTenants(sql, systemClock);
      const ours = (await tenants.create("ours", "Ours", byCommand)).id;
      const theirs = (await tenants.create("theirs", "Theirs", byCommand)).id;
      const published = new Set<string>();
      const changed: string[] = [];
      const store = createDomainStore(sql);
      const domains = createDomains({
        outgoing: createShares(few),
        store,
        trash: createTrashStore(sql),
        evidence: { shows: async (host, text) => published.has(`${host} ${text}`) },
        ownHosts: new Set(["go.example.net", "localhost:3000"]),
        clock: systemClock,
        publish: (change) => void changed.push(`${change.kind} ${nameOf(change)}@${change.version}`),
      });
      const own = async (tenant: TenantId, host: string) => {
        const { token } = await domains.add(tenant, host, byCommand);
        published.add(`${host} quicklink-domain=${token}`);
        return domains.verify(tenant, host, byCommand);
      };
      return { sql, store, domains, ours, theirs, published, changed, own };
    }

    const link = (sql: Sql, tenant: TenantId, host: string) =>
      raw`insert into links (id, tenant_id, domain, code, url, permanent, status, tags, created_at, updated_at)
        values ('lnk_1', ${tenant}, ${host}, 'abc', 'https://example.com/', 0, 'active', '[]', 1, 1)`.execute(sql.db);

    const codeOf = (promise: Promise<unknown>) =>
      promise.then(
        () => "done",
        (error: unknown) => (error instanceof Problem ? error.code : Promise.reject(error)),
      );

    test("a claim becomes a domain when its token is published, and redirects learn of it through the feed", async () => {
      const { sql, store, domains, ours, published, changed } = await open();
      const feed = createFeed(sql);
      const before = await feed.end();
      const claim = await domains.add(ours, "Links.Example.com", byCommand);
      expect(await codeOf(domains.verify(ours, "links.example.com", byCommand))).toBe("domain_unproven");
      expect(await store.verified()).toEqual([]);
      published.add(`links.example.com quicklink-domain=${claim.token}`);
      expect(await domains.verify(ours, "links.example.com", byCommand)).toMatchObject({ state: "verified" });
      expect((await store.verified()).map(({ host }) => host)).toEqual(["links.example.com"]);
      expect((await feed.after(before, 10)).changes).toMatchObject([
        { kind: "domain", key: "links.example.com", version: 1 },
      ]);
      expect(changed).toEqual(["domain links.example.com@1"]);
      await domains.change(ours, "links.example.com", { rootUrl: "https://example.com/" }, byCommand);
      expect(changed).toEqual(["domain links.example.com@1", "domain links.example.com@2"]);
      await sql.close();
    });

    test("of two tenants that both verify it, one gets it, and a claim alone excludes no other", async () => {
      const { sql, domains, ours, theirs, own } = await open();
      await domains.add(theirs, "links.example.com", byCommand);
      await own(ours, "links.example.com");
      const other = await domains.get(theirs, "links.example.com");
      expect(other.state).toBe("pending");
      const both = await open();
      const race = await Promise.all([
        codeOf(both.own(both.ours, "x.example.com")),
        codeOf(both.own(both.theirs, "x.example.com")),
      ]);
      expect(race.toSorted()).toEqual(["domain_taken", "done"]);
      await sql.close();
      await both.sql.close();
    });

    test("it passes on only when its links are gone and its owner let it go", async () => {
      const { sql, domains, ours, theirs, own } = await open();
      await own(ours, "links.example.com");
      await link(sql, ours, "links.example.com");
      expect(await codeOf(own(theirs, "links.example.com"))).toBe("domain_taken");
      expect(await codeOf(domains.remove(ours, "links.example.com", byCommand))).toBe("domain_in_use");
      await acrossTenants(sql.db).deleteFrom("links").where(notOfTwin).execute();
      await domains.remove(ours, "links.example.com", byCommand);
      expect(await domains.verify(theirs, "links.example.com", byCommand)).toMatchObject({
        tenantId: theirs,
        state: "verified",
      });
      await sql.close();
    });

    test("a tenant can neither see nor change another's", async () => {
      const { sql, domains, ours, theirs, own } = await open();
      await own(ours, "links.example.com");
      expect(await domains.list(theirs, 10)).toEqual([]);
      expect(await codeOf(domains.get(theirs, "links.example.com"))).toBe("not_found");
      expect(await codeOf(domains.change(theirs, "links.example.com", { rootUrl: null }, byCommand))).toBe("not_found");
      expect(await codeOf(domains.remove(theirs, "links.example.com", byCommand))).toBe("not_found");
      await sql.close();
    });

    test("they come in pages, oldest first, and beyond the cap one more is refused, also of many at once", async () => {
      const { sql, store, domains, ours } = await open();
      const targets = { rootUrl: null, missingUrl: null, rootBlocked: false, missingBlocked: false };
      const token = { token: "x", isDefault: false, ...targets, verifiedAt: null } as const;
      const hosts = Array.from({ length: domainsMost - 2 }, (_, i) => `d${String(i).padStart(3, "0")}.example.com`);
      for (const [i, host] of hosts.entries()) {
        const domain = { tenantId: ours, host, state: "pending", createdAt: Math.floor(i / 7), ...token } as const;
        expect(await store.add(domain, domainsMost, byCommand)).toBe("added");
      }
      const listed: string[] = [];
      for await (const page of pagesOf<Domain>((_, last) => domains.list(ours, 100, last))) {
        listed.push(...page.map(({ host }) => host));
      }
      expect(listed).toEqual(hosts);
      const first = await domains.list(ours, 10);
      expect((await domains.list(ours, 10, first.at(-1))).map(({ host }) => host)).toEqual(hosts.slice(10, 20));
      const race = await Promise.all(
        Array.from({ length: 6 }, (_, i) => codeOf(domains.add(ours, `one-more-${i}.example.com`, byCommand))),
      );
      expect(race.toSorted()).toEqual([...Array(4).fill("collection_full"), "done", "done"]);
      await sql.close();
    });

    test("one domain is the default, the last that was made so, and only a verified one", async () => {
      const { sql, store, domains, ours, own } = await open();
      await own(ours, "a.example.com");
      await own(ours, "b.example.com");
      await domains.add(ours, "c.example.com", byCommand);
      await domains.change(ours, "a.example.com", { isDefault: true }, byCommand);
      await domains.change(ours, "b.example.com", { isDefault: true }, byCommand);
      expect(await store.defaultHost(ours)).toBe("b.example.com");
      expect(await codeOf(domains.change(ours, "c.example.com", { isDefault: true }, byCommand))).toBe("invalid_input");
      await domains.change(ours, "b.example.com", { isDefault: false }, byCommand);
      expect(await store.defaultHost(ours)).toBeUndefined();
      await sql.close();
    });

    test("targets are checked like any destination, and the server's own hosts are no domain", async () => {
      const { sql, domains, ours, own } = await open();
      expect(await codeOf(domains.add(ours, "go.example.net", byCommand))).toBe("invalid_input");
      expect(await codeOf(domains.add(ours, "not a host", byCommand))).toBe("invalid_input");
      await own(ours, "a.example.com");
      expect(await codeOf(domains.add(ours, "a.example.com", byCommand))).toBe("name_taken");
      const change = (fields: object) => codeOf(domains.change(ours, "a.example.com", fields, byCommand));
      expect(await change({ rootUrl: "javascript:alert(1)" })).toBe("invalid_input");
      expect(await change({ missingUrl: "https://go.example.net/x" })).toBe("invalid_input");
      expect(await change({ rootUrl: "https://example.com", missingUrl: null })).toBe("done");
      expect(await domains.get(ours, "a.example.com")).toMatchObject({
        rootUrl: "https://example.com/",
        missingUrl: null,
      });
      await sql.close();
    });
  });
}
