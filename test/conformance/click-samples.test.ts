/** Reports on more events than one reads: what is sampled, and what stays exact. */
import { beforeAll, describe, expect, test } from "bun:test";
import { sql as raw } from "kysely";
import { dayMs, systemClock } from "../../src/base/clock.ts";
import { dimensions } from "../../src/clicks/click.ts";
import { partsOfDay, shelfOf } from "../../src/clicks/event-shelves.ts";
import { eventsReadMost } from "../../src/clicks/reports/events.ts";
import { parseFilters } from "../../src/clicks/reports/filters.ts";
import { type ClickPlace, listClicks } from "../../src/clicks/reports/list.ts";
import { lookedAtMost } from "../../src/clicks/reports/list-day.ts";
import { parseReport, type ReportParams } from "../../src/clicks/reports/query.ts";
import { reportOn } from "../../src/clicks/reports/report.ts";
import { condense } from "../../src/clicks/rollups/rounds.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { type ClickTenant, createClickTenant, newLink } from "./click-world.ts";
import { onEachDatabase } from "./databases.ts";

const clicksEach = 130_000;
const partClicks = 26_000;
const days = [Date.UTC(2026, 9, 20), Date.UTC(2026, 9, 21)] as const;
const now = Date.UTC(2026, 10, 5);

onEachDatabase(({ open }) => {
  describe("reports on very many events", () => {
    let sql: Sql;
    let tenant: ClickTenant;

    beforeAll(async () => {
      sql = await open();
      tenant = await createClickTenant(sql, "many", "UTC");
      const link = newLink();
      const values = ["DE", "AT", "CH"].map((value) => ({
        tenant: 0 as const,
        dimension: "country",
        value,
        seen_day: 99_999,
      }));
      await sql.db.insertInto("click_values").values(values).execute();
      const ids = await sql.db
        .selectFrom("click_values")
        .select("id")
        .where("dimension", "=", "country")
        .orderBy("id")
        .execute();
      const [first = 0] = ids.map(({ id }) => id);
      const domain = tenant.groups.get("domain ") ?? 0;
      for (const start of days) {
        await sql.db
          .insertInto("click_days")
          .values({ tenant: tenant.number, start, until: start + dayMs, salt: null })
          .execute();
        // Scrambled numbers, whose last zeros are as frequent as the levels of the writer.
        const scrambled = raw`(((cast(i as bigint) * i * 48271 + i * 12345) % 2147483647) / 1024)`;
        const part = raw`(i * 7919 % 86400) / ${raw.lit(86_400 / partsOfDay)}`;
        const shelf = (level: number) =>
          shelfOf(level, 0) === level ? raw.lit(level) : raw`${raw.lit(shelfOf(level, 0))} + ${part}`;
        const level = raw.join(
          Array.from({ length: 12 }, (_, k) => raw`when ${scrambled} % ${raw.lit(2 ** (k + 1))} <> 0 then ${shelf(k)}`),
          raw` `,
        );
        const others = dimensions.filter((name) => name !== "country");
        // In parts: one statement for all may take longer than a statement may.
        for (let part = 0; part < clicksEach; part += partClicks) {
          await raw`
          insert into clicks (day, tenant, level, link, at, seq, domain, tags, reason, first, country, ${raw.join(others.map((name) => raw.ref(name)))})
          select ${raw.lit(start / dayMs)}, ${raw.lit(tenant.number)}, case ${level} else 12 end, ${raw.lit(link)},
            ${raw.lit(start)} + (i * 7919 % 86400) * 1000, i, ${raw.lit(domain)}, 0,
            case when i % 10 = 0 then 1 else 0 end, case when i % 20 = 1 then 3 else 0 end,
            ${raw.lit(first)} + i % 3, ${raw.join(others.map(() => raw`0`))}
          from (with recursive n(i) as (select ${raw.lit(part + 1)} union all select i + 1 from n where i < ${raw.lit(part + partClicks)}) select i from n) as numbers`.execute(
            sql.db,
          );
        }
      }
      // As autovacuum would, which the servers of tests do without: by now the planner expects an empty table.
      if (sql.dialect === "postgres") await raw`analyze clicks`.execute(sql.db);
    }, 60_000);

    const read = (params: ReportParams) =>
      reportOn(sql, systemClock, tenant.id, { kind: "tenant" }, parseReport(params, "UTC", now));
    const people = clicksEach * 0.9;
    const whole = { from: "2026-10-20", to: "2026-10-20", interval: "hour", breakdown: "country" } as const;
    const sumsUp = ({ totals, breakdowns }: Awaited<ReturnType<typeof read>>) => {
      for (const { values, none, other, notItemised } of Object.values(breakdowns)) {
        expect(values.reduce((sum, { clicks }) => sum + clicks, none + other + notItemised)).toBe(totals.clicks);
        expect(notItemised).toBeGreaterThanOrEqual(0);
      }
    };

    test("are sampled and say so, of the compared period too", async () => {
      for (const filter of [[], ["country=DE,AT"], ["country=DE,AT", "os="]]) {
        const report = await read({ ...whole, from: "2026-10-21", to: "2026-10-21", compare: "previous", filter });
        const truth = filter.length === 0 ? people : (people * 2) / 3;
        for (const { totals, sampled } of [report, report.previous ?? report]) {
          expect(sampled?.rate).toBe(0.5);
          expect(sampled?.error).toBeGreaterThan(0.001);
          expect(sampled?.error).toBeLessThan(0.02);
          // Five times the error that 95 of 100 keep: no sample is that far off.
          expect(Math.abs(totals.clicks - truth)).toBeLessThan(5 * (sampled?.error ?? 0) * truth);
        }
        sumsUp(report);
      }
    });

    test("list a sample, whose weights add up to about all clicks; what is left when few remain is listed in full", async () => {
      const span = { from: days[0], to: days[0] + dayMs, filters: parseFilters(["reason=bot"]) };
      let weights = 0;
      const seen = new Set<number>();
      const first = await listClicks(
        ...([
          sql,
          systemClock,
          tenant.id,
          { kind: "tenant" } as const,
          { ...span, limit: 10, after: undefined },
        ] as const),
      );
      expect(first.items.map(({ weight }) => weight)).toEqual(Array(10).fill(2));
      for (let after: ClickPlace | undefined; ; ) {
        const page = await listClicks(
          sql,
          systemClock,
          tenant.id,
          { kind: "tenant" },
          { ...span, limit: 5_000, after },
        );
        for (const { at, weight } of page.items) {
          weights += weight;
          seen.add(at);
        }
        if (page.next === null) break;
        after = page.next;
      }
      expect(Math.abs(weights - clicksEach / 10)).toBeLessThan(clicksEach / 100);
      expect(seen.size).toBeGreaterThan(5_000);
    });

    test("export every click once, with and without a filter, also of a day that is cut", async () => {
      const both = { from: days[0], to: days[0] + 2 * dayMs };
      const asked = [
        { from: days[0] + dayMs / 48, to: days[0] + dayMs, filters: [] },
        { ...both, filters: parseFilters(["reason=bot"]) },
        { ...both, filters: parseFilters(["reason=head"]) },
      ];
      for (const { from, to, filters } of asked) {
        const own = sql.db.selectFrom("clicks").select(["at", "seq"]).where("tenant", "=", tenant.number);
        const stored = (await own.where("at", ">=", from).where("at", "<", to).execute()).filter(({ seq }) =>
          filters.length === 0 ? true : filters[0]?.values.includes("bot") && seq % 10 === 0,
        );
        const listed: number[] = [];
        for (let after: ClickPlace | undefined, pages = 0; ; pages++) {
          const query = { from, to, filters, limit: 5_000, after, isExport: true };
          const page = await listClicks(sql, systemClock, tenant.id, { kind: "tenant" }, query);
          expect(page.items.length).toBeLessThanOrEqual(2 * lookedAtMost);
          expect(page.items.every(({ weight }) => weight === 1)).toBe(true);
          for (const { at } of page.items) listed.push(at);
          expect(pages).toBeLessThan(200);
          if (page.next === null) break;
          after = page.next;
        }
        const sorted = (times: readonly number[]) => Float64Array.from(times).sort();
        expect(listed).toHaveLength(stored.length);
        expect(sorted(listed)).toEqual(sorted(stored.map(({ at }) => at)));
      }
    }, 60_000);

    test("are exact once the day is condensed, also where the range cuts it", async () => {
      await condense(sql, { now });
      const exact = await read(whole);
      expect([exact.totals.clicks, exact.totals.bots, exact.sampled]).toEqual([people, clicksEach / 10, null]);
      // Both days are cut: a sample tells the values, the roll-ups how many clicks there are.
      const cut = await read({ ...whole, from: "2026-10-20T03:00:00Z", to: "2026-10-21T21:00:00Z", traffic: "all" });
      const hours = await read({ ...whole, to: "2026-10-21", traffic: "all" });
      const expected = hours.series.filter(({ start }) => start >= cut.from && start < cut.to);
      expect(cut.series).toEqual(expected);
      expect(cut.totals.clicks).toBe(expected.reduce((sum, { clicks }) => sum + clicks, 0));
      expect(cut.totals.visitors).toBe(expected.reduce((sum, { visitors }) => sum + visitors, 0));
      expect(cut.totals.clicks).toBeGreaterThan(eventsReadMost);
      expect(cut.sampled).toEqual({ rate: 0.5, error: 0 });
      sumsUp(cut);
      const known = cut.breakdowns.country?.notItemised ?? 0;
      expect(known / cut.totals.clicks).toBeLessThan(0.02);
    });

    test("with one filter are exact by the hour only as far as the sample is", async () => {
      const byDay = await read({ ...whole, interval: "day", filter: ["country=DE"] });
      expect([byDay.totals.clicks, byDay.series[0]?.clicks, byDay.sampled]).toEqual([people / 3, people / 3, null]);
      const byHour = await read({ ...whole, breakdown: "country,os", filter: ["country=DE"] });
      expect(byHour.totals).toEqual(byDay.totals);
      expect(byHour.sampled?.rate).toBe(0.5);
      const inSeries = byHour.series.reduce((sum, { clicks }) => sum + clicks, 0);
      expect(inSeries + (byHour.itemised?.notInSeries ?? 0)).toBe(byHour.totals.clicks);
      sumsUp(byHour);
    });
  });
});
