import { describe, expect, test } from "bun:test";
import { manualClock } from "../../base/clock.ts";
import { type ClickFacts, dimensions } from "../click.ts";
import { clickCsv, clicksCsvTitle, reportCsv, streamPages } from "./export.ts";
import type { ClickPage, ClickPlace, ListedClick } from "./list.ts";
import { parseReport } from "./query.ts";
import type { ClickReport } from "./report.ts";
import { showClick } from "./schemas.ts";

const dangerous = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", 'a"b', "a,b", "a\r\nb"];

const clickWith = (value: string): ListedClick => ({
  ...{ at: Date.UTC(2026, 10, 17), link: { value: "code@1", id: null, domain: "", code: "code" } },
  ...{ reason: "counted", first: true, weight: 1 },
  facts: Object.fromEntries(dimensions.map((name) => [name, value])) as ClickFacts,
});
const shown = (click: ListedClick) => clickCsv(showClick(click, "UTC", () => "go.example"));

const hostOf = (domain: string) => (domain === "" ? "go.example" : domain);

/** Cells of one line; no cell of these tests contains a line break. */
const cellsOf = (line: string) => line.trimEnd().split(",");

describe("an export of clicks", () => {
  test("has no cell that a spreadsheet runs", () => {
    for (const value of dangerous) {
      const line = shown(clickWith(value));
      const cell = line.slice(line.indexOf(",1,") + 3);
      expect([value, /^"?[=+\-@\t\r]/.test(cell)]).toEqual([value, false]);
    }
    expect(cellsOf(shown(clickWith("DE")))).toHaveLength(cellsOf(clicksCsvTitle()).length);
    const report = {
      series: [],
      breakdowns: {
        referrer: { values: [{ value: "=cmd|x", clicks: 1, visitors: 0 }], none: 2, other: 0, notItemised: 3 },
      },
    };
    const query = parseReport({ breakdown: "referrer" }, "UTC", Date.UTC(2026, 10, 17));
    expect(reportCsv(report as unknown as ClickReport, query, hostOf)).toBe(
      "referrer,clicks,visitors\r\n'=cmd|x,1,0\r\n(none),2,\r\n(not itemised),3,\r\n",
    );
  });

  test("keeps values that read like the names of other rows apart from these, and from each other", () => {
    const sent = ["(none)", "'(none)", "''(none)", "(other)", "(not itemised)", "(direct)", "none"];
    const values = sent.map((value, place) => ({ value, clicks: 9 - place, visitors: 1 }));
    const breakdowns = { utm_source: { values, none: 2, other: 1, notItemised: 1 } };
    const query = parseReport({ breakdown: "utm_source" }, "UTC", Date.UTC(2026, 10, 17));
    const csv = reportCsv({ series: [], breakdowns } as unknown as ClickReport, query, hostOf);
    const names = csv
      .trimEnd()
      .split("\r\n")
      .slice(1)
      .map((line) => cellsOf(line)[0]);
    expect(names).toEqual([
      ...["'(none)", "''(none)", "'''(none)", "'(other)", "'(not itemised)", "(direct)", "none"],
      ...["(none)", "(other)", "(not itemised)"],
    ]);
  });

  test("of links names them, and has what they had before if a period is compared", () => {
    const link = { id: "lnk_1", domain: "", code: "spring", title: "=Spring, sale" };
    const gone = { id: null, domain: "a.example", code: "old", title: null };
    const values = [
      { value: "lnk_1", clicks: 5, visitors: 4, link, previousClicks: 2 },
      { value: "a.example/old", clicks: 3, visitors: 1, link: gone, previousClicks: null },
    ];
    const breakdowns = { link: { values, none: 0, other: 7, notItemised: 0 } };
    const query = parseReport({ breakdown: "link" }, "UTC", Date.UTC(2026, 10, 17));
    const csv = (previous: unknown) =>
      reportCsv({ series: [], previous, breakdowns } as unknown as ClickReport, query, hostOf).split("\r\n");
    expect(csv({ series: [] })).toEqual([
      "link,domain,code,title,clicks,visitors,previousClicks",
      'lnk_1,go.example,spring,"\'=Spring, sale",5,4,2',
      "a.example/old,a.example,old,,3,1,",
      "(other),,,,7,,",
      "",
    ]);
    expect(csv({ series: [], itemised: { clicks: 0, of: 4, notInSeries: 0 } })).toEqual([
      "link,domain,code,title,clicks,visitors,previousClicks,previousItemised",
      'lnk_1,go.example,spring,"\'=Spring, sale",5,4,2,0',
      "a.example/old,a.example,old,,3,1,,0",
      "(other),,,,7,,,",
      "",
    ]);
    expect(csv(null).slice(0, 2)).toEqual([
      "link,domain,code,title,clicks,visitors",
      'lnk_1,go.example,spring,"\'=Spring, sale",5,4',
    ]);
  });

  test("of a series that is compared has both, side by side, also if one is longer", () => {
    const point = (day: number, clicks: number) => ({ start: Date.UTC(2026, 10, day), clicks, visitors: 1 });
    const report = { series: [point(16, 5)], previous: { series: [point(14, 3), point(15, 4)] }, breakdowns: {} };
    const query = parseReport({ compare: "previous" }, "UTC", Date.UTC(2026, 10, 17));
    expect(reportCsv(report as unknown as ClickReport, query, hostOf).split("\r\n")).toEqual([
      "start,clicks,visitors,previousStart,previousClicks,previousVisitors",
      "2026-11-16T00:00:00+00:00,5,1,2026-11-14T00:00:00+00:00,3,1",
      ",,,2026-11-15T00:00:00+00:00,4,1",
      "",
    ]);
  });

  test("says of which share it is known whether it matches, and what the series lacks, if that is not all", () => {
    const series = [{ start: Date.UTC(2026, 10, 16), clicks: 5, visitors: 1 }];
    const country = { values: [{ value: "DE", clicks: 5, visitors: 1 }], none: 0, other: 0, notItemised: 2 };
    const csv = (itemised: unknown, params = {}, previous: unknown = null) => {
      const query = parseReport(params, "UTC", Date.UTC(2026, 10, 17));
      const report = { series, itemised, previous, breakdowns: { country } } as unknown as ClickReport;
      return reportCsv(report, query, hostOf).split("\r\n").slice(0, 2);
    };
    const start = "2026-11-16T00:00:00+00:00";
    expect(csv({ clicks: 9, of: 9, notInSeries: 0 })).toEqual(["start,clicks,visitors", `${start},5,1`]);
    const some = { clicks: 9_999_999, of: 10_000_000, notInSeries: 3 };
    expect(csv(some)).toEqual(["start,clicks,visitors,itemised,notInSeries", `${start},5,1,0.9999,3`]);
    expect(csv(some, { breakdown: "country" })).toEqual(["country,clicks,visitors,itemised", "DE,5,1,0.9999"]);
    const before = { series, itemised: { clicks: 0, of: 4, notInSeries: 0 } };
    expect(csv(null, {}, before)).toEqual([
      "start,clicks,visitors,previousStart,previousClicks,previousVisitors,previousItemised",
      `${start},5,1,${start},5,1,0`,
    ]);
  });

  test("says in which rows visitors are too low, and which part was counted, in columns that are there only then", () => {
    const [day, hour] = [86_400_000, 3_600_000];
    const from = Date.UTC(2026, 10, 14);
    const series = [0, 1, 2].map((place) => ({ start: from + place * day, clicks: 5, visitors: 1 }));
    const visitorsCapped = [{ from: from + day + hour, to: from + 2 * day }];
    const values = [{ value: "DE", clicks: 15, visitors: 3 }];
    const found = { country: { values, none: 1, other: 0, notItemised: 0 } };
    const csv = (report: object, params: object) =>
      reportCsv(
        { from, to: from + 3 * day, series, visitorsCapped, breakdowns: {}, ...report } as unknown as ClickReport,
        parseReport(params, "UTC", from + 3 * day),
        hostOf,
      ).split("\r\n");
    const linesOf = (...capped: string[]) =>
      series.map(({ start }, place) => `${new Date(start).toISOString().slice(0, 19)}+00:00,5,1${capped[place] ?? ""}`);
    expect(csv({}, {})).toEqual(["start,clicks,visitors,visitorsCapped", ...linesOf(",", ",yes", ","), ""]);
    expect(csv({ visitorsCapped: null }, {})).toEqual(["start,clicks,visitors", ...linesOf(), ""]);
    const sampled = { visitorsCapped: null, sampled: { rate: 0.25, error: 0.01 } };
    expect(csv(sampled, {})).toEqual(["start,clicks,visitors,sampleRate", ...linesOf(",0.25", ",0.25", ",0.25"), ""]);
    expect(csv({ ...sampled, breakdowns: found }, { breakdown: "country" }).slice(0, 3)).toEqual([
      "country,clicks,visitors,sampleRate",
      "DE,15,3,0.25",
      "(none),1,,",
    ]);
    const previous = { from: from - 3 * day, to: from, series, visitorsCapped: null };
    expect(csv({ previous }, { compare: "previous" }).slice(0, 2)).toEqual([
      "start,clicks,visitors,visitorsCapped,previousStart,previousClicks,previousVisitors",
      "2026-11-14T00:00:00+00:00,5,1,,2026-11-14T00:00:00+00:00,5,1",
    ]);
    expect(csv({ breakdowns: found }, { breakdown: "country" })).toEqual([
      "country,clicks,visitors,visitorsCapped",
      "DE,15,3,yes",
      "(none),1,,",
      "",
    ]);
  });

  /** Pages of the given sizes. */
  function pagesOf(sizes: readonly number[], onRead: () => void = () => {}) {
    const asked: (number | undefined)[] = [];
    const click = clickWith("DE");
    const read = async (after: ClickPlace | undefined): Promise<ClickPage> => {
      onRead();
      asked.push(after?.[0]);
      const place = after?.[0] ?? 0;
      const items = Array.from({ length: sizes[place] ?? 0 }, () => click);
      return { items, next: place + 1 < sizes.length ? [place + 1, 0, 0] : null };
    };
    return { read, asked };
  }
  const write = ({ items }: ClickPage) => items.map(() => "row\n").join("");
  const linesOf = async (stream: ReadableStream<Uint8Array>) =>
    (await new Response(stream).text()).split("\n").length - 1;

  const now = { clock: manualClock(0), still: async () => {} };

  test("has the rows of all pages, also after empty ones, and one title", async () => {
    const { read, asked } = pagesOf([3, 0, 0, 2, 0]);
    expect(await linesOf(streamPages(read, write, "title\n", now))).toBe(6);
    expect(asked).toEqual([undefined, 1, 2, 3, 4]);
    expect(await linesOf(streamPages(pagesOf([0]).read, write, "title\n", now))).toBe(1);
    expect(await linesOf(streamPages(pagesOf([0, 0]).read, write, "", now))).toBe(0);
  });

  test("is complete beyond a million rows", async () => {
    const { read, asked } = pagesOf(Array.from({ length: 201 }, () => 5_000));
    const wide = ({ items }: ClickPage) => "\n".repeat(items.length);
    expect(await linesOf(streamPages(read, wide, "", now))).toBe(1_005_000);
    expect(asked).toHaveLength(201);
  });

  test("that takes too long breaks off, and does not look complete", async () => {
    const clock = manualClock(0);
    const { read, asked } = pagesOf(
      Array.from({ length: 100 }, () => 1),
      () => clock.advance(40_000),
    );
    const text = await linesOf(streamPages(read, write, "", { ...now, clock })).catch((error: Error) => error.message);
    expect(text).toBe("the export took too long");
    expect(asked).toHaveLength(8);
  });

  test("breaks off when the caller may no longer have it", async () => {
    const { read, asked } = pagesOf([1, 1, 1, 1]);
    let left = 2;
    const still = async () => {
      if (left-- === 0) throw new Error("no longer");
    };
    const text = await linesOf(streamPages(read, write, "", { ...now, still })).catch((error: Error) => error.message);
    expect(text).toBe("no longer");
    expect(asked).toEqual([undefined, 1, 2]);
  });

  test("reads no page before it is wanted, and none after the client has gone", async () => {
    const { read, asked } = pagesOf(Array.from({ length: 100 }, () => 1));
    const reader = streamPages(read, write, "", now).getReader();
    await reader.read();
    await reader.cancel();
    expect(asked.length).toBeLessThanOrEqual(3);
  });
});
