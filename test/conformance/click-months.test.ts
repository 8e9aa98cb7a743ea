/** Reports on clicks that are older than the roll-ups of days, and on clicks from another shortener. */
import { beforeAll, describe, expect, test } from "bun:test";
import { dayMs, manualClock } from "../../src/base/clock.ts";
import { dimensions } from "../../src/clicks/click.ts";
import { naturalDay } from "../../src/clicks/events/days.ts";
import { parseReport, type ReportParams } from "../../src/clicks/reports/query.ts";
import { reportOn } from "../../src/clicks/reports/report.ts";
import { grains } from "../../src/clicks/rollups/periods.ts";
import { condense } from "../../src/clicks/rollups/rounds.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { ofTenant } from "../../src/sql/tenant-db.ts";
import { type ClickTenant, createClickTenant, newLink, storeClicks, type TestClick } from "./click-world.ts";
import { onEachDatabase } from "./databases.ts";

const hourMs = 3_600_000;
const zone = "Asia/Kathmandu";
const now = Date.UTC(2026, 10, 15);
/** Two months that ended more than 400 days before. */
const [from, until] = [naturalDay(Date.UTC(2025, 7, 1), zone).start, Date.UTC(2025, 9, 1)];

onEachDatabase(({ open }) => {
  describe("reports on months", () => {
    let sql: Sql;
    const tenants: ClickTenant[] = [];

    beforeAll(async () => {
      sql = await open();
      for (const slug of ["mine", "theirs"]) {
        const tenant = await createClickTenant(sql, slug, zone);
        const link = newLink();
        const clicks = Array.from(
          { length: 400 },
          (_, i): TestClick => ({
            ...{ link, domain: "", tags: [], at: from + Math.floor(((until - from) * i) / 400), itemised: true },
            ...{ reason: i % 5 === 0 ? 1 : 0, first: i % 5 === 1 ? 3 : 0 },
            facts: Object.fromEntries(
              dimensions.map((name) => [name, i % 3 === 0 ? "" : `${name} ${i % 3}`]),
            ) as TestClick["facts"],
          }),
        );
        await storeClicks(sql, tenant, clicks);
        tenants.push(tenant);
      }
      await condense(sql, { now });
    }, 60_000);

    const read = (params: ReportParams, [tenant]: readonly ClickTenant[] = tenants) => {
      if (tenant === undefined) throw new Error("no tenant");
      const query = parseReport({ traffic: "all", ...params }, zone, now);
      return reportOn(sql, manualClock(now), tenant.id, { kind: "tenant" }, query);
    };
    const clicksIn = (start: number, end: number) =>
      (tenants[0]?.clicks ?? []).filter(({ at }) => at >= start && at < end);

    test("that a range cuts read events where days are gone and events are kept", async () => {
      await sql.db.deleteFrom("click_rollups").where("grain", "=", grains.day).execute();
      const cut = { from: "2025-08-10T07:00:00Z", to: "2025-09-20T16:00:00Z", interval: "day" } as const;
      const report = await read(cut);
      const expected = clicksIn(report.from, report.to);
      expect(report.totals.clicks).toBe(expected.length);
      expect(report.breakdowns.country?.notItemised).toBe(0);
      expect(report.series.reduce((sum, { clicks }) => sum + clicks, 0)).toBe(expected.length);
    });

    test("that a range cuts count by day when the events are gone too", async () => {
      for (const table of ["clicks", "click_overflow", "click_days"] as const) {
        await sql.db
          .deleteFrom(table)
          .where(
            "tenant",
            "in",
            tenants.map(({ number }) => number),
          )
          .execute();
      }
      for (const { id } of tenants) {
        await ofTenant(sql.db, id)
          .updateTable("click_tenants")
          .set({ events_from: Date.UTC(2026, 0, 1) })
          .execute();
      }
      const report = await read({ from: "2025-08-10", to: "2025-09-20", interval: "day" });
      const days = clicksIn(report.from, report.to);
      expect(report.totals.clicks).toBe(days.length);
      for (const [place, { start, clicks }] of report.series.entries()) {
        const end = report.series[place + 1]?.start ?? report.to;
        expect([start, clicks]).toEqual([start, clicksIn(start, end).length]);
      }
      // August is cut, September too: only their days are known.
      expect(report.breakdowns.country).toEqual({ values: [], none: 0, other: 0, notItemised: days.length });
      // A day counts where it begins.
      const inside = await read({ from: "2025-08-10T00:00:00Z", to: "2025-08-11T00:00:00Z" });
      const next = naturalDay(inside.to, zone);
      expect(inside.totals.clicks).toBe(clicksIn(next.start, next.until).length);
    });

    test("as wholes know their values, and with a filter too", async () => {
      const whole = { from: "2025-08-01", to: "2025-09-30", interval: "month" } as const;
      const [all, is] = [await read(whole), await read({ ...whole, filter: ["country=country 1"] })];
      const own = clicksIn(all.from, all.to);
      expect(all.totals.clicks).toBe(own.length);
      expect(all.breakdowns.country?.notItemised).toBe(0);
      const matching = own.filter(({ facts }) => facts.country === "country 1");
      expect(is.totals.clicks).toBe(matching.length);
      expect(is.itemised).toEqual({ clicks: own.length, of: own.length, notInSeries: 0 });
      const byDay = await read({ ...whole, interval: "day", filter: ["country=country 1"] });
      expect([byDay.totals.clicks, byDay.itemised?.notInSeries]).toEqual([matching.length, matching.length]);
    });
  });

  test("reports on a tag that got its roll-ups within a month have the clicks before, too", async () => {
    const sql = await open();
    const midMonth = naturalDay(Date.UTC(2026, 8, 15, 12), zone);
    const [begin, end] = [midMonth.start - 4 * dayMs, midMonth.start + 3 * dayMs];
    const october = naturalDay(Date.UTC(2026, 9, 2, 12), zone).start;
    const timeOf = (i: number) => (i < 120 ? begin + ((end - begin) * i) / 120 : october + hourMs * (i - 120));
    const own: ClickTenant[] = [];
    for (const slug of ["mine", "theirs"]) {
      const tenant = await createClickTenant(sql, slug, zone);
      const link = newLink();
      const clicks = Array.from(
        { length: 140 },
        (_, i): TestClick => ({
          ...{ link, domain: "", tags: i % 3 === 0 ? ["late"] : [], at: Math.floor(timeOf(i)) },
          ...{ itemised: true, reason: 0, first: i % 6 === 0 ? 3 : 0 },
          facts: Object.fromEntries(dimensions.map((name) => [name, ""])) as TestClick["facts"],
        }),
      );
      await storeClicks(sql, tenant, clicks);
      own.push(tenant);
    }
    const [tenant] = own;
    if (tenant === undefined) throw new Error("no tenant");
    await condense(sql, { now: midMonth.start + hourMs });
    const since = midMonth.start + 12 * hourMs;
    for (const { id } of own) {
      const group = { kind: "tag" as const, name: "late", since };
      await ofTenant(sql.db, id).insertInto("click_groups").values(group).execute();
    }
    await condense(sql, { now: Date.UTC(2026, 10, 2) });
    const read = (params: ReportParams) =>
      reportOn(sql, manualClock(now), tenant.id, { kind: "tag", name: "late" }, parseReport(params, zone, now));
    for (const [first, last] of [
      ["2026-09-01", "2026-09-30"],
      ["2026-09-01", "2026-10-31"],
      ["2026-10-01", "2026-10-31"],
      ["2026-09-10", "2026-09-20"],
    ] as const) {
      const report = await read({ from: first, to: last });
      const expected = tenant.clicks.filter(({ at, tags }) => tags.length > 0 && at >= report.from && at < report.to);
      const { clicks, visitors } = report.totals;
      expect([first, clicks, visitors]).toEqual([
        first,
        expected.length,
        expected.filter((one) => one.first === 3).length,
      ]);
      for (const [place, { start, clicks: counted }] of report.series.entries()) {
        const next = report.series[place + 1]?.start ?? report.to;
        expect([start, counted]).toEqual([start, expected.filter(({ at }) => at >= start && at < next).length]);
      }
    }
    // October only.
    const groups = ofTenant(sql.db, tenant.id).selectFrom("click_groups").select("number").where("name", "=", "late");
    const { number } = await groups.executeTakeFirstOrThrow();
    const months = sql.db.selectFrom("click_rollups").select("start").where("subject", "=", number);
    expect((await months.where("grain", "=", grains.month).execute()).length).toBe(1);
  }, 60_000);

  describe("clicks from another shortener", () => {
    test("are shown apart: by day where days are known, and never in the totals", async () => {
      const sql = await open();
      const [mine, theirs] = [
        await createClickTenant(sql, "mine", "Europe/Berlin"),
        await createClickTenant(sql, "theirs", "UTC"),
      ];
      const link = newLink();
      const day = (date: string) => naturalDay(Date.parse(`${date}T12:00:00Z`), "Europe/Berlin");
      const row = (date: string, clicks: number, visitors: number | null, source = "shlink") => {
        const { start, until: end } = day(date);
        return { link, start, until: end, source, clicks, visitors, is_total: 0 as const };
      };
      const total = { visitors: null, is_total: 1 as const };
      const { start } = day("2026-03-28");
      await ofTenant(sql.db, mine.id)
        .insertInto("click_history")
        .values([
          row("2026-03-28", 5, 3),
          row("2026-03-29", 7, null),
          row("2026-03-29", 2, 1, "yourls"),
          row("2026-04-02", 99, 99),
          { ...total, link, source: "kutt", clicks: 40, start, until: start + 300 * dayMs },
          // Of a link that was created just before the import.
          { ...total, link, source: "bitly", clicks: 7_000, start: start + 7, until: start + 9 },
        ])
        .execute();
      const query = parseReport({ from: "2026-03-28", to: "2026-03-30", interval: "day" }, "Europe/Berlin", now);
      const report = await reportOn(sql, manualClock(now), mine.id, { kind: "tenant" }, query);
      expect(report.totals.clicks).toBe(0);
      expect(report.imported).toMatchObject({ clicks: 7_054, visitors: 4, undated: 7_040 });
      expect(report.imported?.series.map(({ start, clicks, visitors }) => [start, clicks, visitors])).toEqual([
        [day("2026-03-28").start, 5, 3],
        [day("2026-03-29").start, 9, 1],
        [day("2026-03-30").start, 0, 0],
      ]);
      const other = await reportOn(sql, manualClock(now), theirs.id, { kind: "tenant" }, query);
      expect(other.imported).toBeNull();
      const filtered = await reportOn(
        sql,
        manualClock(now),
        mine.id,
        { kind: "tenant" },
        {
          ...query,
          filters: [{ field: "country", how: "is", values: ["DE"] }],
        },
      );
      expect(filtered.imported).toBeNull();
    });
  });
});
