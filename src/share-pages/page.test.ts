import { describe, expect, test } from "bun:test";
import type { Interval } from "../clicks/reports/zones.ts";
import { startsWithin, toLocalIso } from "../clicks/reports/zones.ts";
import type { SharedFigures } from "./figures.ts";
import { sharePage } from "./page.ts";

const zone = "Europe/Berlin";
const plain = { name: null, logo: null, style: "", styleHash: "" };

function figures(interval: Interval, from: string, to: string, more: Partial<SharedFigures> = {}): SharedFigures {
  const [start, end] = [Date.parse(from), Date.parse(to)];
  return {
    ...{ title: "Spring", shortUrl: null, tag: "spring", filters: [], zone, interval, breakdowns: [] },
    ...{ from: toLocalIso(zone, start), to: toLocalIso(zone, end), asOf: toLocalIso(zone, end - 1) },
    totals: { clicks: 10, visitors: 5 },
    series: startsWithin(zone, interval, start, end, 3_000).map((at) => ({
      ...{ start: toLocalIso(zone, at), clicks: 1, visitors: 1 },
    })),
    ...{ sampledError: null, notItemised: 0 },
    ...more,
  };
}

const textOf = async (some: SharedFigures) => (await sharePage(some, plain).text()).replaceAll("\n", " ");
const rowsOf = (html: string) =>
  [...(html.split("<details>")[1] ?? "").matchAll(/<tr><td>([^<]*)<\/td>/g)].map(([, name]) => name ?? "");
const ticksOf = (html: string) =>
  [...html.matchAll(/text-anchor="(?:start|middle|end)">([^<]*[^<\d,.KM][^<]*)</g)].map(([, name]) => name);

describe("the points of a page", () => {
  test("of one day are its hours, which can be told apart", async () => {
    const html = await textOf(figures("hour", "2026-11-19T00:00:00+01:00", "2026-11-20T00:00:00+01:00"));
    const rows = rowsOf(html);
    expect([rows.length, new Set(rows).size]).toEqual([24, 24]);
    expect([rows[0], rows[23]]).toEqual(["19 November 2026, 00:00", "19 November 2026, 23:00"]);
    expect(ticksOf(html).slice(0, 3)).toEqual(["00:00", "04:00", "08:00"]);
    expect(html).toContain("<p>19 November 2026, Europe/Berlin</p>");
  });

  test("are days, weeks or months if the page has these", async () => {
    const days = await textOf(figures("day", "2026-11-01T00:00:00+01:00", "2026-12-01T00:00:00+01:00"));
    expect([rowsOf(days)[0], ticksOf(days)[1]]).toEqual(["1 November 2026", "6 Nov"]);
    expect(days).toContain("1 November 2026 to 30 November 2026, Europe/Berlin");
    const weeks = await textOf(figures("week", "2026-10-26T00:00:00+01:00", "2027-01-11T00:00:00+01:00"));
    expect([rowsOf(weeks)[1], ticksOf(weeks)[0]]).toEqual(["Week from 2 November 2026", "26 Oct 2026"]);
    const months = await textOf(figures("month", "2026-10-01T00:00:00+02:00", "2027-01-01T00:00:00+01:00"));
    expect([rowsOf(months)[1], ticksOf(months)[0]]).toEqual(["November 2026", "Oct 2026"]);
  });
});

test("values have names for people, and what visitors send is text beside them", async () => {
  const value = (text: string) => ({ value: text, clicks: 1 });
  const html = await textOf(
    figures("day", "2026-11-01T00:00:00+01:00", "2026-12-01T00:00:00+01:00", {
      breakdowns: [
        { name: "os", values: ["ios", "macos"].map(value), none: 3, other: 0 },
        { name: "language", values: [value("de")], none: 0, other: 2 },
        { name: "variant", values: [value("rule 1")], none: 9, other: 0 },
        { name: "utm_source", values: ["No UTM source", "<b>"].map(value), none: 5, other: 0 },
      ],
    }),
  );
  for (const name of ["iOS", "macOS", "German", "Rule 1", "No UTM source", "&#60;b&#62;"]) {
    expect(html).toContain(`<td>${name}<svg`);
  }
  for (const name of ["Unknown system", "Main destination", "No UTM source", "Other"]) {
    expect(html).toContain(`<td><i>${name}</i><svg`);
  }
});
