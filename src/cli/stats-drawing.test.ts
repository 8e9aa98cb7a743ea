import { describe, expect, test } from "bun:test";
import type { ClickReport } from "../clicks/reports/report.ts";
import { statsLines } from "./stats-drawing.ts";

const report: ClickReport = {
  ...{ from: 0, to: 1, subject: { kind: "tenant" }, reasons: {}, itemised: null, sampled: null, imported: null },
  totals: { clicks: 40, visitors: 30, bots: 1 },
  series: [0, 1, 2, 37].map((clicks, start) => ({ start, clicks, visitors: 0 })),
  breakdowns: {
    country: {
      values: [
        { value: "DE", clicks: 30, visitors: 1 },
        { value: "a\u001b[31mlong name of a country somewhere", clicks: 10, visitors: 1 },
      ],
      ...{ none: 0, other: 0, notItemised: 0 },
    },
  },
  previous: {
    from: 0,
    to: 1,
    totals: { clicks: 20, visitors: 60, bots: 0 },
    series: [],
    itemised: null,
    sampled: null,
  },
};
const plain = { columns: 60, colours: false };

describe("a report in the terminal", () => {
  test("shows totals against the period before, a sparkline and bars", () => {
    const lines = statsLines(report, "acme", plain);
    expect(lines[0]).toBe("acme   40 clicks  +100%");
    expect(lines[1]).toBe("30 daily visitors  −50%   1 bot click");
    expect(lines[3]).toBe("▁▂▂█");
    expect(lines).toContain("country");
    expect(lines.find((line) => line.startsWith("DE"))).toContain("75%");
  });

  test("is never wider than the terminal, and has no escapes from values", () => {
    const wide = {
      ...report,
      series: Array.from({ length: 500 }, (_, start) => ({ start, clicks: start, visitors: 0 })),
    };
    for (const columns of [60, 80, 200]) {
      const lines = statsLines(wide, "acme", { ...plain, columns });
      expect(lines.filter((line) => line.length > columns)).toEqual([]);
      expect(lines.join("")).not.toContain("\u001b");
    }
    expect(statsLines(report, "acme", { ...plain, colours: true }).join("")).toContain("\u001b[36m");
  });

  test("says what to do when there are no clicks", () => {
    const empty = statsLines({ ...report, totals: { clicks: 0, visitors: 0, bots: 0 } }, "acme", plain);
    expect(empty.join("\n")).toContain("Open a short link in a browser");
  });
});
