/** The sum of roll-ups that a process keeps is used, and never outdated; and rows of the older form are read like those of today. */
import { beforeEach, describe, expect, test } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import { forgetSums } from "../../src/clicks/reports/condensed-sums.ts";
import { parseReport, type ReportParams } from "../../src/clicks/reports/query.ts";
import { reportOn } from "../../src/clicks/reports/report.ts";
import type { ReportSubject } from "../../src/clicks/reports/scope.ts";
import { readTally, writeTallyText } from "../../src/clicks/rollups/packed.ts";
import { condense } from "../../src/clicks/rollups/rounds.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { ofTenant } from "../../src/sql/tenant-db.ts";
import {
  type ClickTenant,
  createClickTenant,
  newLink,
  randomClicks,
  randomOf,
  storeClicks,
  storeLate,
} from "./click-world.ts";
import { onEachDatabase } from "./databases.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const from = Date.UTC(2026, 9, 28);
const now = from + 6 * dayMs;
const days = { from: "2026-10-28", to: "2026-11-01", interval: "day", limit: 300 } as const;

onEachDatabase(({ openTwo }) => {
  describe("kept sums", () => {
    let sql: Sql;
    let another: Sql;
    let tenants: ClickTenant[];
    const links = Array.from({ length: 4 }, newLink);

    beforeEach(async () => {
      [sql, another] = await openTwo();
      const random = randomOf(3);
      tenants = [await createClickTenant(sql, "one", "UTC"), await createClickTenant(sql, "two", "UTC")];
      for (const tenant of tenants) {
        await storeClicks(sql, tenant, randomClicks(random, { from, until: from + 5 * dayMs, links, count: 300 }));
      }
      await condense(sql, { now });
    });

    const read = (tenant: ClickTenant, params: ReportParams = {}, on = sql) =>
      reportOn(on, systemClock, tenant.id, { kind: "tenant" }, parseReport({ ...days, ...params }, "UTC", now));
    const [one, two] = [() => tenants[0] as ClickTenant, () => tenants[1] as ClickTenant];
    const countOf = ({ clicks }: ClickTenant) => clicks.filter(({ reason }) => reason === 0).length;

    test("answer the next report without the values of its rows, of this tenant only", async () => {
      const first = await read(one());
      expect(first.totals.clicks).toBe(countOf(one()));
      await sql.db
        .updateTable("click_rollups")
        .set({ packed: new Uint8Array([255]) })
        .execute();
      expect(await read(one())).toEqual(first);
      expect((await read(one(), { limit: 2 })).totals).toEqual(first.totals);
      for (const others of [{ traffic: "all" }, { breakdown: "os" }, { from: "2026-10-29" }] as const) {
        await expect(read(one(), others)).rejects.toThrow("unknown form");
      }
      await expect(read(two())).rejects.toThrow("unknown form");
      forgetSums(sql);
      await expect(read(one())).rejects.toThrow("unknown form");
    });

    test("are not used when late clicks have changed a day, before it is condensed again and after", async () => {
      const other = await read(two());
      for (let round = 0; round < 3; round++) {
        expect((await read(one())).totals.clicks).toBe(countOf(one()));
        const late = { from: from + dayMs, until: from + 2 * dayMs, links, count: 7 };
        await storeLate(sql, one(), randomClicks(randomOf(round), late));
        expect((await read(one())).totals.clicks).toBe(countOf(one()));
        await condense(sql, { now });
        const report = await read(one());
        expect(report.totals.clicks).toBe(countOf(one()));
        for (const { values, none, other: rest, notItemised } of Object.values(report.breakdowns)) {
          expect(values.reduce((sum, { clicks }) => sum + clicks, none + rest + notItemised)).toBe(countOf(one()));
        }
      }
      expect(await read(two())).toEqual(other);
    });

    test("and filters have the same from rows of older forms, and from all forms together", async () => {
      const asked = [
        {},
        { traffic: "all" },
        { traffic: "bots" },
        { filter: ["country=country 1"] },
        { filter: ["os~2"] },
        { limit: 1 },
      ] as const;
      const first = await read(one());
      const before = await Promise.all(asked.map((params) => read(one(), params)));
      const rows = await sql.db.selectFrom("click_rollups").selectAll().where("subject", "=", one().number).execute();
      for (const [place, row] of rows.entries()) {
        const { facts } = JSON.parse(writeTallyText(readTally(row, row.start), row.start)) as { facts: string };
        const older = [{ people_bytes: null }, { people_bytes: null, facts, packed: null, names: null }];
        await sql.db
          .updateTable("click_rollups")
          .set(older[place % 2] ?? {})
          .where("subject", "=", row.subject)
          .where("grain", "=", row.grain)
          .where("start", "=", row.start)
          .execute();
        if (place !== 1 && place !== rows.length - 1) continue;
        forgetSums(sql);
        expect(await Promise.all(asked.map((params) => read(one(), params)))).toEqual(before);
      }
      // A process that knows no names yet.
      expect(await read(one(), {}, another)).toEqual(first);
    });
  });

  describe("kept sums of events", () => {
    let sql: Sql;
    let tenant: ClickTenant;
    let time: number;
    const links = Array.from({ length: 3 }, newLink);
    const random = randomOf(5);

    // The database's clock is ahead of all times here.
    beforeEach(async () => {
      [sql] = await openTwo();
      time = systemClock.now() - 3 * hourMs;
      tenant = await createClickTenant(sql, "open", "UTC");
      await storeClicks(sql, tenant, clicksBetween(time - 2 * hourMs, time - 10 * minuteMs, 300));
    });

    const clicksBetween = (from: number, until: number, count: number) =>
      randomClicks(random, { from, until, links, count }).map((click) => ({ ...click, itemised: true }));
    const clock = { ...systemClock, now: () => time };
    const read = async () => {
      const report = await reportOn(sql, clock, tenant.id, { kind: "tenant" }, parseReport({}, "UTC", time));
      for (const { values, none, other, notItemised } of Object.values(report.breakdowns)) {
        expect(values.reduce((sum, { clicks }) => sum + clicks, none + other + notItemised)).toBe(report.totals.clicks);
      }
      return report.totals.clicks;
    };
    const counted = () => tenant.clicks.filter(({ reason }) => reason === 0).length;

    test("are used, and not after a late click", async () => {
      expect(await read()).toBe(counted());
      const before = counted();
      // Such a click is late, and this one does not say so.
      await storeClicks(sql, tenant, clicksBetween(time - hourMs, time - hourMs + 1, 40));
      expect(await read()).toBe(before);
      await storeLate(sql, tenant, clicksBetween(time - hourMs, time - hourMs + 1, 2));
      expect(await read()).toBe(counted());
      expect(await read()).toBe(counted());
    });

    test("have each event once while time goes on, also when two reports are made at once", async () => {
      for (let round = 0; round < 6; round++) {
        await storeClicks(sql, tenant, clicksBetween(time - 50_000, time, 20));
        time += 45_000;
        expect(await Promise.all([read(), read(), read()])).toEqual([counted(), counted(), counted()]);
      }
    });

    test("of a clock that was ahead are not used once it is set back", async () => {
      time += 10 * minuteMs;
      expect(await read()).toBe(counted());
      time -= 10 * minuteMs;
      await storeClicks(sql, tenant, clicksBetween(time - 50_000, time, 20));
      time += 6 * minuteMs;
      expect(await read()).toBe(counted());
    });

    test("end where roll-ups begin", async () => {
      for (let round = 0; round < 5; round++) {
        expect(await read()).toBe(counted());
        time += 20 * minuteMs;
        await storeClicks(sql, tenant, clicksBetween(time - 50_000, time, 120));
        await condense(sql, { now: time });
      }
      expect(await read()).toBe(counted());
    });

    describe("on a day whose night has too few clicks for a roll-up", () => {
      const day = Date.UTC(2026, 9, 20);
      const span = { from: "2026-10-20", to: "2026-10-20" };

      beforeEach(async () => {
        time = day + 15 * hourMs + 25 * minuteMs;
        tenant = await createClickTenant(sql, "night", "UTC");
        const tags = ["late"];
        const between = (from: number, until: number, count: number) =>
          clicksBetween(day + from * hourMs, day + until * hourMs, count).map((click) => ({ ...click, tags }));
        await storeClicks(sql, tenant, [...between(1, 2, 12), ...between(3, 15, 400), ...between(15, 15.3, 60)]);
      });

      const countedFrom = (from: number) =>
        tenant.clicks.filter(({ reason, at }) => reason === 0 && at >= from && at < time).length;
      async function readOf(subject: ReportSubject, params: ReportParams) {
        const report = await reportOn(sql, clock, tenant.id, subject, parseReport(params, "UTC", time));
        return report.totals.clicks;
      }

      test("those of one range are not taken for those of another, which begins after the night", async () => {
        await condense(sql, { now: time });
        const read = (hour: number) =>
          readOf({ kind: "tenant" }, { ...span, from: new Date(day + hour * hourMs).toISOString() });
        for (const hour of [0, 3, 0, 1.5, 3]) {
          expect([hour, await read(hour)]).toEqual([hour, countedFrom(day + hour * hourMs)]);
        }
      });

      test("clicks of before a tag had roll-ups are forgotten with their events", async () => {
        const own = ofTenant(sql.db, tenant.id);
        const group = { kind: "tag" as const, name: "late", since: day + dayMs };
        await own.insertInto("click_groups").values(group).execute();
        time = day + 39 * hourMs;
        await storeClicks(sql, tenant, clicksBetween(day + 38 * hourMs, time - 10 * minuteMs, 60));
        await condense(sql, { now: time });
        const { number } = await own
          .selectFrom("click_groups")
          .select("number")
          .where("name", "=", "late")
          .executeTakeFirstOrThrow();
        await sql.db.deleteFrom("click_rollups").where("subject", "=", number).execute();
        const read = () => readOf({ kind: "tag", name: "late" }, { from: "2026-10-20", to: "2026-10-21" });
        const ofTag = tenant.clicks.filter(({ reason, tags }) => reason === 0 && tags.includes("late"));
        expect(await read()).toBe(ofTag.length);
        await sql.db
          .deleteFrom("clicks")
          .where("tenant", "=", tenant.number)
          .where("day", "=", day / dayMs)
          .execute();
        await own
          .updateTable("click_tenants")
          .set({ events_from: day + dayMs })
          .execute();
        expect(await read()).toBe(ofTag.filter(({ at }) => at >= day + dayMs).length);
      });
    });
  });
});
