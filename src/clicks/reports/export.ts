import type { Clock } from "../../base/clock.ts";
import { writeCsv } from "../../import-export/csv.ts";
import { dimensions } from "../click.ts";
import type { ClickPage, ClickPlace } from "./list.ts";
import type { ReportQuery } from "./query.ts";
import type { ClickReport } from "./report.ts";
import { toLocalIso } from "./zones.ts";

/** Reports as CSV, and clicks as CSV or JSON lines. */
export function reportCsv({ series, breakdowns }: ClickReport, { zone, breakdown }: ReportQuery): string {
  const [dimension, second] = breakdown;
  const found = dimension === undefined || second !== undefined ? undefined : breakdowns[dimension];
  if (dimension === undefined || found === undefined) {
    const rows = series.map(({ start, clicks, visitors }) => [toLocalIso(zone, start), clicks, visitors]);
    return csvOf(["start", "clicks", "visitors"], rows);
  }
  const rest = { "(none)": found.none, "(other)": found.other, "(not itemised)": found.notItemised };
  const rows = [
    ...found.values.map(({ value, clicks, visitors }) => [value, clicks, visitors]),
    ...Object.entries(rest).flatMap(([name, clicks]) => (clicks === 0 ? [] : [[name, clicks, ""]])),
  ];
  return csvOf([dimension, "clicks", "visitors"], rows);
}

const csvOf = (titles: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [titles, ...rows].map((row) => writeCsv(row.map(String))).join("");

export type ClickRow = Readonly<Record<string, unknown>> & {
  readonly link: { readonly domain: string; readonly code: string };
};

const clickColumns = ["at", "domain", "code", "reason", "first", "weight", ...dimensions];

export const clicksCsvTitle = (): string => writeCsv(clickColumns);

export function clickCsv({ link, ...click }: ClickRow): string {
  const shown: Readonly<Record<string, unknown>> = { ...click, domain: link.domain, code: link.code };
  return writeCsv(clickColumns.map((name) => String(shown[name] ?? "")));
}

const rowsMost = 1_000_000;
const exportMs = 300_000;

/** All clicks, page by page: the next page is read when the client has taken this one. */
export function streamPages(
  read: (after: ClickPlace | undefined) => Promise<ClickPage>,
  write: (page: ClickPage) => string,
  title: string,
  clock: Clock,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const end = clock.elapsed() + exportMs;
  let after: ClickPlace | undefined;
  let [rows, isFirst] = [0, true];
  return new ReadableStream({
    async pull(controller) {
      // An empty page is not the end, and a pull that adds nothing would not be repeated.
      for (let sent = false; !sent; ) {
        const page = await read(after);
        const text = `${isFirst ? title : ""}${write(page)}`;
        rows += page.items.length;
        after = page.next ?? undefined;
        if (text !== "") controller.enqueue(encoder.encode(text));
        sent = text !== "";
        isFirst = false;
        if (page.next === null || rows >= rowsMost) {
          controller.close();
          return;
        }
        // Cut off visibly, instead of an end that looks complete.
        if (clock.elapsed() > end) throw new Error("the export took too long");
      }
    },
  });
}
