/**
 * Numbers, dates and names in the reader's language. A time zone is the workspace's where a report is shown, and the
 * reader's elsewhere.
 */
const language = typeof navigator === "undefined" ? "en" : navigator.language;

const whole = new Intl.NumberFormat(language);
const compact = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 });
const percents = new Intl.NumberFormat(language, {
  style: "percent",
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});
const roundPercents = new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 0 });
const changes = new Intl.NumberFormat(language, {
  style: "percent",
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
  signDisplay: "exceptZero",
});
const decimals = new Intl.NumberFormat(language, { minimumFractionDigits: 2, maximumFractionDigits: 2 });

export const formatNumber = (value: number): string => whole.format(value);
export const formatCompact = (value: number): string => compact.format(value);
export const formatDecimal = (value: number): string => decimals.format(value);
/** Of a share from 0 to 1. */
export const formatPercent = (share: number): string => percents.format(share);
export const formatRoundPercent = (share: number): string => roundPercents.format(share);
/** With its sign: +23.4 %. A hyphen is too short beside a plus. */
export const formatChange = (share: number): string => changes.format(share).replace("-", "−");

const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

export function formatBytes(bytes: number): string {
  let place = 0;
  let value = bytes;
  while (value >= 1_000 && place < units.length - 1) {
    value /= 1_000;
    place++;
  }
  const unit = units[place] ?? "byte";
  const digits = place > 0 && value < 10 ? 1 : 0;
  return new Intl.NumberFormat(language, {
    style: "unit",
    unit,
    unitDisplay: place === 0 ? "long" : "short",
    maximumFractionDigits: digits,
  }).format(value);
}

export type Time = string | number | Date;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Making one is slow; a table of links needs a hundred. */
export function dateFormat(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify(options);
  const known = formats.get(key);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat(language, options);
  formats.set(key, made);
  return made;
}

const inZone = (zone: string | undefined): Intl.DateTimeFormatOptions => (zone === undefined ? {} : { timeZone: zone });

/** 16 Nov 2026 */
export const formatDate = (time: Time, zone?: string): string =>
  dateFormat({ day: "numeric", month: "short", year: "numeric", ...inZone(zone) }).format(new Date(time));
/** 16 Nov */
export const formatDay = (time: Time, zone?: string): string =>
  dateFormat({ day: "numeric", month: "short", ...inZone(zone) }).format(new Date(time));
/** Monday 16 Nov */
export const formatWeekday = (time: Time, zone?: string): string =>
  dateFormat({ weekday: "long", day: "numeric", month: "short", ...inZone(zone) }).format(new Date(time));
/** November 2026 */
export const formatMonth = (time: Time, zone?: string): string =>
  dateFormat({ month: "long", year: "numeric", ...inZone(zone) }).format(new Date(time));
/** 14:02 */
export const formatClock = (time: Time, zone?: string): string =>
  dateFormat({ hour: "2-digit", minute: "2-digit", ...inZone(zone) }).format(new Date(time));
/** 16 Nov 2026, 14:02 */
export const formatDateTime = (time: Time, zone?: string): string =>
  dateFormat({ dateStyle: "medium", timeStyle: "short", ...inZone(zone) }).format(new Date(time));
/** 1–16 Nov 2026 */
export const formatRange = (from: Time, to: Time, zone?: string): string =>
  dateFormat({ day: "numeric", month: "short", year: "numeric", ...inZone(zone) }).formatRange(
    new Date(from),
    new Date(to),
  );

const relatives = new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "narrow" });
const steps = [
  ["second", 60],
  ["minute", 60],
  ["hour", 24],
  ["day", 30],
  ["month", 12],
] as const;

/** "3 min ago", "in 2 days"; a date, if it is more than a year away. Show the exact time in the title. */
export function formatRelative(time: Time, now: number = Date.now()): string {
  let value = (new Date(time).getTime() - now) / 1_000;
  for (const [unit, most] of steps) {
    // What was set to expire in 7 days does so, not in 6 because a second has passed.
    const whole = value > 0 ? Math.round(value) : Math.trunc(value);
    if (Math.abs(whole) < most) return relatives.format(whole, unit);
    value /= most;
  }
  return formatDate(time);
}

/** "142 ms", "1.4 s". */
export const formatMilliseconds = (ms: number): string =>
  new Intl.NumberFormat(language, {
    ...{ style: "unit", unit: ms < 1_000 ? "millisecond" : "second", unitDisplay: "short" },
    maximumFractionDigits: ms < 1_000 ? 0 : 1,
  }).format(ms < 1_000 ? ms : ms / 1_000);

/** After "since": the clock today, else the day. */
export const formatSince = (time: Time): string =>
  new Date(time).toDateString() === new Date().toDateString() ? formatClock(time) : formatDay(time);

const ages = (["second", "minute", "hour", "day"] as const).map(
  (unit) => new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "narrow" }),
);
const ageSteps = [60, 60, 24, Number.POSITIVE_INFINITY];

/** "12s", "3m": how long ago, in a list where everything is past. */
export function formatAge(ms: number): string {
  let value = Math.max(0, ms / 1_000);
  let place = 0;
  while (value >= (ageSteps[place] ?? 0)) value /= ageSteps[place++] ?? 1;
  return ages[place]?.format(Math.floor(value)) ?? "";
}

const regions = new Intl.DisplayNames(language, { type: "region" });
const languages = new Intl.DisplayNames(language, { type: "language" });

/** Of `DE`: Germany. Codes that are no country are shown as they are. */
export const countryName = (code: string): string => nameOr(code, () => regions.of(code));
/** Of `fr`: French. */
export const languageName = (code: string): string => nameOr(code, () => languages.of(code));

function nameOr(code: string, name: () => string | undefined): string {
  try {
    return name() ?? code;
  } catch {
    return code;
  }
}

export const readerZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;
export const readerLanguage = language;

/** "34 seconds", "12 minutes", "3 hours": rounded up, so that nobody tries too early. */
export function formatWait(seconds: number): string {
  const [unit, size] =
    seconds < 120 ? (["second", 1] as const) : seconds < 7_200 ? (["minute", 60] as const) : (["hour", 3_600] as const);
  return new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "long" }).format(
    Math.ceil(seconds / size),
  );
}
