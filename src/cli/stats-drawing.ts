import { printable } from "../base/printable.ts";
import { isPartlyKnown } from "../clicks/reports/itemised.ts";
import { pointName } from "../clicks/reports/point-names.ts";
import type { Traffic } from "../clicks/reports/query.ts";
import type { Breakdown, BreakdownValue, ClickReport, PreviousReport, SeriesPoint } from "../clicks/reports/report.ts";
import type { Interval } from "../clicks/reports/zones.ts";

/**
 * A report as lines for a terminal: totals against the period before, a sparkline, and bars of the most frequent values, in
 * two columns where they fit. Times are those of the report's zone. No line is wider than the terminal, if that has
 * 40 columns.
 */
export interface StatsLayout {
  readonly columns: number;
  readonly colours: boolean;
}

export interface StatsTitle {
  readonly title: string;
  readonly zone: string;
  readonly interval: Interval;
  readonly traffic: Traffic;
  /** What to enter for the same report on another period, up to the period. */
  readonly command: string;
  /** Clicks from another shortener that are older than the period, if the report is empty. */
  readonly importedBefore: { readonly clicks: number; readonly since: number } | null;
}

const blocks = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const shownDimensions = [
  ...["link", "country", "city", "referrer", "device", "browser", "os", "utm_campaign", "language", "source"],
] as readonly (keyof ClickReport["breakdowns"])[];
const columnsLeast = 40;
const rowsMost = 5;
const labelMost = 28;
const barMost = 30;
const barLeast = 4;
const indent = "  ";
/** Two columns of bars need this much. */
const twoColumns = 100;
const between = 4;
const sparkMost = 96;

export function statsLines(report: ClickReport, about: StatsTitle, layout: StatsLayout): string[] {
  const { totals, previous } = report;
  // Of counts that lack clicks, a change would be made up.
  const compared = isPartlyKnown(report.itemised) || isPartlyKnown(previous?.itemised) ? undefined : previous?.totals;
  const columns = Math.max(columnsLeast, layout.columns);
  const paint = painter({ ...layout, columns });
  const period = `${periodOf(report, about)}, ${about.zone}`;
  const title = printable(about.title);
  const fits = title.length + period.length + between <= columns;
  const lines = fits
    ? [`${paint.bold(title)}${" ".repeat(columns - title.length - period.length)}${paint.dim(period)}`]
    : [paint.bold(cut(title, columns)), paint.dim(cut(period, columns))];
  lines.push("");
  if (totals.clicks === 0 && totals.bots === 0) return [...lines, ...emptyLines(report, about, columns)];
  lines.push(
    ...joined(
      [
        figure(totals.clicks, "click", compared?.clicks, paint),
        figure(totals.visitors, "daily visitor", compared?.visitors, paint),
      ],
      columns,
    ),
  );
  lines.push(...wrapped(notCountedOf(report, about), columns));
  if (previous) {
    const before = `against ${periodOf(previous, about)}: ${totalsBefore(previous)}`;
    lines.push(...wrapped(before, columns).map(paint.dim));
  }
  lines.push("", ...sparkLines(report.series, about, columns, paint));
  const blocksOfBars = shownDimensions.flatMap((name) => {
    const found = report.breakdowns[name];
    return found === undefined || found.values.length === 0 ? [] : [{ name, found }];
  });
  const isWide = columns >= twoColumns;
  const width = isWide ? Math.floor((columns - between) / 2) : columns;
  const drawn = blocksOfBars.map(({ name, found }) =>
    barsOf(name, compared ? found : withoutChanges(found), totals.clicks, width, paint),
  );
  for (let at = 0; at < drawn.length; at += isWide ? 2 : 1) {
    const [left = [], right = []] = isWide ? drawn.slice(at, at + 2) : [drawn[at]];
    lines.push("");
    for (let row = 0; row < Math.max(left.length, right.length); row++) {
      const first = left[row] ?? { text: "", width: 0 };
      const second = right[row];
      const gap = second === undefined ? "" : " ".repeat(width + between - first.width);
      lines.push(`${first.text}${gap}${second?.text ?? ""}`);
    }
  }
  const notes = notesOf(report).flatMap((note) => wrapped(note, columns));
  return notes.length === 0 ? lines : [...lines, "", ...notes.map(paint.dim)];
}

/** `bots` of a report has all clicks that do not count, also those of people who were sent to the fallback. */
function notCountedOf({ reasons }: ClickReport, { traffic }: StatsTitle): string {
  const { bot = 0, head = 0, prefetch = 0, preview = 0, fallback = 0, over_quota: over = 0, unknown = 0 } = reasons;
  const parts = [
    ["bots and previews", bot + head + prefetch + preview],
    ["to the fallback after expiry", fallback],
    ["to the fallback beyond the limit", over],
    ["reason not known", unknown],
  ] as const;
  const named = parts.flatMap(([name, clicks]) => (clicks > 0 ? [`${name} ${grouped(clicks)}`] : []));
  if (named.length === 0) return "";
  return `${traffic === "people" ? "Not counted" : "Clicks that do not count"}: ${named.join(", ")}`;
}

function totalsBefore({ totals, itemised }: PreviousReport): string {
  if (isPartlyKnown(itemised) && itemised.clicks === 0) return "not known";
  const counts = `${counted(totals.clicks, "click")}, ${counted(totals.visitors, "daily visitor")}`;
  return isPartlyKnown(itemised) ? `at least ${counts}` : counts;
}

const withoutChanges = ({ values, ...rest }: Breakdown): Breakdown => ({
  ...rest,
  values: values.map(({ previousClicks: _, ...one }) => one),
});

function notesOf({ itemised, previous, sampled, imported, visitorsCapped }: ClickReport): string[] {
  const notes: string[] = [];
  if (visitorsCapped !== null) {
    notes.push(
      `Visitors are too low: on ${counted(visitorsCapped.length, "day")} there were too many to recognise new ones.`,
    );
  }
  for (const [known, period] of [
    [itemised, "this period"],
    [previous?.itemised, "the compared period"],
  ] as const) {
    if (!isPartlyKnown(known)) continue;
    const share = `${grouped(known.clicks)} of ${counted(known.of, "click")}`;
    notes.push(`It is known for ${share} in ${period} whether they match.`);
  }
  if (sampled) {
    notes.push(
      `Counted from 1 in ${Math.round(1 / sampled.rate)} clicks: within ${(sampled.error * 100).toFixed(1)}% of the total.`,
    );
  }
  if (imported) notes.push(`Imported from another shortener, not included: ${counted(imported.clicks, "click")}.`);
  return notes;
}

function emptyLines(report: ClickReport, about: StatsTitle, columns: number): string[] {
  const { itemised, imported } = report;
  const { command, importedBefore } = about;
  const period = `For another period: ${command} --from 2026-01-01 --to 2026-01-31`;
  const clicksBefore =
    importedBefore &&
    `${counted(importedBefore.clicks, "click")}, from ${dateOf(importedBefore.since, about, false)} on`;
  // There are clicks. Those that are known do not match.
  const unmatched = itemised && [
    ...(itemised.clicks > 0 ? ["No clicks match the filter in this period."] : []),
    ...notesOf({ ...report, previous: null }),
    ...["", period],
  ];
  const none = [
    "No clicks in this period.",
    ...(imported ? [`Imported from another shortener: ${counted(imported.clicks, "click")}.`] : []),
    ...(clicksBefore ? [`Imported from another shortener, before this period: ${clicksBefore}.`] : []),
    ...["", "Open a short link in a browser; its click is shown here a second later.", period],
  ];
  const lines = unmatched && itemised.of > 0 ? unmatched : none;
  return lines.flatMap((line) => (line === "" ? [""] : wrapped(line, columns)));
}

const grouped = (count: number): string => count.toLocaleString("en");
const counted = (count: number, noun: string): string => `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;

interface Drawn {
  readonly text: string;
  /** Without colours. */
  readonly width: number;
}

type Paint = ReturnType<typeof painter>;

function painter({ colours }: StatsLayout) {
  const style = (code: number) => (text: string) => (colours && text !== "" ? `\u001b[${code}m${text}\u001b[0m` : text);
  return { bold: style(1), dim: style(2), red: style(31), green: style(32), cyan: style(36) };
}

/** `1,234 clicks ▲ 12%` against the period before; no arrow if that had none. */
function figure(now: number, noun: string, before: number | undefined, paint: Paint): Drawn {
  const text = counted(now, noun);
  if (before === undefined || before === 0) return { text: paint.bold(text), width: text.length };
  const change = changeOf(now, before);
  return { text: `${paint.bold(text)} ${painted(change, paint)}`, width: text.length + 1 + change.length };
}

function changeOf(now: number, before: number): string {
  const percent = Math.round(((now - before) / before) * 100);
  return percent === 0 ? "= 0%" : `${percent < 0 ? "▼" : "▲"} ${grouped(Math.abs(percent))}%`;
}

const painted = (change: string, paint: Paint): string =>
  (change.startsWith("▲") ? paint.green : change.startsWith("▼") ? paint.red : paint.dim)(change);

const noneLabel = "(none)";
const readsLikeNone = /^"*\(none\)"*$/;

/** A link by its place. */
const labelOf = ({ value, link }: BreakdownValue): string => {
  // A visitor may send a value that reads like the name of the row for none.
  if (link === undefined) return readsLikeNone.test(value) ? `"${value}"` : value;
  if (link.code === null) return "(deleted link)";
  return `${link.domain ? `${link.domain}/` : ""}${link.code}${link.id === null ? " (deleted)" : ""}`;
};

/** Against what a link had before: nothing if that is not known. */
function linkChange({ clicks, previousClicks }: BreakdownValue): string {
  if (previousClicks === undefined || previousClicks === null) return "";
  return previousClicks === 0 ? "new" : changeOf(clicks, previousClicks);
}

/** On one line, or each on its own. */
function joined(parts: readonly Drawn[], columns: number): string[] {
  const width = parts.reduce((sum, part) => sum + part.width, between * (parts.length - 1));
  const texts = parts.map(({ text }) => text);
  return width <= columns ? [texts.join(" ".repeat(between))] : texts;
}

/** Neighbouring intervals are added up until the line fits; few intervals are drawn wide. */
function sparkLines(series: readonly SeriesPoint[], about: StatsTitle, columns: number, paint: Paint): string[] {
  const room = Math.min(columns, sparkMost);
  const each = Math.max(1, Math.ceil(series.length / room));
  const sums = Array.from({ length: Math.ceil(series.length / each) }, (_, place) =>
    series.slice(place * each, (place + 1) * each).reduce((sum, { clicks }) => sum + clicks, 0),
  );
  const wide = Math.max(1, Math.min(4, Math.floor(room / Math.max(1, sums.length))));
  const most = Math.max(1, ...sums);
  // Any click is visible above none.
  const blockOf = (sum: number) =>
    sum === 0 ? blocks[0] : blocks[Math.min(7, Math.max(1, Math.round((sum / most) * 7)))];
  const line = sums.map((sum) => (blockOf(sum) ?? "").repeat(wide)).join("");
  const time = (point: SeriesPoint | undefined) => {
    if (point === undefined) return "";
    return about.interval === "month" ? pointName(point.start, about) : dateOf(point.start, about, isShort(about));
  };
  const [first, last] = [time(series[0]), series.length > 1 ? time(series.at(-1)) : ""];
  const axis =
    first.length + last.length + 1 > line.length
      ? cut(last === "" ? first : `${first} – ${last}`, columns)
      : `${first}${" ".repeat(line.length - first.length - last.length)}${last}`;
  const top = series.reduce(
    (best: SeriesPoint | undefined, one) => (one.clicks > (best?.clicks ?? 0) ? one : best),
    undefined,
  );
  const peak =
    top === undefined ? [] : [cut(`Most: ${counted(top.clicks, "click")}, ${pointName(top.start, about)}`, columns)];
  return [paint.cyan(line), paint.dim(axis), ...peak.map(paint.dim)];
}

function barsOf(name: string, { values, none }: Breakdown, total: number, columns: number, paint: Paint): Drawn[] {
  const all = [
    ...values.map((one) => ({ label: printable(labelOf(one)), clicks: one.clicks, change: linkChange(one) })),
    { label: noneLabel, clicks: none, change: "" },
  ];
  const rows = all
    .filter(({ clicks }) => clicks > 0)
    .toSorted((a, b) => b.clicks - a.clicks)
    .slice(0, rowsMost);
  const figures = rows.map(({ clicks }) => ({
    count: grouped(clicks),
    share: `${Math.round((clicks / Math.max(1, total)) * 100)}%`,
  }));
  const widest = (texts: readonly string[]) => Math.max(0, ...texts.map(widthOf));
  const countWidth = widest(figures.map(({ count }) => count));
  const shareWidth = widest(figures.map(({ share }) => share));
  const changeWidth = widest(rows.map(({ change }) => change));
  const fixed = indent.length + countWidth + shareWidth + 6 + (changeWidth === 0 ? 0 : changeWidth + 2);
  const labelRoom = Math.max(3, Math.min(labelMost, columns - fixed - barLeast));
  const labels = rows.map(({ label }) => cut(label, labelRoom));
  const labelWidth = widest(labels);
  const width = Math.min(barMost, columns - fixed - labelWidth);
  const most = Math.max(1, ...rows.map(({ clicks }) => clicks));
  const title = cut(name.replaceAll("_", " "), columns);
  return [
    { text: paint.bold(title), width: title.length },
    ...rows.map(({ clicks, change }, i) => {
      const bar = width < 1 ? "" : "█".repeat(Math.max(1, Math.round((clicks / most) * width))).padEnd(width);
      const label = padded(labels[i] ?? "", labelWidth);
      const count = (figures[i]?.count ?? "").padStart(countWidth);
      const share = (figures[i]?.share ?? "").padStart(shareWidth);
      const text = `${indent}${label}  ${paint.cyan(bar)}  ${count}  ${paint.dim(share)}`;
      const size = indent.length + labelWidth + 2 + bar.length + 2 + countWidth + 2 + shareWidth;
      if (change === "") return { text, width: size };
      return { text: `${text}  ${painted(change, paint)}`, width: size + 2 + change.length };
    }),
  ];
}

/** Chinese, Japanese and Korean characters and most emoji take two columns. */
const wide =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\u30fc\uff01-\uff60]|\p{Emoji_Presentation}/u;
const widthOf = (text: string): number => [...text].reduce((sum, one) => sum + (wide.test(one) ? 2 : 1), 0);
const padded = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - widthOf(text)));

function cut(text: string, most: number): string {
  if (widthOf(text) <= most) return text;
  const kept: string[] = [];
  let width = 1;
  for (const one of text) {
    width += widthOf(one);
    if (width > most) break;
    kept.push(one);
  }
  return `${kept.join("")}…`;
}

function wrapped(text: string, columns: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.length - 1;
    const longer = lines[last] === "" ? word : `${lines[last]} ${word}`;
    if (longer.length <= columns) lines[last] = longer;
    else lines.push(cut(word, columns));
  }
  return lines.filter((line) => line !== "");
}

const isShort = ({ interval }: StatsTitle): boolean => interval === "quarter" || interval === "hour";

/** `17 Nov 2026`, or with the time where that matters. */
function dateOf(at: number, { zone }: StatsTitle, withTime: boolean): string {
  const date = { timeZone: zone, day: "numeric", month: "short", year: "numeric" } as const;
  const time = withTime ? ({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const) : {};
  return new Intl.DateTimeFormat("en-GB", { ...date, ...time }).format(at).replace(",", "").replace("Sept", "Sep");
}

function periodOf({ from, to }: { readonly from: number; readonly to: number }, about: StatsTitle): string {
  if (isShort(about)) return `${dateOf(from, about, true)} – ${dateOf(to, about, true)}`;
  const [first, last] = [dateOf(from, about, false), dateOf(to - 1, about, false)];
  return first === last ? first : `${first} – ${last}`;
}
