import { printable } from "../base/printable.ts";
import type { Breakdown, ClickReport } from "../clicks/reports/report.ts";

/** A report as lines for a terminal: totals against the period before, a sparkline, and bars of the most frequent values. */
export interface StatsLayout {
  readonly columns: number;
  readonly colours: boolean;
}

const blocks = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const shownDimensions = ["country", "referrer", "device", "browser", "source"] as const;
const rowsMost = 5;
const labelMost = 24;
const barMost = 30;
const barLeast = 4;

export function statsLines(report: ClickReport, title: string, layout: StatsLayout): string[] {
  const { totals, previous, sampled, imported } = report;
  if (totals.clicks === 0 && totals.bots === 0) return emptyLines(title, imported);
  const before = previous?.totals;
  const lines = [
    `${title}   ${counted(totals.clicks, "click")}${change(totals.clicks, before?.clicks, layout)}`,
    `${counted(totals.visitors, "daily visitor")}${change(totals.visitors, before?.visitors, layout)}   ${counted(totals.bots, "bot click")}`,
    "",
    sparkline(
      report.series.map(({ clicks }) => clicks),
      layout.columns,
    ),
  ];
  for (const dimension of shownDimensions) {
    const found = report.breakdowns[dimension];
    if (found !== undefined && found.values.length > 0)
      lines.push("", ...barsOf(dimension, found, totals.clicks, layout));
  }
  if (sampled) lines.push("", `Sampled: within ${(sampled.error * 100).toFixed(1)}% of the total.`);
  if (imported) lines.push("", `Imported from another shortener, not included: ${counted(imported.clicks, "click")}.`);
  return lines;
}

function emptyLines(title: string, imported: ClickReport["imported"]): string[] {
  return [
    `${title}   no clicks in this period`,
    ...(imported ? [`Imported from another shortener: ${counted(imported.clicks, "click")}.`] : []),
    "",
    "Open a short link in a browser; its click is shown here a second later.",
    "For another period: quicklink stats --from 2026-01-01 --to 2026-01-31",
  ];
}

const grouped = (count: number): string => count.toLocaleString("en");
const counted = (count: number, noun: string): string => `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;

/** `+12%` against the period before; nothing if it had no clicks. */
function change(now: number, before: number | undefined, { colours }: StatsLayout): string {
  if (before === undefined || before === 0) return "";
  const percent = Math.round(((now - before) / before) * 100);
  const text = `${percent < 0 ? "−" : "+"}${grouped(Math.abs(percent))}%`;
  return `  ${colours ? `\u001b[${percent < 0 ? 31 : 32}m${text}\u001b[0m` : text}`;
}

/** Neighbouring intervals are added up until the line fits. */
function sparkline(counts: readonly number[], columns: number): string {
  const each = Math.max(1, Math.ceil(counts.length / Math.max(1, columns)));
  const sums = Array.from({ length: Math.ceil(counts.length / each) }, (_, place) =>
    counts.slice(place * each, (place + 1) * each).reduce((sum, count) => sum + count, 0),
  );
  const most = Math.max(1, ...sums);
  // Any click is visible above none.
  return sums
    .map((sum) => (sum === 0 ? blocks[0] : blocks[Math.min(7, Math.max(1, Math.round((sum / most) * 7)))]))
    .join("");
}

function barsOf(name: string, { values }: Breakdown, total: number, { columns, colours }: StatsLayout): string[] {
  const rows = values.slice(0, rowsMost).map(({ value, clicks }) => ({
    label: shortened(printable(value)),
    clicks,
    figures: `${grouped(clicks)}  ${Math.round((clicks / total) * 100)}%`,
  }));
  const widest = (texts: readonly string[]) => Math.max(...texts.map((text) => text.length));
  const labelWidth = widest(rows.map(({ label }) => label));
  const figuresWidth = widest(rows.map(({ figures }) => figures));
  const width = Math.max(barLeast, Math.min(barMost, columns - labelWidth - figuresWidth - 4));
  const most = Math.max(1, ...rows.map(({ clicks }) => clicks));
  return [
    name,
    ...rows.map(({ label, clicks, figures }) => {
      const bar = "█".repeat(Math.max(1, Math.round((clicks / most) * width))).padEnd(width);
      return `${label.padEnd(labelWidth)}  ${colours ? `\u001b[36m${bar}\u001b[0m` : bar}  ${figures}`;
    }),
  ];
}

const shortened = (text: string): string => (text.length > labelMost ? `${text.slice(0, labelMost - 1)}…` : text);
