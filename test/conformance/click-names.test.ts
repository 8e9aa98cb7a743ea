/** What has the same name in reports is told apart, by people and by filters. */
import { beforeAll, describe, expect, test } from "bun:test";
import { dayMs, systemClock } from "../../src/base/clock.ts";
import type { Problem } from "../../src/base/errors.ts";
import { createPasswords } from "../../src/base/passwords.ts";
import { type Dimension, dimensions, none } from "../../src/clicks/click.ts";
import { createLinkTotals } from "../../src/clicks/events/link-totals.ts";
import { linksNumbered } from "../../src/clicks/reports/clicked-links.ts";
import { parseFilters } from "../../src/clicks/reports/filters.ts";
import { storedFilters } from "../../src/clicks/reports/link-filter.ts";
import { listClicks } from "../../src/clicks/reports/list.ts";
import { parseReport, type ReportParams } from "../../src/clicks/reports/query.ts";
import { reportOn } from "../../src/clicks/reports/report.ts";
import { condense } from "../../src/clicks/rollups/rounds.ts";
import { createLinks, type Links } from "../../src/links/links.ts";
import type { LinkNumber } from "../../src/sql/schema.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { ofTenant } from "../../src/sql/tenant-db.ts";
import { createTenants } from "../../src/tenants/tenants.ts";
import { byCommand } from "../ground/actors.ts";
import { linkStores } from "../ground/links.ts";
import { type ClickTenant, createClickTenant, newLink, storeClicks, type TestClick } from "./click-world.ts";
import { onEachDatabase } from "./databases.ts";

const start = Date.UTC(2026, 9, 20);
const now = start + 10 * dayMs;
const noFacts = Object.fromEntries(dimensions.map((name) => [name, none])) as Record<Dimension, string>;

function clicksOn(link: LinkNumber, count: number, facts: Partial<Record<Dimension, string>> = {}): TestClick[] {
  return Array.from({ length: count }, (_, place) => ({
    ...{ link, domain: "", tags: [], at: start + place * 60_000, reason: 0, first: 0, itemised: true },
    facts: { ...noFacts, ...facts },
  }));
}

onEachDatabase(({ open }) => {
  describe("names in reports", () => {
    let sql: Sql;
    let tenant: ClickTenant;
    let links: Links;
    let live: { id: string; number: LinkNumber };
    const [first, second] = [newLink(), newLink()];
    const sent = { "(none)": 5, "(other)": 4, "…": 0, [none]: 3 };

    beforeAll(async () => {
      sql = await open();
      tenant = await createClickTenant(sql, "alike", "UTC");
      const owner = await createTenants(sql, systemClock).bySlug("alike");
      if (owner === undefined) throw new Error("no tenant");
      links = createLinks({
        ...linkStores(sql),
        issuer: { next: async () => "unused" } as never,
        passwords: createPasswords(),
        clock: systemClock,
        ownHosts: new Set(["localhost"]),
        defaultDays: 365,
        publish() {},
      });
      const { id } = await links.create(owner, { url: "https://example.com/", code: "spring" }, byCommand);
      const own = ofTenant(sql.db, tenant.id);
      const row = await own.selectFrom("links").select("number").where("id", "=", id).executeTakeFirstOrThrow();
      live = { id, number: row.number as LinkNumber };
      await storeClicks(sql, tenant, [
        ...clicksOn(first, 1, { utm_source: "x" }),
        ...clicksOn(second, 2, { utm_source: "x" }),
        ...Object.entries(sent).flatMap(([value, count]) => clicksOn(live.number, count, { utm_source: value })),
      ]);
      await own.updateTable("click_links").set({ code: "spring" }).execute();
    });

    const report = (params: Partial<ReportParams>) => {
      const query = parseReport({ from: "2026-10-19", to: "2026-10-25", ...params }, "UTC", now);
      const filters = storedFilters(query.filters, (host) => (host === "localhost" ? "" : host));
      return reportOn(sql, systemClock, tenant.id, { kind: "tenant" }, { ...query, filters });
    };
    const clicksWith = async (filter: string) => (await report({ filter: [filter] })).totals.clicks;
    const refusalOf = (filter: string) =>
      clicksWith(filter).catch((error: Problem) => [error.code, error.more.errors?.[0]?.field]);

    const requireApart = async () => {
      const { breakdowns } = await report({ breakdown: "link,utm_source" });
      const found = breakdowns.link?.values.map(({ value, clicks, link }) => ({ value, clicks, id: link?.id }));
      expect(found).toEqual([
        { value: live.id, clicks: 12, id: live.id as never },
        { value: `spring@${second}`, clicks: 2, id: null },
        { value: `spring@${first}`, clicks: 1, id: null },
      ]);
      const { values = [], none: without, other } = breakdowns.utm_source ?? {};
      expect(values.map(({ value, clicks }) => [value, clicks])).toEqual([
        ["(none)", 5],
        ["(other)", 4],
        ["x", 3],
      ]);
      expect([without, other]).toEqual([3, 0]);
      expect(await clicksWith("utm_source=(none)")).toBe(5);
      expect(await clicksWith("utm_source=")).toBe(3);
      expect(await clicksWith("utm_source!=(none)")).toBe(10);
    };

    test(
      "are told apart if they are alike, from events: a value that reads like none, and links that had a code one after the other",
      requireApart,
    );

    test("mean one link in a filter", async () => {
      const { breakdowns } = await report({ breakdown: "link" });
      for (const { value, clicks } of breakdowns.link?.values ?? []) {
        expect([value, await clicksWith(`link=${value}`)]).toEqual([value, clicks]);
        expect([value, await clicksWith(`link!=${value}`)]).toEqual([value, 15 - clicks]);
      }
      expect(await clicksWith(`link=localhost/spring@${second}`)).toBe(2);
      expect(await clicksWith(`link=spring@${second},spring@${first}`)).toBe(3);
      // A code alone is the link that has it now.
      expect(await clicksWith("link=spring")).toBe(12);
      expect(await refusalOf(`link=summer@${second}`)).toEqual(["invalid_input", "filter"]);
      expect(await refusalOf(`link=other.example/spring@${second}`)).toEqual(["invalid_input", "filter"]);
      expect(await refusalOf("link=spring@999999999")).toEqual(["invalid_input", "filter"]);
    });

    test("are told apart in lists of clicks", async () => {
      const asked = { from: start, to: now, filters: parseFilters(["utm_source=x"]), limit: 10, after: undefined };
      const { items } = await listClicks(sql, systemClock, tenant.id, { kind: "tenant" }, asked);
      expect(items.map(({ link }) => link.value).toSorted()).toEqual(
        [`spring@${first}`, `spring@${second}`, `spring@${second}`].toSorted(),
      );
    });

    test("are the new ones of a link that moved before its first click was written", async () => {
      const owner = await createTenants(sql, systemClock).bySlug("alike");
      if (owner === undefined) throw new Error("no tenant");
      const [host, own] = ["moved.example", ofTenant(sql.db, tenant.id)];
      const domain = { host, state: "verified" as const, token: "t", is_default: 0 as const, created_at: 1 };
      const more = { verified_at: 1, root_url: null, missing_url: null, root_blocked: 0, missing_blocked: 0 } as const;
      await own
        .insertInto("domains")
        .values({ ...domain, ...more })
        .execute();
      const { id, code } = await links.create(owner, { url: "https://example.com/", code: "autumn" }, byCommand);
      const { number } = await own.selectFrom("links").select("number").where("id", "=", id).executeTakeFirstOrThrow();
      const link = number as LinkNumber;
      await linkStores(sql).store.move(tenant.id, id, host, byCommand, systemClock.now());
      const late = { link, tenant: tenant.number, domain: "", code, tags: [] };
      const added = { link: late, tenantId: tenant.id, clicks: 1, firstAt: start, lastAt: start };
      const step = { now, afterCommit() {}, onceStored() {} };
      const totals = createLinkTotals(sql);
      expect(await sql.transaction((trx) => totals.add({ trx, ...step }, [added]))).toEqual([late]);
      const named = (await linksNumbered(sql, tenant.id, [link])).get(link);
      expect(named).toEqual({ value: id, id, domain: host, code, title: null });
    });

    test("are told apart if they are alike, from roll-ups", async () => {
      await condense(sql, { now });
      await requireApart();
    });

    test("that are gone are one row, with what all of these links had", async () => {
      const own = ofTenant(sql.db, tenant.id);
      await own.deleteFrom("click_links").where("link", "in", [first, second]).execute();
      const { breakdowns } = await report({ breakdown: "link", compare: "previous" });
      expect(breakdowns.link?.values.map(({ link: _, ...value }) => value)).toEqual([
        { value: live.id, clicks: 12, visitors: 0, previousClicks: 0 },
        { value: "", clicks: 3, visitors: 0, previousClicks: 0 },
      ]);
    });
  });
});
