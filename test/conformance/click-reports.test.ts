/** Reports against a slow exact reckoning, before and after condensing, of two tenants that share every name. */
import { beforeAll, describe, expect, test } from "bun:test";
import { dayMs, systemClock } from "../../src/base/clock.ts";
import { Problem } from "../../src/base/errors.ts";
import { type LinkId, newId } from "../../src/base/ids.ts";
import { createPasswords } from "../../src/base/passwords.ts";
import {
  type BreakdownName,
  breakdownNames,
  type Dimension,
  dimensions,
  firstToLink,
  firstToTenant,
  isPerson,
  none,
  other,
  tooLate,
  utcDay,
} from "../../src/clicks/click.ts";
import { everyLevel, shelvesOf } from "../../src/clicks/event-shelves.ts";
import { forgetSums } from "../../src/clicks/reports/condensed-sums.ts";
import { chooseSample, countEvents, countUpTo } from "../../src/clicks/reports/events.ts";
import { type ClickFilter, parseFilters } from "../../src/clicks/reports/filters.ts";
import { itemisedTally } from "../../src/clicks/reports/gather.ts";
import { type ClickPlace, listClicks } from "../../src/clicks/reports/list.ts";
import {
  comparedSpan,
  comparisons,
  intervalsMost,
  parseReport,
  type ReportParams,
  type ReportQuery,
} from "../../src/clicks/reports/query.ts";
import { type ClickReport, reportOn } from "../../src/clicks/reports/report.ts";
import { type ReportSubject, scopeOf } from "../../src/clicks/reports/scope.ts";
import { startsWithin } from "../../src/clicks/reports/zones.ts";
import { readTally, writeTally } from "../../src/clicks/rollups/packed.ts";
import { condense } from "../../src/clicks/rollups/rounds.ts";
import { clicksOf } from "../../src/clicks/rollups/tally.ts";
import { createLinks } from "../../src/links/links.ts";
import { hitReasons } from "../../src/redirect/decide.ts";
import type { LinkNumber } from "../../src/sql/schema.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { ofTenant } from "../../src/sql/tenant-db.ts";
import { createTenants } from "../../src/tenants/tenants.ts";
import { byCommand } from "../ground/actors.ts";
import { linkStores } from "../ground/links.ts";
import {
  type ClickTenant,
  createClickTenant,
  newLink,
  randomClicks,
  randomOf,
  storeClicks,
  type TestClick,
} from "./click-world.ts";
import { onEachDatabase } from "./databases.ts";

const zones = [
  "UTC",
  "Europe/Berlin",
  "Asia/Kathmandu",
  "America/St_Johns",
  "Pacific/Kiritimati",
  "Australia/Lord_Howe",
];
const linksEach = 3;

interface TestLink {
  readonly id: LinkId;
  readonly code: string;
  readonly title: string;
  readonly number: LinkNumber;
}

interface World {
  readonly tenant: ClickTenant;
  readonly links: readonly TestLink[];
}

function belongs({ links }: World, subject: ReportSubject, click: TestClick): boolean {
  switch (subject.kind) {
    case "tenant":
      return true;
    case "link":
      return links.some(({ id, number }) => id === subject.id && number === click.link);
    case "domain":
      return click.domain === subject.name;
    case "tag":
      return click.tags.includes(subject.name);
  }
}

function valuesOf({ links }: World, field: ClickFilter["field"], click: TestClick): readonly string[] {
  if (field === "link") return links.filter(({ number }) => number === click.link).map(({ code }) => code);
  if (field === "domain") return [click.domain];
  if (field === "tag") return click.tags.length === 0 ? [none] : click.tags;
  return field === "reason" ? [hitReasons[click.reason] ?? ""] : [click.facts[field]];
}

function passes(world: World, filters: readonly ClickFilter[], click: TestClick): boolean {
  return filters.every(({ field, how, values }) => {
    const own = valuesOf(world, field, click);
    if (how === "contains") {
      // "Other" stands for many values, and is not searched.
      return values.some((value) =>
        own.some((one) => one !== other && one.toLowerCase().includes(value.toLowerCase())),
      );
    }
    return own.some((one) => values.includes(one)) === (how === "is");
  });
}

/** Click by click. */
function reckon(world: World, subject: ReportSubject, query: ReportQuery) {
  const { from, to, traffic, filters, limit } = query;
  const bit = subject.kind === "link" ? firstToLink : firstToTenant;
  const isFirst = ({ reason, first }: TestClick) => isPerson(reason) && first !== tooLate && (first & bit) !== 0;
  const isShown = ({ reason }: TestClick) => traffic === "all" || isPerson(reason) === (traffic === "people");
  const inRange = world.tenant.clicks.filter((one) => belongs(world, subject, one) && one.at >= from && one.at < to);
  // One filter on one dimension needs no single clicks, except for what is known about other dimensions.
  const dimension = filteredDimension(filters);
  const isKnown = ({ itemised, facts }: TestClick) => (dimension === undefined ? itemised : facts[dimension] !== other);
  const known = filters.length === 0 ? inRange : inRange.filter(isKnown);
  const found = known.filter((one) => passes(world, filters, one));
  const clicks = found.filter(isShown);
  const isUnknown = ({ itemised, reason }: TestClick) => dimension !== undefined && !itemised && !isPerson(reason);
  const starts = startsWithin(query.zone, query.interval, from, to, intervalsMost);
  const breakdown = (name: BreakdownName) => {
    const some = clicks.filter(({ itemised }) => dimension === undefined || dimension === name || itemised);
    const groups = [...Map.groupBy(some, ({ link, facts }) => (name === "link" ? `${link}` : facts[name]))];
    const sizeOf = (value: string) => groups.find(([one]) => one === value)?.[1].length ?? 0;
    const values = groups
      .filter(([value]) => value !== none && value !== other)
      .map(([value, some]) => ({ value, clicks: some.length, visitors: some.filter(isFirst).length }))
      .toSorted((a, b) => b.clicks - a.clicks || (a.value < b.value ? -1 : 1));
    const beyond = values.slice(limit).reduce((sum, one) => sum + one.clicks, 0);
    const top = values.slice(0, limit);
    return {
      values: name === "link" ? top.map((one) => ({ ...named(world, one), ...before(one.value) })) : top,
      none: sizeOf(none),
      other: sizeOf(other) + beyond,
      notItemised: clicks.length - some.length,
    };
  };
  const compared = query.compare && comparedSpan(query, query.compare);
  const linksBefore = compared && linksIn(world, subject, { ...query, ...compared });
  const before = (link: string) => {
    if (linksBefore === undefined) return {};
    const { value } = named(world, { value: link, clicks: 0, visitors: 0 });
    const { clicks = 0, of = 0 } = linksBefore.itemised ?? {};
    const unlisted = clicks < of || linksBefore.other + linksBefore.notItemised > 0 ? null : 0;
    return { previousClicks: linksBefore.values.find((one) => one.value === value)?.clicks ?? unlisted };
  };
  const unknown = found.filter(isUnknown).length;
  const series = (all: readonly TestClick[]) =>
    starts.map((start, place) => {
      const some = all.filter(({ at }) => at >= start && at < (starts[place + 1] ?? to));
      return { start, clicks: some.length, visitors: some.filter(isFirst).length };
    });
  return {
    totals: {
      clicks: clicks.length,
      visitors: clicks.filter(isFirst).length,
      bots: found.filter(({ reason }) => !isPerson(reason)).length,
    },
    reasons: {
      ...Object.fromEntries(
        hitReasons.map((name, reason) => [
          name,
          found.filter((one) => one.reason === reason && !isUnknown(one)).length,
        ]),
      ),
      ...(unknown > 0 && { unknown }),
    },
    series: series(clicks),
    /** Where roll-ups are longer than an interval. */
    itemisedSeries: series(dimension === undefined ? clicks : clicks.filter(({ itemised }) => itemised)),
    breakdowns: Object.fromEntries(
      (query.breakdown ?? (subject.kind === "link" ? dimensions : breakdownNames)).map((name) => [
        name,
        breakdown(name),
      ]),
    ),
    itemised: filters.length === 0 ? null : { clicks: known.length, of: inRange.length },
    ...{ sampled: null, visitorsCapped: null },
  };
}

interface LinkCounts {
  readonly values: readonly { readonly value: string; readonly clicks: number }[];
  readonly other: number;
  readonly notItemised: number;
  readonly itemised: { readonly clicks: number; readonly of: number } | null;
}

function linksIn(world: World, subject: ReportSubject, query: ReportQuery): LinkCounts | undefined {
  const only = { ...query, compare: undefined, limit: 300, breakdown: ["link"] as const };
  const { breakdowns, itemised } = reckon(world, subject, only);
  return breakdowns.link && { ...breakdowns.link, itemised };
}

/** As a report names a link that it counted by its number. */
function named({ links }: World, one: { readonly value: string; readonly clicks: number; readonly visitors: number }) {
  const { id, code, title } = links.find(({ number }) => `${number}` === one.value) ?? {
    id: null,
    code: "",
    title: null,
  };
  return { ...one, value: id ?? code, link: { id, domain: "", code, title } };
}

function filteredDimension([filter, second]: readonly ClickFilter[]): Dimension | undefined {
  if (filter === undefined || second !== undefined || filter.values.includes(other)) return undefined;
  return dimensions.find((dimension) => dimension === filter.field);
}

onEachDatabase(({ open }) => {
  describe("reports", () => {
    let sql: Sql;
    const from = Date.UTC(2026, 9, 20);
    const until = Date.UTC(2026, 10, 4);
    const worlds: World[] = [];
    const random = randomOf(14);
    const pick = <One>(list: readonly One[]): One => list[Math.floor(random() * list.length)] as One;

    beforeAll(async () => {
      sql = await open();
      let next = 0;
      const links = createLinks({
        ...linkStores(sql),
        issuer: { next: async () => `code${++next}` } as never,
        passwords: createPasswords(),
        clock: systemClock,
        ownHosts: new Set(["localhost"]),
        defaultDays: 365,
        publish() {},
      });
      for (const [slug, zone] of [
        ["one", "Europe/Berlin"],
        ["two", "Asia/Kathmandu"],
      ] as const) {
        const tenant = await createClickTenant(sql, slug, zone);
        const owner = await createTenants(sql, systemClock).bySlug(slug);
        if (owner === undefined) throw new Error("no tenant");
        const made = [];
        for (let i = 0; i < linksEach; i++) {
          const title = `${slug} ${i}`;
          const { id, code } = await links.create(owner, { url: "https://example.com/", title }, byCommand);
          const row = await ofTenant(sql.db, tenant.id)
            .selectFrom("links")
            .select("number")
            .where("id", "=", id)
            .executeTakeFirstOrThrow();
          made.push({ id, code, title, number: row.number as LinkNumber });
        }
        await storeClicks(
          sql,
          tenant,
          randomClicks(random, { from, until, links: made.map(({ number }) => number), count: 1_500 }),
        );
        const own = ofTenant(sql.db, tenant.id);
        // As the writer notes it.
        for (const { number, code } of made) {
          await own.updateTable("click_links").set({ code }).where("link", "=", number).execute();
        }
        worlds.push({ tenant, links: made });
      }
    }, 60_000);

    function randomFilter({ links }: World): string {
      const field = pick<string>([...dimensions, "tag", "reason", "link"]);
      if (field === "tag")
        return `tag${pick(["=", "!="])}${pick(["spring", "summer", "untracked", "unknown", "", "summer,"])}`;
      if (field === "reason") return `reason${pick(["=", "!="])}${pick(["bot,head", "counted"])}`;
      if (field === "link") return `link${pick(["=", "!="])}${pick(links).code}`;
      return pick([
        `${field}=${field} 1`,
        `${field}=${field} 2,`,
        `${field}!=${field} 1,…`,
        `${field}~${field.toUpperCase()} 1,3`,
        `${field}=missing`,
        `${field}!=missing`,
      ]);
    }

    function randomParams(world: World): ReportParams {
      const quarters = (until - from) / 900_000;
      const [a, b] = [Math.floor(random() * quarters), Math.floor(random() * quarters)];
      const time = (quarter: number) => new Date(from + quarter * 900_000).toISOString();
      const whole = { from: "2026-10-01", to: "2026-11-30" };
      return {
        ...(random() < 0.3 ? whole : { from: time(Math.min(a, b)), to: time(Math.max(a, b) + 1) }),
        zone: random() < 0.5 ? world.tenant.zone : pick(zones),
        interval: pick(["hour", "day", "week", "month"] as const),
        traffic: pick(["people", "bots", "all"] as const),
        limit: pick([1, 2, 300]),
        compare: pick([undefined, undefined, ...comparisons]),
        filter: Array.from({ length: pick([0, 0, 1, 2, 3]) }, () => randomFilter(world)),
      };
    }

    let isCondensed = false;
    const isByDay = ({ zone, interval, filters }: ReportQuery, { tenant }: World) =>
      filters.length === 0 || (zone === tenant.zone && interval !== "hour");

    async function compare(world: World, subject: ReportSubject, params: ReportParams): Promise<ClickReport> {
      const query = parseReport(params, world.tenant.zone, until);
      const report = await reportOn(sql, systemClock, world.tenant.id, subject, query);
      const { from: _, to: __, previous: ___, imported: ____, subject: about, series, itemised, ...figures } = report;
      const { series: all, itemisedSeries, itemised: known, ...expected } = reckon(world, subject, query);
      expect({ params, subject, ...figures }).toEqual({ params, subject, ...expected } as never);
      expect(about).toMatchObject(subject);
      expect(itemised).toEqual(
        known && {
          ...known,
          notInSeries: expected.totals.clicks - series.reduce((sum, { clicks }) => sum + clicks, 0),
        },
      );
      if (!isCondensed || isByDay(query, world))
        expect({ params, subject, series }).toEqual({ params, subject, series: all });
      for (const [place, { start, clicks, visitors }] of series.entries()) {
        const [most, least] = [all[place], itemisedSeries[place]];
        const isWithin = (count: number, name: "clicks" | "visitors") =>
          count >= (least?.[name] ?? 0) && count <= (most?.[name] ?? 0);
        expect({
          params,
          subject,
          start,
          isWithin: isWithin(clicks, "clicks") && isWithin(visitors, "visitors"),
        }).toEqual({
          ...{ params, subject, start, isWithin: true },
        });
      }
      return report;
    }

    const subjectsOf = ({ links }: World): ReportSubject[] => [
      { kind: "tenant" },
      ...links.map(({ id }): ReportSubject => ({ kind: "link", id })),
      { kind: "domain", name: "" },
      { kind: "domain", name: "go.example" },
      { kind: "tag", name: "spring" },
      { kind: "tag", name: "untracked" },
    ];

    async function compareMany(runs: number): Promise<void> {
      for (let run = 0; run < runs; run++) {
        const world = pick(worlds);
        await compare(world, pick(subjectsOf(world)), randomParams(world));
      }
    }

    test("equal a reckoning click by click, from events alone", () => compareMany(40));

    test("read the levels that fit, and scale them up", async () => {
      const [{ tenant }] = worlds as [World];
      const scope = await scopeOf(sql, tenant.id, { kind: "tenant" });
      const span = { from, to: until };
      const events = await sql.db.selectFrom("clicks").select("level").where("tenant", "=", tenant.number).execute();
      const levelOf = (shelf: number) => everyLevel.findIndex((level) => shelvesOf([level], span).includes(shelf));
      const levels = events.map((event) => levelOf(event.level));
      const above = (level: number) => levels.filter((one) => one >= level).length;
      for (const most of [30, 200, 700, 10_000]) {
        const { level, events } = await chooseSample(sql, scope, [span], most);
        expect([most, events]).toEqual([most, above(level)]);
        expect(events).toBeLessThanOrEqual(most);
        if (level > 0) expect(above(level - 1)).toBeGreaterThan(most);
        const tally = await itemisedTally(sql, scope, [span], { level, wanted: ["country"], check() {} });
        const countries = [tally.people, tally.rest].flatMap((values) => [...(values.get("country")?.values() ?? [])]);
        expect(clicksOf(tally)).toBe(events * 2 ** level);
        expect(countries.reduce((sum, { clicks }) => sum + clicks, 0)).toBe(events * 2 ** level);
      }
    });

    test("find the events of any number of ranges, in any order", async () => {
      const [{ tenant }] = worlds as [World];
      const stored = sql.db.selectFrom("clicks").select(["at", "link"]).where("tenant", "=", tenant.number);
      const events = await stored.execute();
      const whole = await scopeOf(sql, tenant.id, { kind: "tenant" });
      const [{ link } = { link: undefined }] = events;
      for (const scope of [whole, { ...whole, link }]) {
        for (const ranges of [1, 2, 7, 1_200]) {
          const lengthMs = Math.floor((until - from) / (2 * ranges));
          const spans = Array.from({ length: ranges }, (_, n) => ({
            from: from + 2 * n * lengthMs,
            to: from + (2 * n + 1) * lengthMs,
          })).toReversed();
          const expected = events.filter(
            (event) =>
              (scope.link === undefined || event.link === scope.link) &&
              spans.some((span) => event.at >= span.from && event.at < span.to),
          ).length;
          expect([ranges, await countUpTo(sql, scope, spans, everyLevel, 1e6)]).toEqual([ranges, expected]);
          const { itemised } = await countEvents(sql, scope, spans, { level: 0, wanted: ["os"], check() {} });
          expect([ranges, itemised]).toEqual([ranges, expected]);
        }
      }
    });

    test("look for clicks in the tenant's days only, and find all of them there", async () => {
      for (const { tenant } of worlds) {
        const { lived } = await scopeOf(sql, tenant.id, { kind: "tenant" });
        const times = tenant.clicks.map(({ at }) => at);
        expect(lived?.from).toBeLessThanOrEqual(Math.min(...times));
        expect(lived?.from).toBeGreaterThan(Math.min(...times) - 2 * dayMs);
        expect(lived?.to).toBeGreaterThan(Math.max(...times));
        expect(lived?.to).toBeLessThan(Math.max(...times) + 3 * dayMs);
      }
    });

    test("list single clicks over pages, each once and newest first", async () => {
      for (const world of worlds) {
        for (const filter of [[], ["country!=country 1", "reason=counted"]]) {
          const filters = parseFilters(filter);
          const times: number[] = [];
          for (let after: ClickPlace | undefined, page = 0; page < 100; page++) {
            const asked = { from, to: until, filters, limit: 100, after };
            const { items, next } = await listClicks(sql, systemClock, world.tenant.id, { kind: "tenant" }, asked);
            times.push(...items.map(({ at }) => at));
            if (next === null) break;
            after = next;
          }
          const own = world.tenant.clicks.filter((click) => click.itemised && passes(world, filters, click));
          expect(times).toEqual(own.map(({ at }) => at).toSorted((a, b) => b - a));
        }
      }
    });

    test("are the same when days are condensed, and some are open", async () => {
      await condense(sql, { now: Date.UTC(2026, 9, 30, 12) });
      isCondensed = true;
      await compareMany(40);
    });

    test("are the same when days and months are condensed", async () => {
      await condense(sql, { now: Date.UTC(2026, 11, 5) });
      await compareMany(40);
    });

    test("compare with the period before, the weekdays before and the year before", async () => {
      const [world] = worlds as [World];
      const params = { from: "2026-10-28", to: "2026-10-30", interval: "day" } as const;
      for (const [compared, span] of [
        ["previous", { from: "2026-10-25", to: "2026-10-27" }],
        ["weekdays", { from: "2026-10-21", to: "2026-10-23" }],
        ["year", { from: "2025-10-28", to: "2025-10-30" }],
      ] as const) {
        const { previous } = await compare(world, { kind: "tenant" }, { ...params, compare: compared });
        const { totals, series } = await compare(world, { kind: "tenant" }, { ...params, ...span });
        expect(previous).toMatchObject({ totals, series });
      }
    });

    test("count all clicks when events are gone, and say which values are unknown", async () => {
      const [world] = worlds as [World];
      await sql.db.deleteFrom("clicks").where("tenant", "=", world.tenant.number).execute();
      await sql.db.deleteFrom("click_overflow").where("tenant", "=", world.tenant.number).execute();
      await ofTenant(sql.db, world.tenant.id).updateTable("click_tenants").set({ events_from: until }).execute();
      await compare(world, { kind: "tenant" }, { from: "2026-10-01", to: "2026-11-30", interval: "day" });
      const cut = parseReport(
        { from: "2026-10-22T10:00:00Z", to: "2026-10-28T10:00:00Z", zone: "Asia/Kathmandu" },
        "UTC",
        until,
      );
      const report = await reportOn(sql, systemClock, world.tenant.id, { kind: "tenant" }, cut);
      const expected = reckon(world, { kind: "tenant" }, cut);
      expect(report.totals).toEqual(expected.totals);
      expect(report.series).toEqual(expected.series);
      for (const { values, none, other, notItemised } of Object.values(report.breakdowns)) {
        expect(notItemised).toBeGreaterThan(0);
        expect(values.reduce((sum, { clicks }) => sum + clicks, none + other + notItemised)).toBe(report.totals.clicks);
      }
      const filtered = parseReport(
        { from: "2026-10-01", to: "2026-11-30", filter: ["country=country 1", "city!=city 1"] },
        "UTC",
        until,
      );
      const { itemised, totals } = await reportOn(sql, systemClock, world.tenant.id, { kind: "tenant" }, filtered);
      expect({ itemised, totals }).toEqual({
        itemised: { clicks: 0, of: world.tenant.clicks.length, notInSeries: 0 },
        totals: { clicks: 0, visitors: 0, bots: 0 },
      });
    });

    test("with one filter on one dimension need no events: is, is not and not itemised are all clicks", async () => {
      const [world] = worlds as [World];
      for (const subject of subjectsOf(world).slice(0, 6)) {
        const read = async (filter: string[], interval: "day" | "hour" = "day") => {
          const params = { from: "2026-10-01", to: "2026-11-30", interval, traffic: "all", filter } as const;
          const query = parseReport(params, world.tenant.zone, until);
          return {
            report: await reportOn(sql, systemClock, world.tenant.id, subject, query),
            expected: reckon(world, subject, query),
          };
        };
        const { report: all } = await read([]);
        const { report: is, expected } = await read(["city=city 1,"]);
        const { report: isNot } = await read(["city!=city 1,"]);
        expect(is.totals).toEqual(expected.totals);
        expect(is.series).toEqual(expected.series);
        expect(is.itemised).toEqual({ ...expected.itemised, notInSeries: 0 } as never);
        expect(is.breakdowns.city).toEqual(expected.breakdowns.city);
        expect(is.breakdowns.os?.notItemised).toBe(is.totals.clicks);
        const unknown = all.totals.clicks - (is.itemised?.clicks ?? 0);
        expect(is.totals.clicks + isNot.totals.clicks + unknown).toBe(all.totals.clicks);
        const { report: byHour } = await read(["city=city 1,"], "hour");
        expect(byHour.totals).toEqual(is.totals);
        expect(byHour.itemised?.notInSeries).toBe(is.totals.clicks);
        expect((await read(["city~CITY 1"])).report.totals).toEqual((await read(["city=city 1"])).report.totals);
      }
    });

    test("find a deleted link by its code, and refuse one that never was", async () => {
      const [, world] = worlds as [World, World];
      const [first, second] = world.links;
      if (first === undefined || second === undefined) throw new Error("no links");
      const read = (filter: string) => {
        const query = parseReport({ from: "2026-10-01", to: "2026-11-30", filter: [filter] }, "UTC", until);
        return reportOn(sql, systemClock, world.tenant.id, { kind: "tenant" }, query);
      };
      const refusalOf = (filter: string) =>
        read(filter).catch((error: Problem) => [error.code, error.more.errors?.[0]?.field]);
      const before = await read(`link=${first.code}`);
      expect(before.totals.clicks).toBeGreaterThan(0);
      expect((await read(`link=${first.id}`)).totals).toEqual(before.totals);
      const own = ofTenant(sql.db, world.tenant.id);
      const [row] = await own.selectFrom("links").selectAll().where("id", "=", first.id).execute();
      await own.deleteFrom("links").where("id", "=", first.id).execute();
      expect((await read(`link=${first.code}`)).totals).toEqual(before.totals);
      const [{ items }, refused] = [
        await listClicks(
          sql,
          systemClock,
          world.tenant.id,
          { kind: "tenant" },
          {
            ...{ from, to: until, filters: parseFilters([`link=${first.code}`]), limit: 1, after: undefined },
          },
        ),
        await refusalOf(`link=${first.id}`),
      ];
      const value = `${first.code}@${first.number}`;
      expect(items.map(({ link }) => link)).toEqual([{ value, id: null, domain: "", code: first.code }]);
      expect(refused).toEqual(["invalid_input", "filter"]);
      expect(await refusalOf("link=never-was")).toEqual(["invalid_input", "filter"]);
      // Another link has the code now: it is the one that is meant.
      await own.updateTable("links").set({ code: first.code }).where("id", "=", second.id).execute();
      expect((await read(`link=${first.code}`)).totals).toEqual((await read(`link=${second.id}`)).totals);
      expect(row?.code).toBe(first.code);
    });

    test("name links as they are now, and keep those that are gone; clicks condensed without links are not itemised", async () => {
      const [, world] = worlds as [World, World];
      const [first, second] = world.links;
      if (first === undefined || second === undefined) throw new Error("no links");
      const own = ofTenant(sql.db, world.tenant.id);
      const read = async (subject: ReportSubject = { kind: "tenant" }) => {
        const params = { from: "2026-10-01", to: "2026-11-30", breakdown: "link", traffic: "all" } as const;
        const report = await reportOn(sql, systemClock, world.tenant.id, subject, parseReport(params, "UTC", until));
        const { values = [], other = 0, notItemised = 0 } = report.breakdowns.link ?? {};
        const known = values.reduce((sum, { clicks }) => sum + clicks, other);
        expect(known + notItemised).toBe(report.totals.clicks);
        return { values, known, notItemised, all: report.totals.clicks };
      };
      const clicksOn = ({ number }: TestLink) => world.tenant.clicks.filter(({ link }) => link === number).length;
      const links = (await read()).values.map(({ link, clicks }) => ({ ...link, clicks }));
      // The test before deleted the first, and gave its code to the second.
      expect(links).toContainEqual({
        ...{ id: null, domain: "", code: first.code, title: null },
        clicks: clicksOn(first),
      });
      await own.updateTable("links").set({ code: second.code, title: "new" }).where("id", "=", second.id).execute();
      expect((await read()).values).toContainEqual(
        expect.objectContaining({
          value: second.id,
          link: { id: second.id, domain: "", code: second.code, title: "new" },
          clicks: clicksOn(second),
        }),
      );
      await own.deleteFrom("click_links").where("link", "=", first.number).execute();
      expect((await read()).values).toContainEqual(
        expect.objectContaining({
          value: "",
          link: { id: null, domain: null, code: null, title: null },
          clicks: clicksOn(first),
        }),
      );
      /** As roll-ups were before links were counted. */
      const forgetLinks = async (until: number) => {
        const rows = sql.db.selectFrom("click_rollups").selectAll().where("until", "<=", until);
        for (const row of await rows.where("subject", "=", world.tenant.number).execute()) {
          const tally = readTally(row, row.start);
          tally.people.delete("link");
          tally.rest.delete("link");
          await sql.db
            .updateTable("click_rollups")
            .set(writeTally(tally, row.start))
            .where("subject", "=", world.tenant.number)
            .where("start", "=", row.start)
            .where("grain", "=", row.grain)
            .execute();
        }
        forgetSums(sql);
      };
      const days = { from: "2026-10-25", to: "2026-10-26", compare: "previous", breakdown: "link" } as const;
      const { from: day } = parseReport(days, world.tenant.zone, until);
      await forgetLinks(day);
      const compared = await reportOn(
        ...([sql, systemClock, world.tenant.id, { kind: "tenant" }] as const),
        parseReport(days, world.tenant.zone, until),
      );
      expect(compared.previous?.totals.clicks).toBeGreaterThan(0);
      const before = compared.breakdowns.link?.values.map(({ previousClicks }) => previousClicks);
      expect(before).toEqual(world.links.map(() => null));
      await forgetLinks(Number.MAX_SAFE_INTEGER);
      const { values, notItemised, all } = await read();
      expect([values, notItemised]).toEqual([[], all]);
      expect((await read({ kind: "domain", name: "" })).notItemised).toBe(0);
    });

    test("on a link have no breakdown by link", async () => {
      const [world] = worlds as [World];
      const subject: ReportSubject = { kind: "link", id: world.links[0]?.id ?? newId("link", systemClock) };
      const read = (breakdown: string | undefined) =>
        reportOn(sql, systemClock, world.tenant.id, subject, parseReport({ breakdown }, "UTC", until));
      expect(Object.keys((await read(undefined)).breakdowns)).not.toContain("link");
      const refused = await read("link,os").catch((error: Problem) => [error.code, error.more.errors?.[0]?.field]);
      expect(refused).toEqual(["invalid_input", "breakdown"]);
    });

    test("on a link of another tenant, or none, find nothing", async () => {
      const [one, two] = worlds as [World, World];
      const query = parseReport({}, "UTC", until);
      const ids = [two.links[0]?.id ?? newId("link", systemClock), newId("link", systemClock)];
      for (const id of ids) {
        const refused = await reportOn(sql, systemClock, one.tenant.id, { kind: "link", id }, query).catch(
          (error) => error,
        );
        expect(refused).toBeInstanceOf(Problem);
        expect((refused as Problem).code).toBe("not_found");
      }
    });
  });

  test("reports on a tag of thousands of links, each of which has a tag of its own", async () => {
    const sql = await open();
    const tenant = await createClickTenant(sql, "tagged", "UTC");
    const at = Date.UTC(2026, 9, 20);
    const facts = Object.fromEntries(dimensions.map((name) => [name, ""])) as TestClick["facts"];
    const link = newLink();
    const clicks = Array.from(
      { length: 4_100 },
      (_, i): TestClick => ({
        ...{ link, domain: "", at: at + i, reason: 0, first: 0, facts, itemised: true },
        tags: i % 41 === 0 ? [`ALL`, `customer ${i}`] : ["all", `customer ${i}`],
      }),
    );
    await storeClicks(sql, tenant, clicks);
    const read = (subject: ReportSubject, filter: string[]) => {
      const query = parseReport({ from: "2026-10-20", to: "2026-10-20", breakdown: "", filter }, "UTC", at + dayMs);
      return reportOn(sql, systemClock, tenant.id, subject, query);
    };
    expect((await read({ kind: "tag", name: "all" }, [])).totals.clicks).toBe(4_000);
    expect((await read({ kind: "tenant" }, ["tag=all"])).totals.clicks).toBe(4_000);
    expect((await read({ kind: "tenant" }, ["tag!=all"])).totals.clicks).toBe(100);
    expect((await read({ kind: "tenant" }, ["tag=ALL,customer 7"])).totals.clicks).toBe(101);
  });

  test("a compared period whose events are gone is not one without clicks", async () => {
    const sql = await open();
    const tenant = await createClickTenant(sql, "compared", "UTC");
    const day = Date.UTC(2026, 9, 20);
    const now = day + 3 * dayMs;
    const plain = Object.fromEntries(dimensions.map((name) => [name, ""])) as TestClick["facts"];
    const facts = { ...plain, country: "DE", device: "mobile" };
    const [old, fresh] = [newLink(), newLink()];
    const clickOn = (link: LinkNumber, at: number): TestClick => ({
      ...{ link, domain: "", tags: [], at, reason: 0, first: 0, facts, itemised: true },
    });
    await storeClicks(sql, tenant, [
      ...[clickOn(old, day), clickOn(old, day + 1), clickOn(old, day + dayMs)],
      ...[clickOn(fresh, day + dayMs), clickOn(fresh, day + dayMs + 1)],
    ]);
    const before = async (filter: string[]) => {
      const params = { from: "2026-10-21", to: "2026-10-21", breakdown: "link", compare: "previous", filter } as const;
      const report = await reportOn(
        ...([sql, systemClock, tenant.id, { kind: "tenant" }] as const),
        parseReport(params, "UTC", now),
      );
      return report.breakdowns.link?.values.map(({ link, previousClicks }) => [link?.code, previousClicks]);
    };
    const both = ["country=DE", "device=mobile"];
    const known = [
      [`code-${fresh}`, 0],
      [`code-${old}`, 2],
    ];
    expect(await before([])).toEqual(known);
    expect(await before(both)).toEqual(known);
    await condense(sql, { now });
    expect(await before(both)).toEqual(known);
    await sql.db.deleteFrom("clicks").where("tenant", "=", tenant.number).where("day", "=", utcDay(day)).execute();
    const start = { events_from: day + dayMs };
    await ofTenant(sql.db, tenant.id).updateTable("click_tenants").set(start).execute();
    expect(await before([])).toEqual(known);
    const unknown = [
      [`code-${fresh}`, null],
      [`code-${old}`, null],
    ];
    expect(await before(["country=DE"])).toEqual(unknown);
    expect(await before(both)).toEqual(unknown);
  });

  test("a domain that a tenant neither has nor had is refused, and not shown as one without clicks", async () => {
    const sql = await open();
    const [tenant, stranger] = [
      await createClickTenant(sql, "owner", "UTC"),
      await createClickTenant(sql, "stranger", "UTC"),
    ];
    const hosts = [
      { of: tenant, host: "new.example", state: "verified" as const },
      { of: tenant, host: "pending.example", state: "pending" as const },
      { of: stranger, host: "foreign.example", state: "verified" as const },
    ];
    for (const { of, host, state } of hosts) {
      const plain = { root_url: null, missing_url: null, root_blocked: 0, missing_blocked: 0, is_default: 0 } as const;
      const row = { ...plain, host, state, token: "t", created_at: 1, verified_at: state === "verified" ? 1 : null };
      await ofTenant(sql.db, of.id).insertInto("domains").values(row).execute();
    }
    const refusalOf = (error: unknown) => {
      if (!(error instanceof Problem)) throw error;
      return [error.code, error.more.errors?.[0]?.field, error.more.errors?.[0]?.code];
    };
    const answers = async (subject: ReportSubject, filters: readonly ClickFilter[]) => {
      const query = { ...parseReport({ from: "2026-10-20", to: "2026-10-20" }, "UTC", Date.UTC(2026, 9, 21)), filters };
      const list = { ...query, limit: 10, after: undefined };
      return [
        await reportOn(sql, systemClock, tenant.id, subject, query).then(({ totals }) => totals.clicks, refusalOf),
        await listClicks(sql, systemClock, tenant.id, subject, list).then(({ items }) => items.length, refusalOf),
      ];
    };
    for (const host of ["", "go.example", "new.example"]) {
      expect([host, ...(await answers({ kind: "domain", name: host }, []))]).toEqual([host, 0, 0]);
      for (const how of ["is", "is not"] as const) {
        const filtered = await answers({ kind: "tenant" }, [{ field: "domain", how, values: [host] }]);
        expect([host, how, ...filtered]).toEqual([host, how, 0, 0]);
      }
    }
    for (const host of ["nope.example", "pending.example", "foreign.example"]) {
      const refused = (field: string) => [host, ...Array(2).fill(["invalid_input", field, "unknown_domain"])];
      expect([host, ...(await answers({ kind: "domain", name: host }, []))]).toEqual(refused("domain"));
      for (const how of ["is", "is not"] as const) {
        const filters = [{ field: "domain", how, values: ["go.example", host] } as const];
        expect([host, ...(await answers({ kind: "tenant" }, filters))]).toEqual(refused("filter"));
      }
    }
  });
});
