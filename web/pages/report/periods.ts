/**
 * Periods of a report, as dates of a time zone ("2026-11-17"), which is what the API takes. A period without `to` ends now, so
 * that the comparison ends at the same time of day.
 */
export const presets = ["today", "yesterday", "7d", "30d", "90d", "month", "last-month", "12m", "year"] as const;
export type Preset = (typeof presets)[number];

export interface Range {
  /** A date, or a time with an offset. */
  readonly from: string;
  readonly to?: string | undefined;
  /**
   * How far the period before and after are away, for what its dates do not say: on the 1st, today and this month both go from
   * there to now, and 30 days may happen to be a month.
   */
  readonly step?: Step | undefined;
}

/** Days, or months of a period that begins on the 1st. */
export type Step = `${number}${"d" | "m"}`;

export const isPreset = (text: string | undefined): text is Preset => presets.some((one) => one === text);

const dayMs = 86_400_000;
const isDate = (text: string): boolean => text.length === 10;

/** The date that the zone's calendar shows. */
export const dateIn = (zone: string, at: number): string =>
  new Intl.DateTimeFormat("en-CA", { timeZone: zone, year: "numeric", month: "2-digit", day: "2-digit" }).format(at);

export const addDays = (date: string, days: number): string => isoOf(Date.parse(date) + days * dayMs);

export const daysBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / dayMs;

const isoOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

const firstOfMonth = (date: string, months: number): string =>
  isoOf(Date.UTC(Number(date.slice(0, 4)), Number(date.slice(5, 7)) - 1 + months, 1));

export function rangeOf(preset: Preset, today: string): Range {
  switch (preset) {
    case "today":
      return { from: today, step: "1d" };
    case "yesterday":
      return { from: addDays(today, -1), to: addDays(today, -1) };
    case "7d":
      return { from: addDays(today, -6), step: "7d" };
    case "30d":
      return { from: addDays(today, -29), step: "30d" };
    case "90d":
      return { from: addDays(today, -89), step: "90d" };
    case "month":
      return { from: firstOfMonth(today, 0), step: "1m" };
    case "last-month":
      return { from: firstOfMonth(today, -1), to: addDays(firstOfMonth(today, 0), -1) };
    case "12m":
      return { from: firstOfMonth(today, -11), step: "12m" };
    case "year":
      return { from: `${today.slice(0, 4)}-01-01`, step: "12m" };
  }
}

/** The preset that a period up to now is, so that it goes on with the days after it was moved back and forward. */
export function presetOf(range: Range, today: string): Preset | undefined {
  if (range.to !== undefined) return undefined;
  return presets.find((preset) => {
    const { from, to, step } = rangeOf(preset, today);
    return to === undefined && from === range.from && step === range.step;
  });
}

/** What is no step is left out: people edit addresses. */
export const parseStep = (text: string | undefined): Step | undefined =>
  text !== undefined && /^[1-9]\d{0,3}[dm]$/.test(text) ? (text as Step) : undefined;

/**
 * The period before or after: whole months by months, days by days, times by their length. Undefined if it would begin in
 * the future.
 */
export function movedRange(range: Range, way: -1 | 1, now: number, today: string): Range | undefined {
  const { from, to } = range;
  if (!isDate(from) || (to !== undefined && !isDate(to))) {
    const [start, end] = [Date.parse(from), to === undefined ? now : Date.parse(to)];
    const length = end - start;
    const moved = start + way * length;
    if (moved >= now) return undefined;
    return { from: new Date(moved).toISOString(), to: new Date(moved + length).toISOString() };
  }
  const step = stepOf(range, today);
  const count = Number.parseInt(step, 10);
  const moved = (date: string, steps: number) =>
    step.endsWith("m") ? firstOfMonth(date, steps * count) : addDays(date, steps * count);
  const start = moved(from, way);
  if (start > today) return undefined;
  const end = addDays(moved(start, 1), -1);
  // A period that reaches today ends now.
  if (end >= today) return { from: start, step };
  return impliedStep(start, end) === step ? { from: start, to: end } : { from: start, to: end, step };
}

function stepOf({ from, to, step }: Range, today: string): Step {
  if (step?.endsWith("d") || (step && isFirst(from))) return step;
  return to === undefined ? daysStep(from, today) : impliedStep(from, to);
}

/** Whole months are months. */
const impliedStep = (from: string, to: string): Step =>
  isFirst(from) && isFirst(addDays(to, 1)) ? `${monthsBetween(from, addDays(to, 1))}m` : daysStep(from, to);

const daysStep = (from: string, to: string): Step => `${Math.max(1, daysBetween(from, to) + 1)}d`;

const isFirst = (date: string): boolean => date.endsWith("-01");

const monthsBetween = (from: string, to: string): number =>
  (Number(to.slice(0, 4)) - Number(from.slice(0, 4))) * 12 + Number(to.slice(5, 7)) - Number(from.slice(5, 7));
