import type { Clock } from "../../base/clock.ts";
import { writeCsv } from "../../import-export/csv.ts";
import { dimensions } from "../click.ts";
import { overlaps } from "./cover.ts";
import { type Itemised, isPartlyKnown } from "./itemised.ts";
import type { ReportQuery, Span } from "./query.ts";
import type { ClickReport } from "./report.ts";
import { toLocalIso } from "./zones.ts";

/**
 * Reports as CSV, and clicks as CSV or JSON lines. Where new visitors were not recognised for a time, a column says which rows have
 * too few; if a report was counted from a sample, another one says how large that was; and if it is not known of all clicks whether they
 * match the filters, of which share it is, and how many matches the series lacks.
 */
export function reportCsv(
  report: ClickReport,
  { zone, breakdown = [] }: ReportQuery,
  host: (domain: string) => string,
): string {
  const { previous, breakdowns, visitorsCapped, sampled, itemised } = report;
  const [dimension, second] = breakdown;
  const found = dimension === undefined || second !== undefined ? undefined : breakdowns[dimension];
  if (dimension === undefined || found === undefined) {
    const now = seriesCells(report, zone);
    if (!previous) return csvOf(now.titles, now.rows);
    // Its series may be longer: months and weeks are cut in other places.
    const before = seriesCells(previous, zone);
    const empty = (titles: readonly string[]) => titles.map(() => "");
    const length = Math.max(now.rows.length, before.rows.length);
    const rows = Array.from({ length }, (_, place) => [
      ...(now.rows[place] ?? empty(now.titles)),
      ...(before.rows[place] ?? empty(before.titles)),
    ]);
    const titlesBefore = before.titles.map((title) => `previous${title.charAt(0).toUpperCase()}${title.slice(1)}`);
    return csvOf([...now.titles, ...titlesBefore], rows);
  }
  const rest = {
    [restNames.none]: found.none,
    [restNames.other]: found.other,
    [restNames.notItemised]: found.notItemised,
  };
  // A link is also named; the clicks that it had before are known if a period was compared.
  const isByLink = dimension === "link";
  const names = isByLink ? (["domain", "code", "title"] as const) : [];
  const before = isByLink && previous !== null;
  const marks: { readonly title: string; readonly mark: string | number }[] = [
    ...(visitorsCapped ? [{ title: "visitorsCapped", mark: "yes" }] : []),
    ...(sampled ? [{ title: "sampleRate", mark: sampled.rate }] : []),
    ...(isPartlyKnown(itemised) ? [{ title: "itemised", mark: shareOf(itemised) }] : []),
    ...(before && isPartlyKnown(previous.itemised)
      ? [{ title: "previousItemised", mark: shareOf(previous.itemised) }]
      : []),
  ];
  const titlesOfMarks = marks.map(({ title }) => title);
  const rows = [
    ...found.values.map(({ value, clicks, visitors, link, previousClicks }) => {
      const shown = link && { ...link, domain: link.domain === null ? null : host(link.domain) };
      const named = names.map((name) => shown?.[name] ?? "");
      const more = [...(before ? [previousClicks ?? ""] : []), ...marks.map(({ mark }) => mark)];
      return [cellOfValue(value), ...named, clicks, visitors, ...more];
    }),
    ...Object.entries(rest).flatMap(([name, clicks]) =>
      clicks === 0 ? [] : [[name, ...names.map(() => ""), clicks, "", ...(before ? [""] : []), ...marks.map(() => "")]],
    ),
  ];
  return csvOf(
    [dimension, ...names, "clicks", "visitors", ...(before ? ["previousClicks"] : []), ...titlesOfMarks],
    rows,
  );
}

/** The rows that stand for no value. */
const restNames = { none: "(none)", other: "(other)", notItemised: "(not itemised)" };

/** A visitor may send a value that reads like the name of such a row: it gets an apostrophe, as what a spreadsheet would run does. */
function cellOfValue(value: string): string {
  const plain = value.replace(/^'+/, "");
  return Object.values(restNames).includes(plain) ? `'${value}` : value;
}

/** Rounded down: it is 1 only if all are known. */
const shareOf = ({ clicks, of }: Itemised): number => Math.floor((clicks / of) * 10_000) / 10_000;

type CsvSeries = Span & Pick<ClickReport, "series" | "visitorsCapped" | "sampled" | "itemised">;

function seriesCells({ series, visitorsCapped, sampled, itemised, to }: CsvSeries, zone: string) {
  const isCapped = (place: number, from: number) =>
    visitorsCapped?.some((part) => overlaps(part, { from, to: series[place + 1]?.start ?? to })) === true;
  const rows = series.map(({ start, clicks, visitors }, place) => [
    ...[toLocalIso(zone, start), clicks, visitors],
    ...(visitorsCapped ? [isCapped(place, start) ? "yes" : ""] : []),
    ...(sampled ? [sampled.rate] : []),
    ...(isPartlyKnown(itemised) ? [shareOf(itemised)] : []),
    ...(itemised?.notInSeries ? [itemised.notInSeries] : []),
  ]);
  const marks = [
    ...(visitorsCapped ? ["visitorsCapped"] : []),
    ...(sampled ? ["sampleRate"] : []),
    ...(isPartlyKnown(itemised) ? ["itemised"] : []),
    ...(itemised?.notInSeries ? ["notInSeries"] : []),
  ];
  return { titles: ["start", "clicks", "visitors", ...marks], rows };
}

const csvOf = (titles: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [titles, ...rows].map((row) => writeCsv(row.map(String))).join("");

export type ClickRow = Readonly<Record<string, unknown>> & {
  readonly link: { readonly value: string; readonly domain: string; readonly code: string };
};

const clickColumns = ["at", "domain", "code", "reason", "first", "weight", ...dimensions, "link"];

export const clicksCsvTitle = (): string => writeCsv(clickColumns);

export function clickCsv({ link, ...click }: ClickRow): string {
  const shown: Readonly<Record<string, unknown>> = { ...click, domain: link.domain, code: link.code, link: link.value };
  return writeCsv(clickColumns.map((name) => String(shown[name] ?? "")));
}

const exportMs = 300_000;

/**
 * A whole list, page by page: the next page is read when the client has taken this one, and if they may still have it. `still`
 * throws otherwise. However long the list is, only a page of it is in memory; its time is limited. It is complete, or breaks off:
 * an end after some number of rows would look complete, and nobody counts them.
 */
export function streamPages<Place, Page extends { readonly next: Place | null }>(
  read: (after: Place | undefined) => Promise<Page>,
  write: (page: Page) => string,
  title: string,
  { clock, still }: { readonly clock: Clock; readonly still: () => Promise<void> },
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const end = clock.elapsed() + exportMs;
  let after: Place | undefined;
  let isFirst = true;
  return new ReadableStream({
    async pull(controller) {
      // An empty page is not the end, and a pull that adds nothing would not be repeated.
      for (let sent = false; !sent; ) {
        if (!isFirst) await still();
        const page = await read(after);
        const text = `${isFirst ? title : ""}${write(page)}`;
        after = page.next ?? undefined;
        if (text !== "") controller.enqueue(encoder.encode(text));
        sent = text !== "";
        isFirst = false;
        if (page.next === null) {
          controller.close();
          return;
        }
        // Cut off visibly, instead of an end that looks complete.
        if (clock.elapsed() > end) throw new Error("the export took too long");
      }
    },
  });
}
