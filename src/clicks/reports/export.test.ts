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
  ...{ at: Date.UTC(2026, 10, 17), link: { id: null, domain: "", code: "code" } },
  ...{ reason: "counted", first: true, weight: 1 },
  facts: Object.fromEntries(dimensions.map((name) => [name, value])) as ClickFacts,
});
const shown = (click: ListedClick) => clickCsv(showClick(click, "UTC", () => "go.example"));

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
    expect(reportCsv(report as unknown as ClickReport, query)).toBe(
      "referrer,clicks,visitors\r\n'=cmd|x,1,0\r\n(none),2,\r\n(not itemised),3,\r\n",
    );
  });

  /** Pages of the given sizes. */
  function pagesOf(sizes: readonly number[], onRead: () => void = () => {}) {
    const asked: (number | undefined)[] = [];
    const read = async (after: ClickPlace | undefined): Promise<ClickPage> => {
      onRead();
      asked.push(after?.[0]);
      const place = after?.[0] ?? 0;
      const items = Array.from({ length: sizes[place] ?? 0 }, () => clickWith("DE"));
      return { items, next: place + 1 < sizes.length ? [place + 1, 0, 0] : null };
    };
    return { read, asked };
  }
  const write = ({ items }: ClickPage) => items.map(() => "row\n").join("");
  const linesOf = async (stream: ReadableStream<Uint8Array>) =>
    (await new Response(stream).text()).split("\n").length - 1;

  test("has the rows of all pages, also after empty ones, and one title", async () => {
    const { read, asked } = pagesOf([3, 0, 0, 2, 0]);
    expect(await linesOf(streamPages(read, write, "title\n", manualClock(0)))).toBe(6);
    expect(asked).toEqual([undefined, 1, 2, 3, 4]);
    expect(await linesOf(streamPages(pagesOf([0]).read, write, "title\n", manualClock(0)))).toBe(1);
    expect(await linesOf(streamPages(pagesOf([0, 0]).read, write, "", manualClock(0)))).toBe(0);
  });

  test("ends after a million rows", async () => {
    const { read, asked } = pagesOf(Array.from({ length: 300 }, () => 5_000));
    const wide = ({ items }: ClickPage) => "\n".repeat(items.length);
    expect(await linesOf(streamPages(read, wide, "", manualClock(0)))).toBe(1_000_000);
    expect(asked).toHaveLength(200);
  });

  test("that takes too long breaks off, and does not look complete", async () => {
    const clock = manualClock(0);
    const { read, asked } = pagesOf(
      Array.from({ length: 100 }, () => 1),
      () => clock.advance(40_000),
    );
    const text = await linesOf(streamPages(read, write, "", clock)).catch((error: Error) => error.message);
    expect(text).toBe("the export took too long");
    expect(asked).toHaveLength(8);
  });

  test("reads no page before it is wanted, and none after the client has gone", async () => {
    const { read, asked } = pagesOf(Array.from({ length: 100 }, () => 1));
    const reader = streamPages(read, write, "", manualClock(0)).getReader();
    await reader.read();
    await reader.cancel();
    expect(asked.length).toBeLessThanOrEqual(3);
  });
});
