/** The links of a report on more links than are kept apart, of two tenants that share every name. */
import { beforeAll, describe, expect, test } from "bun:test";
import { dayMs, systemClock } from "../../src/base/clock.ts";
import { countEvents } from "../../src/clicks/reports/events.ts";
import { parseReport, type ReportParams } from "../../src/clicks/reports/query.ts";
import { reportOn } from "../../src/clicks/reports/report.ts";
import { scopeOf } from "../../src/clicks/reports/scope.ts";
import { condense } from "../../src/clicks/rollups/rounds.ts";
import { ValueSums } from "../../src/clicks/rollups/value-sums.ts";
import type { LinkNumber } from "../../src/sql/schema.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { summedLinksMost } from "../../src/sql/sum-events.ts";
import { type ClickTenant, createClickTenant, newLink, randomClicks, randomOf, storeClicks } from "./click-world.ts";
import { onEachDatabase } from "./databases.ts";

const quietLinks = summedLinksMost + 300;
const busyLinks = 4;
const from = Date.UTC(2026, 9, 20);
const now = from + 5 * dayMs;

onEachDatabase(({ open }) => {
  describe("a report on very many links", () => {
    let sql: Sql;
    const tenants: ClickTenant[] = [];
    const busy = new Map<ClickTenant, LinkNumber[]>();

    beforeAll(async () => {
      sql = await open();
      const random = randomOf(53);
      for (const [place, slug] of ["first", "second"].entries()) {
        const tenant = await createClickTenant(sql, slug, "UTC");
        const links = Array.from({ length: quietLinks + busyLinks }, newLink);
        // Anywhere among the others. The second tenant's are busier.
        const some = links.filter((_, at) => at % 300 === 150).slice(0, busyLinks);
        busy.set(tenant, some);
        const on = (link: LinkNumber, count: number) =>
          randomClicks(random, { from, until: from + 2 * dayMs, links: [link], count }).map((click) => ({
            ...click,
            reason: 0,
          }));
        await storeClicks(sql, tenant, [
          ...links.filter((link) => !some.includes(link)).flatMap((link) => on(link, 1)),
          ...some.flatMap((link, rank) => on(link, 10 * (busyLinks - rank) + place)),
        ]);
        tenants.push(tenant);
      }
    }, 60_000);

    const days = { from: "2026-10-20", to: "2026-10-21" };

    async function links(tenant: ClickTenant, params: ReportParams) {
      const query = parseReport({ ...days, breakdown: "link", ...params }, "UTC", now);
      const report = await reportOn(sql, systemClock, tenant.id, { kind: "tenant" }, query);
      const { values = [], none = 0, other = 0, notItemised = 0 } = report.breakdowns.link ?? {};
      const listed = values.reduce((sum, { clicks }) => sum + clicks, 0);
      expect([listed + other, none, notItemised]).toEqual([report.totals.clicks, 0, 0]);
      return { values, total: report.totals.clicks };
    }

    async function requireTop(): Promise<void> {
      for (const [place, tenant] of tenants.entries()) {
        const { values, total } = await links(tenant, { limit: busyLinks, compare: "previous" });
        expect(total).toBe(tenant.clicks.length);
        expect(values.map(({ link, clicks, previousClicks }) => [link?.code, clicks, previousClicks])).toEqual(
          (busy.get(tenant) ?? []).map((link, rank) => [`code-${link}`, 10 * (busyLinks - rank) + place, 0]),
        );
        expect((await links(tenant, { limit: 300 })).values).toHaveLength(300);
      }
    }

    test("has those with the most clicks, and the others as one, from events", requireTop);

    test("gets a bounded number of links from PostgreSQL, whose events are added up in the serving process", async () => {
      for (const tenant of tenants) {
        const scope = await scopeOf(sql, tenant.id, { kind: "tenant" });
        const span = { from, to: from + 2 * dayMs };
        const { values, itemised } = await countEvents(sql, scope, [span], { level: 0, wanted: ["link"], check() {} });
        const people = values[0]?.people ?? new ValueSums();
        let clicks = 0;
        people.each((_, ofLink) => {
          clicks += ofLink;
        });
        const most = sql.dialect === "postgres" ? summedLinksMost + 1 : quietLinks + busyLinks;
        expect(people.size).toBeLessThanOrEqual(most);
        expect(people.size).toBeGreaterThan(summedLinksMost);
        expect(clicks).toBe(itemised);
      }
    });

    test("has the same from roll-ups", async () => {
      await condense(sql, { now });
      await requireTop();
    }, 60_000);

    test("does not know what a link had before, if that day kept others apart", async () => {
      const [tenant] = tenants as [ClickTenant];
      const { values } = await links(tenant, { ...{ from: "2026-10-21", limit: 300 }, compare: "previous" });
      const known = values.filter(({ previousClicks }) => previousClicks !== null);
      expect(known.length).toBeGreaterThanOrEqual(busyLinks);
      expect(known.length).toBeLessThan(values.length);
      for (const { link, previousClicks } of known) {
        const before = tenant.clicks.filter((one) => `code-${one.link}` === link?.code && one.at < from + dayMs);
        expect([link?.code, previousClicks]).toEqual([link?.code, before.length]);
      }
    });
  });

  test("a report whose compared period cuts days knows what each link had in it", async () => {
    const sql = await open();
    const tenant = await createClickTenant(sql, "cut", "UTC");
    const links = Array.from({ length: 3 }, newLink);
    const clicks = randomClicks(randomOf(7), { from, until: from + 4 * dayMs, links, count: 400 });
    await storeClicks(
      sql,
      tenant,
      clicks.map((click) => ({ ...click, reason: 0 })),
    );
    await condense(sql, { now });
    const range = {
      from: new Date(from + 2.5 * dayMs).toISOString(),
      to: new Date(from + 3.25 * dayMs).toISOString(),
    };
    const query = parseReport({ ...range, breakdown: "link", compare: "previous" }, "UTC", now);
    const { breakdowns, previous } = await reportOn(sql, systemClock, tenant.id, { kind: "tenant" }, query);
    const before = { from: previous?.from ?? 0, to: previous?.to ?? 0 };
    expect(before).toEqual({ from: from + 1.75 * dayMs, to: from + 2.5 * dayMs });
    const had = (link: LinkNumber) =>
      tenant.clicks.filter((one) => one.link === link && one.at >= before.from && one.at < before.to).length;
    const found = breakdowns.link?.values.map(({ link, previousClicks }) => [link?.code, previousClicks]);
    expect(found?.toSorted()).toEqual(links.map((link) => [`code-${link}`, had(link)]).toSorted());
  });
});
