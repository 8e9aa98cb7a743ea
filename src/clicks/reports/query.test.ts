import { describe, expect, test } from "bun:test";
import { Problem } from "../../base/errors.ts";
import { comparedSpan, intervalsMost, parseReport, type ReportParams, type Span } from "./query.ts";
import { startsWithin, toLocalIso } from "./zones.ts";

const now = Date.parse("2026-11-17T12:34:56Z");
const parse = (params: ReportParams, zone = "UTC") => parseReport(params, zone, now);

function refusal(params: ReportParams): readonly [field?: string, code?: string] {
  try {
    parse(params);
    return [];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const [first] = error.more.errors ?? [];
    return [first?.field ?? "", first?.code ?? ""];
  }
}

describe("what a report is asked for", () => {
  test("is by default people in the last 30 days up to now, by day in the tenant's zone, with all dimensions", () => {
    const { from, to, ...query } = parse({}, "Europe/Berlin");
    expect([toLocalIso("Europe/Berlin", from), to]).toEqual([
      "2026-10-19T00:00:00+02:00",
      Date.parse("2026-11-17T12:45:00Z"),
    ]);
    expect(query).toEqual({
      ...{ zone: "Europe/Berlin", interval: "day", traffic: "people", breakdown: undefined, limit: 10 },
      ...{ compare: undefined, filters: [] },
    });
  });

  test.each([
    ["2026-03-29", "2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"],
    ["2026-10-25", "2026-10-25", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"],
    ["2026-01-01", "2026-01-31", "2025-12-31T23:00:00Z", "2026-01-31T23:00:00Z"],
    ["2026-01-01T10:07:00Z", "2026-01-01T10:08:00Z", "2026-01-01T10:00:00Z", "2026-01-01T10:15:00Z"],
    ["2026-01-01T10:00:00+05:45", "2026-01-01T10:00:00.999999999Z", "2026-01-01T04:15:00Z", "2026-01-01T10:15:00Z"],
    ["2024-02-29", "2024-02-29", "2024-02-28T23:00:00Z", "2024-02-29T23:00:00Z"],
    ["2012-01-01", "2012-01-01", "2011-12-31T23:00:00Z", "2012-01-01T23:00:00Z"],
    ["2099-12-31", "2099-12-31", "2099-12-30T23:00:00Z", "2099-12-31T23:00:00Z"],
  ])("from %s to %s is a range of whole quarter hours; a date is a whole day of the zone", (from, to, start, until) => {
    const query = parse({ from, to, zone: "Europe/Berlin" });
    expect([query.from, query.to]).toEqual([Date.parse(start), Date.parse(until)]);
  });

  test.each<[ReportParams, string, string]>([
    [{ zone: "Mars/Olympus" }, "zone", "unknown_zone"],
    [{ zone: "" }, "zone", "unknown_zone"],
    [{ zone: "+02:00" }, "zone", "unknown_zone"],
    [{ zone: "Europe/Berlin\u0000" }, "zone", "unknown_zone"],
    [{ from: "2026-11-17", to: "2026-11-16" }, "to", "before_from"],
    [{ from: "2026-11-17T10:00:00Z", to: "2026-11-17T10:00:00Z" }, "to", "before_from"],
    [{ from: "2027-01-01" }, "from", "in_the_future"],
    [{ from: "2012-01-01", to: "2026-01-01" }, "from", "too_long"],
    [{ from: "2012-01-01", to: "2099-12-30", interval: "month" }, "from", "too_long"],
    [{ from: "1970-01-01" }, "from", "out_of_range"],
    [{ to: "2101-01-01" }, "to", "out_of_range"],
    [{ to: "9999-12-31T23:59:59Z" }, "to", "out_of_range"],
    [{ from: "" }, "from", "bad_time"],
    [{ from: "yesterday" }, "from", "bad_time"],
    [{ from: "2026-02-30" }, "from", "bad_time"],
    [{ from: "2025-02-29" }, "from", "bad_time"],
    [{ from: "2026-02-30T10:00:00Z" }, "from", "bad_time"],
    [{ from: "2026-02-28x" }, "from", "bad_time"],
    [{ from: "2011-12-31", zone: "Etc/GMT+12" }, "from", "out_of_range"],
    [{ to: "2100-01-01", zone: "Pacific/Kiritimati" }, "to", "out_of_range"],
    [{ from: "2026-13-01" }, "from", "bad_time"],
    [{ from: "2026-00-10" }, "from", "bad_time"],
    [{ from: "2026-11-01T10:00:00" }, "from", "bad_time"],
    [{ from: "2026-11-01T25:00:00Z" }, "from", "bad_time"],
    [{ from: "2026-11-01T10:00:00+99:00" }, "from", "bad_time"],
    [{ from: "1700000000000" }, "from", "bad_time"],
    [{ from: " 2026-11-01" }, "from", "bad_time"],
    [{ from: "2026-01-01", interval: "quarter" }, "interval", "too_many"],
    [{ from: "2026-01-01", interval: "hour" }, "interval", "too_many"],
    [{ from: "2017-01-01", interval: "day" }, "interval", "too_many"],
    [{ breakdown: "country,shoe" }, "breakdown", "unknown_dimension"],
    [{ breakdown: "," }, "breakdown", "unknown_dimension"],
    [{ breakdown: "tags" }, "breakdown", "unknown_dimension"],
    [{ breakdown: "__proto__" }, "breakdown", "unknown_dimension"],
    [{ filter: ["shoe=42"] }, "filter", "bad_filter"],
  ])("%j is refused, and the field is named", (params, field, code) => {
    expect(refusal(params)).toEqual([field, code]);
  });

  test("names dimensions once and in one order; an empty list is none", () => {
    expect(parse({ breakdown: "os,country,os" }).breakdown).toEqual(["country", "os"]);
    expect(parse({ breakdown: "os,link" }).breakdown).toEqual(["link", "os"]);
    expect(parse({ breakdown: "" }).breakdown).toEqual([]);
  });

  test("is about bots too with a filter on them, unless it says otherwise", () => {
    expect(parse({ filter: ["bot=preview"] }).traffic).toBe("all");
    expect(parse({ filter: ["reason!=counted"] }).traffic).toBe("all");
    expect(parse({ filter: ["bot="], traffic: "people" }).traffic).toBe("people");
  });

  test("has an interval that fits its range", () => {
    const of = (from: string) => parse({ from, to: "2026-11-17T12:00:00Z" }).interval;
    expect(["2026-11-17T00:00:00Z", "2026-11-15", "2026-08-01", "2025-01-01", "2020-01-01"].map(of)).toEqual([
      "quarter",
      "hour",
      "day",
      "week",
      "month",
    ]);
    expect(parse({ from: "2026-10-18T00:00:00Z", to: "2026-11-17T00:00:00Z", interval: "quarter" }).interval).toBe(
      "quarter",
    );
    expect(intervalsMost).toBe(3_000);
  });
});

describe("the range to compare with", () => {
  test.each([
    ["previous", "2026-03-30", "2026-04-01", "2026-03-27", "2026-03-30"],
    ["weekdays", "2026-03-30", "2026-04-01", "2026-03-23", "2026-03-26"],
    ["weekdays", "2026-03-01", "2026-03-31", "2026-01-25", "2026-02-25"],
    ["year", "2026-03-30", "2026-04-01", "2025-03-30", "2025-04-02"],
    ["year", "2028-02-29", "2028-02-29", "2027-02-28", "2027-03-01"],
    ["year", "2028-02-28", "2028-02-28", "2027-02-28", "2027-03-01"],
    ["year", "2028-02-01", "2028-02-28", "2027-02-01", "2027-03-01"],
    ["year", "2028-01-01", "2028-12-31", "2027-01-01", "2028-01-01"],
  ] as const)("%s of %s to %s begins on %s and ends where %s begins", (compare, from, to, start, until) => {
    const zone = "Europe/Berlin";
    const span = comparedSpan(parse({ from, to, zone }), compare);
    expect([toLocalIso(zone, span.from), toLocalIso(zone, span.to)].map((time) => time.slice(0, 16))).toEqual([
      `${start}T00:00`,
      `${until}T00:00`,
    ]);
  });

  test.each([
    ["the last 30 days", {}, "2026-09-19T00:00", "2026-10-18T13:45"],
    ["today", { from: "2026-11-17" }, "2026-11-16T00:00", "2026-11-16T13:45"],
    ["the 26 days since the clock was changed", { from: "2026-10-23" }, "2026-09-27T00:00", "2026-10-22T13:45"],
  ] as const)("ends at the same time of day for days up to now: %s", (_, params, start, until) => {
    const zone = "Europe/Berlin";
    const query = parse({ ...params, zone, interval: "day" });
    const span = comparedSpan(query, "previous");
    expect([span.from, span.to].map((at) => toLocalIso(zone, at).slice(0, 16))).toEqual([start, until]);
    const points = ({ from, to }: Span) => startsWithin(zone, "day", from, to, intervalsMost).length;
    expect(points(span)).toBe(points(query));
  });

  test.each([
    ["year", "2028-02-28T18:00+01:00", "2028-02-29T06:00+01:00", "2027-02-28T18:00", "2027-03-01T00:00"],
    ["year", "2028-02-29T06:00+01:00", "2028-02-29T18:00+01:00", "2027-02-28T06:00", "2027-02-28T18:00"],
    // The hour that the clock shows twice, and the one that it skips.
    ["weekdays", "2026-10-25T02:00+02:00", "2026-10-25T02:00+01:00", "2026-10-18T02:00", "2026-10-18T03:00"],
    ["weekdays", "2026-10-25T02:45+02:00", "2026-10-25T02:15+01:00", "2026-10-18T02:45", "2026-10-18T03:15"],
    ["weekdays", "2026-04-05T02:00+02:00", "2026-04-05T03:00+02:00", "2026-03-29T03:00", "2026-03-29T04:00"],
  ] as const)("is never empty: %s of %s to %s", (compare, from, to, start, until) => {
    const zone = "Europe/Berlin";
    const span = comparedSpan(parse({ from, to, zone }), compare);
    expect([span.from, span.to].map((at) => toLocalIso(zone, at).slice(0, 16))).toEqual([start, until]);
  });

  test("is as long, and ends where the range begins, if that does not begin with a day", () => {
    const span = comparedSpan(parse({ from: "2026-11-17T10:00:00Z", to: "2026-11-17T11:30:00Z" }), "previous");
    expect(span).toEqual({ from: Date.parse("2026-11-17T08:30:00Z"), to: Date.parse("2026-11-17T10:00:00Z") });
  });
});
