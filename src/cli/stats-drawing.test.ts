import { describe, expect, test } from "bun:test";
import type { LinkId } from "../base/ids.ts";
import type { ClickReport } from "../clicks/reports/report.ts";
import { type StatsTitle, statsLines } from "./stats-drawing.ts";

const start = Date.parse("2026-03-28T23:00:00Z");
const hourMs = 3_600_000;
const report: ClickReport = {
  ...{ from: start, to: start + 95 * hourMs, subject: { kind: "tenant" }, reasons: { counted: 40, bot: 1 } },
  ...{ itemised: null, sampled: null, visitorsCapped: null, imported: null },
  totals: { clicks: 40, visitors: 30, bots: 1 },
  series: [0, 1, 2, 37].map((clicks, day) => ({ start: start + day * 24 * hourMs, clicks, visitors: 0 })),
  breakdowns: {
    country: {
      values: [
        { value: "DE", clicks: 20, visitors: 1 },
        { value: "a\u001b[31mlong name of a country somewhere", clicks: 8, visitors: 1 },
      ],
      ...{ none: 12, other: 0, notItemised: 0 },
    },
    device: { values: [{ value: "mobile", clicks: 40, visitors: 30 }], none: 0, other: 0, notItemised: 0 },
    os: { values: [], none: 40, other: 0, notItemised: 0 },
  },
  previous: {
    ...{ from: start - 96 * hourMs, to: start, totals: { clicks: 20, visitors: 60, bots: 0 } },
    ...{ series: [], itemised: null, sampled: null, visitorsCapped: null },
  },
};
const about: StatsTitle = {
  ...{ title: "acme", zone: "Europe/Berlin", interval: "day", traffic: "people" },
  ...{ command: "quicklink stats --tenant acme", importedBefore: null },
};
const plain = { columns: 60, colours: false };

describe("a report in the terminal", () => {
  test("shows totals against the period before, a sparkline and bars, with dates of the zone", () => {
    expect(statsLines(report, about, plain)).toEqual([
      "acme                 29 Mar 2026 – 1 Apr 2026, Europe/Berlin",
      "",
      "40 clicks ▲ 100%    30 daily visitors ▼ 50%",
      "Not counted: bots and previews 1",
      "against 25 Mar 2026 – 28 Mar 2026: 20 clicks, 60 daily",
      "visitors",
      "",
      "▁▁▁▁▂▂▂▂▂▂▂▂████",
      "29 Mar 2026 – 1 Apr 2026",
      "Most: 37 clicks, 1 Apr 2026",
      "",
      "country",
      "  DE                            ███████████████████  20  50%",
      "  (none)                        ███████████          12  30%",
      "  a\\u001b[31mlong name of a c…  ████████              8  20%",
      "",
      "device",
      "  mobile  ██████████████████████████████  40  100%",
    ]);
  });

  test("has two columns of bars in a wide terminal", () => {
    const lines = statsLines(report, about, { ...plain, columns: 120 });
    expect(lines.find((line) => line.startsWith("country"))).toMatch(/^country {55}device$/);
  });

  test("aligns values whose characters are wide", () => {
    const values = ["東京キャンペーン", "spring sale"].map((value) => ({ value, clicks: 20, visitors: 0 }));
    const breakdowns = { utm_campaign: { values, none: 0, other: 0, notItemised: 0 } };
    const [, east, west] = statsLines({ ...report, breakdowns }, about, plain).slice(-3);
    expect(east).toMatch(/^ {2}東京キャンペーン {2}█/);
    expect(west).toMatch(/^ {2}spring sale {7}█/);
    const long = {
      ...report,
      breakdowns: {
        utm_campaign: { ...breakdowns.utm_campaign, values: [{ value: "東".repeat(40), clicks: 1, visitors: 0 }] },
      },
    };
    expect(statsLines(long, about, plain).at(-1)).toStartWith(`  ${"東".repeat(13)}…  █`);
  });

  test("shows a value that reads like the name for none in quotes", () => {
    const values = ["(none)", '"(none)"'].map((value, place) => ({ value, clicks: 20 - place, visitors: 0 }));
    const breakdowns = { utm_campaign: { values, none: 5, other: 0, notItemised: 0 } };
    const labels = statsLines({ ...report, breakdowns }, about, plain)
      .slice(-3)
      .map((line) => line.trim().split(" ")[0]);
    expect(labels).toEqual(['"(none)"', '""(none)""', "(none)"]);
  });

  test("shows hours with their time", () => {
    const lines = statsLines(report, { ...about, interval: "hour" }, { ...plain, columns: 100 });
    expect(lines[0]).toEndWith("29 Mar 2026 00:00 – 2 Apr 2026 00:00, Europe/Berlin");
  });

  test("names the interval with the most clicks for what it is", () => {
    const most = (interval: "hour" | "week" | "month") =>
      statsLines(report, { ...about, interval }, plain).find((line) => line.startsWith("Most"));
    expect((["hour", "week", "month"] as const).map(most)).toEqual([
      "Most: 37 clicks, 1 Apr 2026, 01:00",
      "Most: 37 clicks, week from 1 Apr 2026",
      "Most: 37 clicks, April 2026",
    ]);
  });

  test("does not call people bots who were sent to the fallback", () => {
    const reasons = {
      counted: 40,
      bot: 1,
      head: 1,
      prefetch: 1,
      preview: 1,
      fallback: 1_200,
      over_quota: 3,
      unknown: 5,
    };
    const totals = { clicks: 40, visitors: 30, bots: 1_212 };
    const shown = (traffic: "people" | "all") =>
      statsLines({ ...report, previous: null, reasons, totals }, { ...about, traffic }, { ...plain, columns: 150 })[3];
    const parts =
      "bots and previews 4, to the fallback after expiry 1,200, to the fallback beyond the limit 3, reason not known 5";
    expect(shown("people")).toBe(`Not counted: ${parts}`);
    expect(shown("all")).toBe(`Clicks that do not count: ${parts}`);
    const none = statsLines({ ...report, previous: null, reasons: { counted: 40 } }, about, plain);
    expect(none.slice(2, 4)).toEqual(["40 clicks    30 daily visitors", ""]);
  });

  test("is never wider than the terminal, and has no escapes from values", () => {
    const wide = {
      ...report,
      ...{ sampled: { rate: 0.25, error: 0.012 }, itemised: { clicks: 39, of: 40, notInSeries: 0 } },
      visitorsCapped: [{ from: start + hourMs, to: start + 24 * hourMs }],
      imported: { clicks: 1_234, visitors: 0, undated: 0, series: [] },
      series: Array.from({ length: 500 }, (_, day) => ({ start: start + day * 24 * hourMs, clicks: day, visitors: 0 })),
    };
    const title = "https://a-very-long-domain.example.com/and-a-long-code";
    for (const columns of [40, 41, 53, 60, 80, 100, 120, 200]) {
      for (const one of [wide, { ...wide, totals: { clicks: 0, visitors: 0, bots: 0 } }]) {
        const lines = statsLines(one, { ...about, title }, { ...plain, columns });
        expect(lines.filter((line) => line.length > columns)).toEqual([]);
        expect(lines.join("")).not.toContain("\u001b");
      }
    }
    const coloured = statsLines(wide, about, { columns: 80, colours: true }).join("\n");
    expect(coloured).toContain("\u001b[36m");
    expect(coloured).toContain("Counted from 1 in 4 clicks: within 1.2% of the total.");
    expect(coloured).toContain("on 1 day there were too many to recognise new ones.");
    expect(coloured).toContain("It is known for 39 of 40 clicks in this period whether they match.");
    // Colours change nothing but the colour.
    const escapes = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, "g");
    expect(coloured.replace(escapes, "")).toBe(statsLines(wide, about, { columns: 80, colours: false }).join("\n"));
  });

  test("shows the links with the most clicks, and how they moved, in every width", () => {
    const link = (code: string | null, clicks: number, previousClicks: number | null, more = {}) => ({
      ...{ value: "", clicks, visitors: 0, previousClicks },
      link: { id: "lnk_1" as LinkId, domain: "", code, title: null, ...more },
    });
    const values = [
      link("spring", 20, 10),
      link("talk", 8, 16, { domain: "go.example" }),
      link("old", 4, 0, { id: null }),
      link(null, 2, null, { id: null, domain: null }),
    ];
    const breakdowns = { link: { values, none: 0, other: 6, notItemised: 0 } };
    const lines = statsLines({ ...report, breakdowns }, about, plain);
    expect(lines.slice(lines.indexOf("link"))).toEqual([
      "link",
      "  spring           ████████████████████████  20  50%  ▲ 100%",
      "  go.example/talk  ██████████                 8  20%  ▼ 50%",
      "  old (deleted)    █████                      4  10%  new",
      "  (deleted link)   ██                         2   5%",
    ]);
    for (const columns of [40, 60, 100, 121]) {
      for (const line of statsLines({ ...report, breakdowns }, about, { ...plain, columns })) {
        expect([line, line.length <= columns]).toEqual([line, true]);
      }
    }
  });

  test("claims no change against a period of which the filter is not known for all clicks", () => {
    const link = { id: "lnk_1" as LinkId, domain: "", code: "spring", title: null };
    const values = [{ value: "lnk_1", clicks: 20, visitors: 0, previousClicks: 10, link }];
    const breakdowns = { link: { values, none: 0, other: 0, notItemised: 0 } };
    const shown = (now: ClickReport["itemised"], before: ClickReport["itemised"]) => {
      const { previous } = report;
      const compared = previous && { ...previous, itemised: before };
      const lines = statsLines({ ...report, breakdowns, itemised: now, previous: compared }, about, {
        ...plain,
        columns: 99,
      });
      return [...lines.slice(2, 5), ...lines.slice(lines.indexOf("link") + 1)];
    };
    const known = (clicks: number, of: number) => ({ clicks, of, notInSeries: 0 });
    const figures = ["40 clicks    30 daily visitors", "Not counted: bots and previews 1"];
    const bar = "  spring  ██████████████████████████████  20  50%";
    expect(shown(known(90, 90), known(0, 2_773))).toEqual([
      ...[...figures, "against 25 Mar 2026 – 28 Mar 2026: not known", bar, ""],
      "It is known for 0 of 2,773 clicks in the compared period whether they match.",
    ]);
    expect(shown(known(90, 90), known(2_000, 2_773))).toEqual([
      ...[...figures, "against 25 Mar 2026 – 28 Mar 2026: at least 20 clicks, 60 daily visitors", bar, ""],
      "It is known for 2,000 of 2,773 clicks in the compared period whether they match.",
    ]);
    expect(shown(known(80, 90), known(70, 70))).toEqual([
      ...[...figures, "against 25 Mar 2026 – 28 Mar 2026: 20 clicks, 60 daily visitors", bar, ""],
      "It is known for 80 of 90 clicks in this period whether they match.",
    ]);
    expect(shown(known(90, 90), known(70, 70))[3]).toBe(`${bar}  ▲ 100%`);
  });

  test("says what to do when there are no clicks", () => {
    const empty = statsLines({ ...report, totals: { clicks: 0, visitors: 0, bots: 0 } }, about, plain);
    expect(empty.join("\n")).toContain("Open a short link in a browser");
  });

  test("of a link whose clicks were all counted elsewhere, before, says so", () => {
    const importedBefore = { clicks: 12, since: Date.parse("2024-03-05T09:11:12Z") };
    const none = { ...report, totals: { clicks: 0, visitors: 0, bots: 0 } };
    const lines = statsLines(none, { ...about, importedBefore }, { ...plain, columns: 99 });
    expect(lines).toContain("Imported from another shortener, before this period: 12 clicks, from 5 Mar 2024 on.");
  });

  test("does not say that there are no clicks when the filter is not known for them", () => {
    const period = ["", "For another period: quicklink stats --tenant acme --from 2026-01-01 --to 2026-01-31"];
    const shown = (clicks: number, of: number) => {
      const itemised = { clicks, of, notInSeries: 0 };
      const none = { ...report, itemised, totals: { clicks: 0, visitors: 0, bots: 0 } };
      return statsLines(none, about, { ...plain, columns: 99 }).slice(2);
    };
    expect(shown(0, 5_485)).toEqual([
      "It is known for 0 of 5,485 clicks in this period whether they match.",
      ...period,
    ]);
    expect(shown(85, 5_485)).toEqual([
      ...[
        "No clicks match the filter in this period.",
        "It is known for 85 of 5,485 clicks in this period whether they match.",
      ],
      ...period,
    ]);
    expect(shown(5_485, 5_485)).toEqual(["No clicks match the filter in this period.", ...period]);
    expect(shown(0, 0)[0]).toBe("No clicks in this period.");
  });
});
