/** Condensing: every roll-up equals what it was made from, whatever comes in between. */
import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { dimensions, quarterMs, utcDay } from "../../src/clicks/click.ts";
import { partMs } from "../../src/clicks/event-shelves.ts";
import { grains, longKeptWeek, settledMs } from "../../src/clicks/rollups/periods.ts";
import { purgeClicks } from "../../src/clicks/rollups/purge.ts";
import { forgetVisitors } from "../../src/clicks/rollups/purge-visitors.ts";
import { condense } from "../../src/clicks/rollups/rounds.ts";
import { clicksOf, peopleOf } from "../../src/clicks/rollups/tally.ts";
import { migrate } from "../../src/sql/migrate.ts";
import { createPartitions, partitions } from "../../src/sql/partitions.ts";
import type { LinkNumber } from "../../src/sql/schema.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { acrossTenants, ofTenant } from "../../src/sql/tenant-db.ts";
import {
  type ClickTenant,
  createClickTenant,
  expectedRollups,
  newLink,
  type RollupRow,
  randomClicks,
  randomOf,
  storeClicks,
  storedRollups,
  storeLate,
  type TestClick,
} from "./click-world.ts";
import { onEachDatabase } from "./databases.ts";
import { notOfTwin } from "./two-tenants.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const partitionsOf = async (sql: Sql): Promise<number[]> =>
  sql.dialect === "sqlite" ? [] : (await partitions(sql)).map(({ start }) => start);
const keyOf = ({ subject, grain, start }: RollupRow) => `${subject} ${grain} ${start}`;

onEachDatabase(({ create, openTwo }) => {
  let [sql, other]: Sql[] = [];
  const one = () => sql as Sql;
  let names = 0;
  const tenantIn = (zone: string) => createClickTenant(one(), `clicks-${++names}`, zone);
  const linksOf = (count: number) => Array.from({ length: count }, newLink);

  beforeAll(async () => {
    [sql, other] = await openTwo();
  });

  // The next case would condense its tenants too, which takes longer than its own.
  afterEach(async () => {
    await acrossTenants(one().db).deleteFrom("click_tenants").where(notOfTwin).execute();
  });

  const requireExact = async (tenant: ClickTenant, now: number) =>
    expect(await storedRollups(one(), tenant)).toEqual(expectedRollups(tenant, now - settledMs));

  describe("condensed", () => {
    // Both changes of daylight saving, quarters of an hour, and the day that Lord Howe changes by half an hour.
    const places: [string, number][] = [
      ["UTC", Date.UTC(2026, 9, 30)],
      ["Europe/Berlin", Date.UTC(2026, 2, 28)],
      ["Europe/Berlin", Date.UTC(2026, 9, 24)],
      ["America/New_York", Date.UTC(2026, 9, 30)],
      ["Asia/Kathmandu", Date.UTC(2026, 10, 29)],
      ["Pacific/Kiritimati", Date.UTC(2026, 10, 29)],
      ["Australia/Lord_Howe", Date.UTC(2026, 3, 3)],
      ["America/St_Johns", Date.UTC(2026, 2, 6)],
    ];
    test.each(places)("days and months of two tenants in %s from %p equal their clicks", async (zone, from) => {
      const random = randomOf(from + zone.length);
      const tenants = [await tenantIn(zone), await tenantIn(zone)];
      for (const tenant of tenants) {
        const choices = { from, until: from + 3 * dayMs, links: linksOf(8), count: 100 };
        await storeClicks(one(), tenant, randomClicks(random, choices));
      }
      const now = from + 3 * dayMs + 5 * hourMs;
      await condense(one(), { now });
      for (const tenant of tenants) await requireExact(tenant, now);
      const later = from + 40 * dayMs;
      await condense(one(), { now: later });
      for (const tenant of tenants) {
        await requireExact(tenant, later);
        const expected = expectedRollups(tenant, later);
        expect(expected.some(({ grain }) => grain === grains.month)).toBe(true);
      }
    });

    test("quarters of an hour are those with 100 clicks, until their three hours are over and have 20", async () => {
      const random = randomOf(7);
      const tenant = await tenantIn("Asia/Kolkata");
      const from = Date.UTC(2026, 6, 7, 12);
      const [busy, quiet] = [linksOf(1), linksOf(40)];
      await storeClicks(one(), tenant, randomClicks(random, { from, until: from + hourMs, links: busy, count: 620 }));
      await storeClicks(
        one(),
        tenant,
        randomClicks(random, { from, until: from + 3 * hourMs, links: quiet, count: 1_600 }),
      );
      const partsAt = async (now: number) => {
        await condense(one(), { now });
        await requireExact(tenant, now);
        return (await storedRollups(one(), tenant)).filter(({ grain }) => grain === grains.part);
      };
      await partsAt(from + 2.25 * hourMs + settledMs);
      const quarters = await partsAt(from + 2.5 * hourMs + settledMs);
      expect(new Set(quarters.map(({ start, until }) => until - start))).toEqual(new Set([quarterMs]));
      expect(quarters.filter(({ subject }) => subject === busy[0]).map(({ start }) => start)).toEqual(
        [0, 1, 2, 3].map((place) => from + place * quarterMs),
      );
      expect(quarters.some(({ subject }) => quiet.includes(subject as (typeof quiet)[number]))).toBe(false);
      const parts = await partsAt(from + 3 * hourMs + settledMs);
      expect(new Set(parts.map(({ start, until }) => until - start))).toEqual(new Set([partMs]));
      expect(parts.some(({ subject }) => quiet.includes(subject as (typeof quiet)[number]))).toBe(true);
    });

    test("weeks are those with 100 clicks, from Monday, and those with 1,000 are kept as long as their days", async () => {
      const tenant = await tenantIn("America/New_York");
      const from = Date.UTC(2026, 9, 26, 4); // a Monday there; clocks change on the Sunday
      const [busy, quiet] = [linksOf(1), linksOf(1)];
      const [week, count] = [{ from, until: from + 7 * dayMs }, 150];
      await storeClicks(one(), tenant, randomClicks(randomOf(8), { ...week, links: busy, count }));
      await storeClicks(one(), tenant, randomClicks(randomOf(9), { ...week, links: quiet, count: 90 }));
      const weeksAt = async (now: number) => {
        await condense(one(), { now });
        const rows = await storedRollups(one(), tenant);
        return rows.filter(({ grain }) => grain === grains.week);
      };
      expect(await weeksAt(from + 7 * dayMs)).toEqual([]);
      const now = from + 7 * dayMs + hourMs + settledMs;
      const weeks = await weeksAt(now);
      await requireExact(tenant, now);
      expect(weeks.some(({ subject }) => subject === busy[0])).toBe(true);
      expect(weeks.some(({ subject }) => subject === quiet[0])).toBe(false);
      expect(weeks.every(({ start, until }) => start === from && until === from + 7 * dayMs + hourMs)).toBe(true);
      const ofBusy = one()
        .db.updateTable("click_rollups")
        .where("subject", "=", busy[0] as LinkNumber);
      await ofBusy.where("grain", "=", grains.week).set({ itemised: longKeptWeek }).execute();
      const later = from + 110 * dayMs;
      await condense(one(), { now: later });
      await purgeClicks(one(), later);
      expect((await weeksAt(later)).map(({ subject }) => subject)).toEqual(busy);
      await purgeClicks(one(), from + 401 * dayMs);
      expect(await weeksAt(later)).toEqual([]);
    });

    test("parts of a day and weeks are deleted before days and months", async () => {
      const tenant = await tenantIn("America/New_York");
      const from = Date.UTC(2026, 9, 26, 4);
      const clicks = { from, until: from + 7 * dayMs, links: linksOf(1), count: 150 };
      await storeClicks(one(), tenant, randomClicks(randomOf(8), clicks));
      const later = from + 110 * dayMs;
      await condense(one(), { now: later });
      await purgeClicks(one(), later);
      const left = await storedRollups(one(), tenant);
      const kept = [grains.day, grains.month, grains.quarterYear];
      expect(new Set(left.map(({ grain }) => grain))).toEqual(new Set<number>(kept));
    });

    test("quarter years are those with 100 clicks, of whole months, when no click can come any more", async () => {
      const tenant = await tenantIn("America/New_York");
      const [busy, quiet] = [linksOf(1), linksOf(1)];
      const [july, september, over] = [6, 8, 9].map((month) => Date.UTC(2026, month, 1, 4)) as [number, number, number];
      // None in August.
      for (const [from, until] of [[july, july + 31 * dayMs] as const, [september, over] as const]) {
        await storeClicks(one(), tenant, randomClicks(randomOf(from), { from, until, links: busy, count: 80 }));
        await storeClicks(one(), tenant, randomClicks(randomOf(until), { from, until, links: quiet, count: 40 }));
      }
      // They are made with the next day.
      const after = { from: over + 2 * dayMs, until: over + 3 * dayMs, links: quiet, count: 5 };
      await storeClicks(one(), tenant, randomClicks(randomOf(over), after));
      const quarterYearsAt = async (now: number) => {
        await condense(one(), { now });
        await requireExact(tenant, now);
        return (await storedRollups(one(), tenant)).filter(({ grain }) => grain === grains.quarterYear);
      };
      expect(await quarterYearsAt(over + 3 * dayMs)).toEqual([]);
      const now = over + 3 * dayMs + settledMs;
      const made = await quarterYearsAt(now);
      expect(made.some(({ subject }) => subject === busy[0])).toBe(true);
      expect(made.some(({ subject }) => subject === quiet[0])).toBe(false);
      expect(made.every(({ start, until }) => start === july && until === over)).toBe(true);
    });

    test("quarter years have no part of a month, also if the zone was changed within them", async () => {
      const tenant = await tenantIn("Pacific/Kiritimati");
      const links = linksOf(2);
      const from = Date.UTC(2026, 5, 25);
      const settings = () => ofTenant(one().db, tenant.id).updateTable("click_tenants");
      const zones = ["Pacific/Kiritimati", "Pacific/Midway", "Asia/Kathmandu", "Pacific/Kiritimati", "UTC"];
      for (const [n, zone] of zones.entries()) {
        await settings().set({ zone }).execute();
        // Days of two zones do not overlap.
        const some = { from: from + (45 * n + 2) * dayMs, until: from + 45 * (n + 1) * dayMs, links, count: 300 };
        await storeClicks(one(), { ...tenant, zone }, randomClicks(randomOf(n), some));
        await condense(one(), { now: some.until });
      }
      const rows = await storedRollups(one(), tenant);
      const quarterYears = rows.filter(({ grain }) => grain === grains.quarterYear);
      expect(new Set(quarterYears.map(({ start }) => start)).size).toBe(2);
      const months = rows.filter(({ grain }) => grain === grains.month);
      for (const { subject, start, until, tally } of quarterYears) {
        const touched = months.filter((row) => row.subject === subject && row.start < until && row.until > start);
        expect(touched.filter((month) => month.start < start || month.until > until)).toEqual([]);
        expect(touched.length).toBeGreaterThan(1);
        expect(tally.reasons).toEqual(
          tally.reasons.map((_, n) => touched.reduce((sum, month) => sum + (month.tally.reasons[n] ?? 0), 0)),
        );
      }
    });

    test("a link with more clicks than a page holds is counted in parts", async () => {
      const tenant = await tenantIn("Europe/Berlin");
      const from = Date.UTC(2026, 6, 7, 22);
      const clicks = randomClicks(randomOf(8), { from, until: from + dayMs, links: linksOf(1), count: 2_500 });
      await storeClicks(one(), tenant, clicks);
      await condense(one(), { now: from + 2 * dayMs });
      await requireExact(tenant, from + 2 * dayMs);
    });

    test("values beyond 300 are summed up as other, and the row still adds up", async () => {
      const tenant = await tenantIn("UTC");
      const from = Date.UTC(2026, 6, 7);
      const clicks = randomClicks(randomOf(9), { from, until: from + dayMs, links: linksOf(2), count: 800 }).map(
        (click, place): TestClick => ({ ...click, reason: 0, facts: { ...click.facts, referrer: `r${place % 450}` } }),
      );
      await storeClicks(one(), tenant, clicks);
      await condense(one(), { now: from + 2 * dayMs });
      await requireExact(tenant, from + 2 * dayMs);
      const rows = await storedRollups(one(), tenant);
      const day = rows.find(({ subject, grain }) => subject === tenant.number && grain === grains.day);
      const referrers = [...(day?.tally.people.get("referrer") ?? [])];
      expect(referrers).toHaveLength(301);
      expect(referrers.reduce((sum, [, { clicks: count }]) => sum + count, 0)).toBe(800);
      expect(day && clicksOf(day.tally)).toBe(800);
    });

    test("weeks, months and quarter years of rows with many values are added up in parts", async () => {
      const tenant = await tenantIn("UTC");
      const [from, days] = [Date.UTC(2026, 7, 20), 14];
      const [busy, ...quiet] = linksOf(6) as [LinkNumber, ...LinkNumber[]];
      const manyValues = (click: TestClick, place: number): TestClick => ({
        ...click,
        facts: Object.fromEntries(dimensions.map((name) => [name, `${name} ${place % 290}`])) as TestClick["facts"],
      });
      const all = { from, until: from + days * dayMs };
      const many = randomClicks(randomOf(21), { ...all, links: [busy], count: 3_600 });
      await storeClicks(one(), tenant, [
        ...many.map((click, place) => ({ ...manyValues(click, place), reason: 0, itemised: true })),
        ...randomClicks(randomOf(22), { ...all, links: quiet, count: 700 }),
      ]);
      const now = from + 60 * dayMs;
      // Parts of a day are made within some days.
      for (const at of [from + 7 * dayMs, all.until + settledMs, now]) await condense(one(), { now: at });
      await requireExact(tenant, now);
      const rows = one().db.selectFrom("click_rollups").select(["grain", "packed"]).where("subject", "=", busy);
      const ofDays = await rows.where("grain", "=", grains.day).execute();
      // More than is read at once.
      expect(ofDays.reduce((sum, { packed }) => sum + (packed?.length ?? 0), 0)).toBeGreaterThan(300_000);
      const made = new Set((await storedRollups(one(), tenant)).map(({ grain }) => grain));
      expect(made.has(grains.quarterYear)).toBe(true);
    }, 60_000);

    test("links beyond 300 are summed up as other in groups, those with the most clicks are exact", async () => {
      const tenant = await tenantIn("UTC");
      const from = Date.UTC(2026, 6, 7);
      // More than are held at a time; the busy ones are anywhere among them.
      const links = linksOf(1_100);
      const some = { from, until: from + dayMs, links, count: 1_500 };
      const busy = { ...some, links: links.filter((_, place) => place % 7 === 3), count: 900 };
      const random = randomOf(11);
      await storeClicks(one(), tenant, [...randomClicks(random, some), ...randomClicks(random, busy)]);
      await condense(one(), { now: from + 2 * dayMs });
      await requireExact(tenant, from + 2 * dayMs);
      const rows = await storedRollups(one(), tenant);
      const day = rows.find(({ subject, grain }) => subject === tenant.number && grain === grains.day);
      const people = [...(day?.tally.people.get("link") ?? [])];
      expect(people).toHaveLength(301);
      expect(people.reduce((sum, [, { clicks }]) => sum + clicks, 0)).toBe(day ? peopleOf(day.tally) : 0);
      const ofLinks = rows.filter(({ subject }) => subject > 0);
      expect(ofLinks.filter(({ tally }) => tally.people.has("link") || tally.rest.has("link"))).toEqual([]);
    }, 60_000);

    test("what a clock was ahead for is taken back, and made again when it has ended", async () => {
      const random = randomOf(19);
      // Alone in its database: others were condensed later than this one's now.
      const alone = (await openTwo())[0] as Sql;
      const tenant = await createClickTenant(alone, "ahead", "Europe/Berlin");
      const [from, links] = [Date.UTC(2026, 7, 30), linksOf(6)];
      const clicksUntil = (start: number, until: number) =>
        randomClicks(random, { from: start, until, links, count: 300 });
      const noon = Date.UTC(2026, 8, 30, 12);
      await storeClicks(alone, tenant, clicksUntil(from, noon));
      await condense(alone, { now: noon });
      // For a while it is four days later, and September is over.
      await condense(alone, { now: noon + 4 * dayMs });
      const made = new Set((await storedRollups(alone, tenant)).map(({ grain }) => grain));
      expect(made.has(grains.month) && made.has(grains.quarterYear)).toBe(true);
      await condense(alone, { now: noon + 60_000 });
      expect(await storedRollups(alone, tenant)).toEqual(expectedRollups(tenant, noon - settledMs));
      await storeClicks(alone, tenant, clicksUntil(noon, noon + 20 * hourMs));
      for (const now of [noon + hourMs, noon + 30 * hourMs, noon + 10 * dayMs]) {
        await condense(alone, { now });
        expect(await storedRollups(alone, tenant)).toEqual(expectedRollups(tenant, now - settledMs));
      }
    });

    test("a quarter year to which clicks may come again is taken back once, even if it has no row", async () => {
      const alone = (await openTwo())[0] as Sql;
      const tenant = await createClickTenant(alone, "back", "UTC");
      const [from, over] = [Date.UTC(2026, 7, 30), Date.UTC(2026, 9, 1)];
      await storeClicks(alone, tenant, randomClicks(randomOf(20), { from, until: over, links: linksOf(2), count: 60 }));
      await condense(alone, { now: over + 4 * dayMs });
      for (let run = 0; run < 3; run++) await condense(alone, { now: over + dayMs });
      const row = ofTenant(alone.db, tenant.id).selectFrom("click_tenants").select(["late", "quarter_years_until"]);
      expect(await row.executeTakeFirst()).toEqual({ late: 1, quarter_years_until: Date.UTC(2026, 6, 1) });
      await condense(alone, { now: over + 5 * dayMs });
      expect(await storedRollups(alone, tenant)).toEqual(expectedRollups(tenant, over + 5 * dayMs - settledMs));
    });

    test("nothing that has not ended two and a half minutes ago", async () => {
      const tenant = await tenantIn("UTC");
      const from = Date.UTC(2026, 6, 7);
      await storeClicks(
        one(),
        tenant,
        randomClicks(randomOf(10), { from, until: from + dayMs, links: linksOf(2), count: 20 }),
      );
      await condense(one(), { now: from + dayMs + settledMs - 1 });
      expect(await storedRollups(one(), tenant)).toEqual([]);
      await condense(one(), { now: from + dayMs + settledMs });
      expect((await storedRollups(one(), tenant)).length).toBeGreaterThan(0);
    });
  });

  /** Three days in two zones, with a busy hour. */
  async function filled(seed: number): Promise<{ tenants: ClickTenant[]; from: number; now: number }> {
    const random = randomOf(seed);
    const from = Date.UTC(2026, 10, 29);
    const tenants = [await tenantIn("Europe/Berlin"), await tenantIn("America/Sao_Paulo")];
    for (const tenant of tenants) {
      const links = linksOf(60);
      await storeClicks(one(), tenant, randomClicks(random, { from, until: from + 3 * dayMs, links, count: 250 }));
      const busy = { from: from + 2.5 * dayMs, until: from + 2.5 * dayMs + hourMs, links, count: 520 };
      await storeClicks(one(), tenant, randomClicks(random, busy));
    }
    return { tenants, from, now: from + 3 * dayMs + 6 * hourMs };
  }

  test("a run that fails in any of its transactions leaves nothing wrong behind, and the next one completes it", async () => {
    const { tenants, now } = await filled(11);
    let runs = 0;
    for (let allowed = 1; ; allowed = allowed * 2 + 1) {
      let left = allowed;
      const failing: Sql = {
        ...one(),
        transaction: (work) =>
          one().transaction(async (trx) => {
            const result = await work(trx);
            if (left-- <= 0) throw new Error("killed");
            return result;
          }),
      };
      const failed = await condense(failing, { now }).then(
        () => false,
        () => true,
      );
      runs++;
      for (const tenant of tenants) {
        const expected = new Map(expectedRollups(tenant, now - settledMs).map((row) => [keyOf(row), row]));
        for (const row of await storedRollups(one(), tenant))
          expect(row).toEqual(expected.get(keyOf(row)) as RollupRow);
      }
      if (!failed) break;
    }
    expect(runs).toBeGreaterThan(3);
    for (const tenant of tenants) await requireExact(tenant, now);
  }, 60_000);

  test("a process that is killed in the middle of a transaction leaves complete rows, and the next one completes them", async () => {
    const place = await create();
    const here = place.connect();
    await migrate(here);
    const tenant = await createClickTenant(here, "killed", "Europe/Berlin");
    const from = Date.UTC(2026, 10, 29);
    const now = from + 5 * dayMs;
    const clicks = randomClicks(randomOf(17), { from, until: from + 4 * dayMs, links: linksOf(250), count: 600 });
    await storeClicks(
      here,
      tenant,
      clicks.map((click) => ({ ...click, itemised: true })),
    );
    const expected = new Map(expectedRollups(tenant, now - settledMs).map((row) => [keyOf(row), row]));
    let found: RollupRow[] = [];
    for (const transactions of [2, 6]) {
      const child = Bun.spawn(
        [
          process.execPath,
          join(import.meta.dir, "condense-process.ts"),
          place.address,
          String(now),
          String(transactions),
        ],
        { stdout: "ignore", stderr: "inherit" },
      );
      await child.exited;
      expect(child.signalCode).toBe("SIGKILL");
      found = await storedRollups(here, tenant);
      for (const row of found) expect(row).toEqual(expected.get(keyOf(row)) as RollupRow);
    }
    expect(found.length).toBeGreaterThan(0);
    expect(found.length).toBeLessThan(expected.size);
    await condense(here, { now });
    expect(await storedRollups(here, tenant)).toEqual([...expected.values()]);
  }, 60_000);

  test("late clicks that come while periods are condensed are in them in the end", async () => {
    const { tenants, from, now } = await filled(12);
    const random = randomOf(13);
    async function late(on: Sql): Promise<void> {
      for (let batch = 0; batch < 12; batch++) {
        for (const tenant of tenants) {
          const links = [...tenant.clicks.map(({ link }) => link).slice(0, 20), newLink()];
          const choices = { from: from + dayMs, until: from + 3 * dayMs, links, count: 3 };
          await storeLate(on, tenant, randomClicks(random, choices));
        }
      }
    }
    async function rounds(): Promise<void> {
      for (let round = 0; round < 8; round++) await condense(one(), { now });
    }
    await Promise.all([late(other as Sql), rounds()]);
    await condense(one(), { now });
    await condense(one(), { now });
    for (const tenant of tenants) await requireExact(tenant, now);
  });

  test("late clicks between the reading of a page and its transaction are in the roll-ups in the end", async () => {
    const tenant = await tenantIn("Europe/Berlin");
    const random = randomOf(18);
    const from = Date.UTC(2026, 11, 10);
    const links = linksOf(3);
    await storeClicks(one(), tenant, randomClicks(random, { from, until: from + 2 * dayMs, links, count: 60 }));
    const now = from + 3 * dayMs;
    const late = () => randomClicks(random, { from: from + dayMs, until: from + dayMs + hourMs, links, count: 2 });
    for (let place = 1; place <= 6; place++) {
      await storeLate(one(), tenant, late()); // so that the day is condensed again
      let transactions = 0;
      const interrupted: Sql = {
        ...one(),
        async transaction(work) {
          if (++transactions === place) await storeLate(other as Sql, tenant, late());
          return one().transaction(work);
        },
      };
      await condense(interrupted, { now });
      await condense(one(), { now });
      await requireExact(tenant, now);
    }
  });

  test("late clicks of a condensed month bring back its day and month with them", async () => {
    const tenant = await tenantIn("America/Sao_Paulo");
    const random = randomOf(14);
    const from = Date.UTC(2026, 4, 30);
    const links = linksOf(3);
    await storeClicks(one(), tenant, randomClicks(random, { from, until: from + 2.5 * dayMs, links, count: 60 }));
    const now = Date.UTC(2026, 5, 2, 12);
    await condense(one(), { now });
    const grainsOf = async (): Promise<Set<number>> =>
      new Set((await storedRollups(one(), tenant)).map(({ grain }) => grain));
    expect(await grainsOf()).toEqual(new Set<number>([grains.day, grains.month]));
    const before = { from: Date.UTC(2026, 5, 1, 1), until: Date.UTC(2026, 5, 1, 2), links, count: 5 };
    await storeLate(one(), tenant, randomClicks(random, before)); // still May in São Paulo
    await condense(one(), { now });
    await requireExact(tenant, now);
  });

  test("a tenant whose clicks cannot be read does not keep the others from being condensed", async () => {
    const { tenants, now } = await filled(15);
    const broken = await tenantIn("UTC");
    const at = Date.UTC(2026, 10, 29, 3);
    const [click] = randomClicks(randomOf(16), { from: at, until: at + 1, links: linksOf(1), count: 1 });
    await storeClicks(one(), broken, [{ ...(click as TestClick), itemised: false }]);
    await one().db.updateTable("click_overflow").set({ tally: "{" }).where("tenant", "=", broken.number).execute();
    await expect(condense(one(), { now })).rejects.toThrow();
    for (const tenant of tenants) await requireExact(tenant, now);
    await one().db.deleteFrom("click_overflow").where("tenant", "=", broken.number).execute();
  });

  describe("purged", () => {
    const from = Date.UTC(2026, 0, 3);

    // Months later, what the cases above have left would be condensed too.
    beforeAll(async () => {
      [sql, other] = await openTwo();
    });

    const countOf = async (table: "clicks" | "click_overflow", tenant: ClickTenant) =>
      (await one().db.selectFrom(table).select("day").where("tenant", "=", tenant.number).execute()).map(
        ({ day }) => day,
      );

    async function withDays(count: number, zone = "America/Los_Angeles"): Promise<ClickTenant> {
      const tenant = await tenantIn(zone);
      const choices = { from, until: from + count * dayMs, links: linksOf(5), count: 40 * count };
      await storeClicks(one(), tenant, randomClicks(randomOf(100 + count), choices));
      return tenant;
    }

    test("are events older than the tenant's days, and nothing that its roll-ups need", async () => {
      const [tenant, other] = [await withDays(20), await withDays(20)];
      await ofTenant(one().db, tenant.id).updateTable("click_tenants").set({ event_days: 10 }).execute();
      const now = from + 21 * dayMs;
      await condense(one(), { now });
      const before = await storedRollups(one(), tenant);
      await purgeClicks(one(), now);
      const cut = utcDay(now - 10 * dayMs);
      const kept = [...(await countOf("clicks", tenant)), ...(await countOf("click_overflow", tenant))];
      expect(Math.min(...kept)).toBe(cut);
      expect(kept).toHaveLength(
        tenant.clicks.filter(({ at, itemised }) => itemised && utcDay(at) >= cut).length +
          (await countOf("click_overflow", tenant)).length,
      );
      expect(await countOf("clicks", other)).toHaveLength(other.clicks.filter(({ itemised }) => itemised).length);
      expect((await storedRollups(one(), tenant)).filter(({ grain }) => grain !== grains.part)).toEqual(
        before.filter(({ grain }) => grain !== grains.part),
      );
    });

    test("are whole weeks of PostgreSQL that no tenant keeps, and no others", async () => {
      const place = await create();
      const here = place.connect();
      await migrate(here);
      const [first, second] = [
        await createClickTenant(here, "first", "UTC"),
        await createClickTenant(here, "second", "UTC"),
      ];
      await createPartitions(here, utcDay(from));
      await createPartitions(here, utcDay(from + 30 * dayMs));
      const before = await partitionsOf(here);
      for (const tenant of [first, second]) {
        const choices = { from, until: from + 35 * dayMs, links: linksOf(3), count: 100 };
        await storeClicks(here, tenant, randomClicks(randomOf(21), choices));
        await ofTenant(here.db, tenant.id)
          .updateTable("click_tenants")
          .set({ event_days: tenant === first ? 10 : 20 })
          .execute();
      }
      const now = from + 40 * dayMs;
      await purgeClicks(here, now);
      expect(await partitionsOf(here)).toEqual(before.filter((start) => start + 7 > utcDay(from))); // nothing is condensed yet
      await condense(here, { now });
      await purgeClicks(here, now);
      const cut = utcDay(now - 20 * dayMs);
      expect(await partitionsOf(here)).toEqual(before.filter((start) => start + 7 > cut));
      const left = await here.db.selectFrom("clicks").select("at").where("tenant", "=", second.number).execute();
      const kept = second.clicks.filter(({ at, itemised }) => itemised && utcDay(at) >= cut).map(({ at }) => at);
      expect(left.map(({ at }) => at).toSorted()).toEqual(kept.toSorted());
    });

    test("are no events of days that are not condensed, however old", async () => {
      const tenant = await withDays(3);
      await purgeClicks(one(), from + 300 * dayMs);
      expect(await countOf("clicks", tenant)).toHaveLength(tenant.clicks.filter(({ itemised }) => itemised).length);
      await condense(one(), { now: from + 300 * dayMs });
      await requireExact(tenant, from + 300 * dayMs);
      await purgeClicks(one(), from + 300 * dayMs);
      expect(await countOf("clicks", tenant)).toEqual([]);
      expect(await countOf("click_overflow", tenant)).toEqual([]);
    });

    test("are no events of the last four days, because late clicks may change their roll-ups", async () => {
      const tenant = await withDays(6, "UTC");
      await ofTenant(one().db, tenant.id).updateTable("click_tenants").set({ event_days: 0 }).execute();
      const now = from + 6 * dayMs + hourMs;
      await condense(one(), { now });
      await purgeClicks(one(), now);
      expect(Math.min(...(await countOf("clicks", tenant)))).toBe(utcDay(now) - 4);
      const late = { from: now - 47 * hourMs, until: now - 46 * hourMs, links: linksOf(1), count: 3 };
      await storeLate(one(), tenant, randomClicks(randomOf(5), late));
      await condense(one(), { now });
      await requireExact(tenant, now);
    });

    test("are days after 400 days if their month exists, and months never", async () => {
      const tenant = await withDays(3);
      const now = from + 402 * dayMs;
      await condense(one(), { now: from + 60 * dayMs });
      const months = (await storedRollups(one(), tenant)).filter(({ grain }) => grain === grains.month);
      const first = (await storedRollups(one(), tenant)).find(({ grain }) => grain === grains.day);
      await one()
        .db.deleteFrom("click_rollups")
        .where("subject", "=", first?.subject as LinkNumber)
        .where("grain", "=", grains.month)
        .execute();
      await purgeClicks(one(), now);
      const left = await storedRollups(one(), tenant);
      expect(left.filter(({ grain }) => grain === grains.month)).toEqual(
        months.filter(({ subject }) => subject !== first?.subject),
      );
      const days = left.filter(({ grain }) => grain === grains.day);
      expect(days.every(({ subject, start }) => subject === first?.subject || start >= now - 400 * dayMs)).toBe(true);
      expect(days.some(({ subject, start }) => subject === first?.subject && start < now - 400 * dayMs)).toBe(true);
    });

    test("are salts and hashes of visitors an hour after their day, and not before", async () => {
      const tenant = await tenantIn("UTC");
      const rows = [0, 1].map((place) => ({
        ...{ tenant: tenant.number, salt: "secret" },
        ...{ start: from + place * dayMs, until: from + (place + 1) * dayMs },
      }));
      await one().db.insertInto("click_days").values(rows).execute();
      const seen = rows.flatMap(({ until }) => [1, 2, 3].map((hash) => ({ until, subject: tenant.number, hash })));
      await one().db.insertInto("click_visitors").values(seen).execute();
      const left = async () => ({
        salts: (
          await one()
            .db.selectFrom("click_days")
            .select("salt")
            .where("tenant", "=", tenant.number)
            .orderBy("start")
            .execute()
        ).map(({ salt }) => salt),
        hashes: (
          await one().db.selectFrom("click_visitors").select("hash").where("subject", "=", tenant.number).execute()
        ).length,
      });
      await forgetVisitors(one(), from + dayMs + hourMs);
      expect(await left()).toEqual({ salts: ["secret", "secret"], hashes: 6 });
      await forgetVisitors(one(), from + dayMs + hourMs + 1);
      expect(await left()).toEqual({ salts: [null, "secret"], hashes: 3 });
    });

    test("are values that are no longer used by any event", async () => {
      const tenant = await withDays(2, "UTC");
      const valuesOf = async () =>
        (await one().db.selectFrom("click_values").select("id").where("tenant", "=", tenant.number).execute()).length;
      await one()
        .db.updateTable("click_values")
        .set({ seen_day: utcDay(from) + 1 })
        .where("tenant", "=", tenant.number)
        .execute();
      const all = await valuesOf();
      await purgeClicks(one(), from + 3 * dayMs);
      expect(await valuesOf()).toBe(all);
      await condense(one(), { now: from + 300 * dayMs });
      await purgeClicks(one(), from + 300 * dayMs);
      await purgeClicks(one(), from + 300 * dayMs);
      expect(await valuesOf()).toBe(0);
      await requireExact(tenant, from + 300 * dayMs);
      const fixed = await one().db.selectFrom("click_values").select("id").where("id", "=", 1).execute();
      expect(fixed).toHaveLength(1);
    });

    test("is everything of a link that was deleted, 400 days after its last click", async () => {
      const tenant = await withDays(2);
      const link = tenant.clicks[0]?.link as LinkNumber;
      const own = ofTenant(one().db, tenant.id);
      const history = { link, start: from, until: from + dayMs, source: "shlink", clicks: 3, visitors: null };
      await own.insertInto("click_history").values(history).execute();
      await condense(one(), { now: from + 60 * dayMs });
      const left = async () => [
        (await one().db.selectFrom("click_rollups").select("start").where("subject", "=", link).execute()).length > 0,
        (await own.selectFrom("click_links").select("link").where("link", "=", link).execute()).length > 0,
        (await own.selectFrom("click_history").select("link").where("link", "=", link).execute()).length > 0,
      ];
      await purgeClicks(one(), from + 300 * dayMs);
      expect(await left()).toEqual([true, true, true]);
      await purgeClicks(one(), from + 403 * dayMs);
      expect(await left()).toEqual([false, false, false]);
      const groups = (await storedRollups(one(), tenant)).filter(({ subject }) => subject === tenant.number);
      expect(groups.reduce((sum, { tally }) => sum + clicksOf(tally), 0)).toBe(tenant.clicks.length);
    });
  });
});
