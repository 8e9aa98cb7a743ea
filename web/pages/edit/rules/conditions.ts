import type { Rule } from "../../../api/generated.ts";
import { countryName, formatDateTime, languageName, readerLanguage } from "../../../format.ts";
import { ruleTexts as t } from "../../../texts/edit.ts";

export type When = Rule["when"];
export type Hours = NonNullable<When["hours"]>;
export type Day = NonNullable<Hours["days"]>[number];

/** `from` and `until` are one condition for people. */
export const conditionKinds = ["country", "device", "os", "language", "date", "hours", "query"] as const;
export type ConditionKind = (typeof conditionKinds)[number];

export const devices = ["mobile", "tablet", "desktop", "other"] as const;
export const systems = ["ios", "android", "windows", "macos", "linux", "chromeos", "other"] as const;
export const days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const satisfies readonly Day[];

export interface Condition {
  readonly kind: ConditionKind;
  /** "country is" */
  readonly lead: string;
  /** Any of them. Empty while nothing is chosen. */
  readonly values: readonly string[];
}

/** The conditions of a rule as words of a sentence. */
export function conditionsOf(when: When): Condition[] {
  return conditionKinds.filter((kind) => isSet(when, kind)).map((kind) => describe(when, kind));
}

export function isSet(when: When, kind: ConditionKind): boolean {
  return kind === "date" ? when.from !== undefined || when.until !== undefined : when[kind] !== undefined;
}

function describe(when: When, kind: ConditionKind): Condition {
  switch (kind) {
    case "country":
      return { kind, lead: t.countryIs, values: (when.country ?? []).map(countryName) };
    case "device":
      return { kind, lead: t.deviceIs, values: (when.device ?? []).map((one) => t.devices[one]) };
    case "os":
      return { kind, lead: t.osIs, values: (when.os ?? []).map((one) => t.systems[one]) };
    case "language":
      return { kind, lead: t.languageIs, values: (when.language ?? []).map(languageName) };
    case "date":
      return { kind, lead: t.dateIs, values: dateOf(when) };
    case "hours":
      return { kind, lead: t.hoursAre, values: when.hours ? [hoursOf(when.hours)] : [] };
    case "query":
      return { kind, lead: t.queryIs, values: queryOf(when.query) };
  }
}

function dateOf({ from, until }: When): string[] {
  const [start, end] = [from, until].map((time) => (time ? formatDateTime(time) : undefined));
  if (start && end) return [t.between(start, end)];
  if (start) return [t.fromTime(start)];
  return end ? [t.untilTime(end)] : [];
}

function hoursOf({ zone, days: some, from, until }: Hours): string {
  const on =
    some === undefined
      ? t.everyDay
      : days
          .filter((day) => some.includes(day))
          .map(dayName)
          .join(", ");
  return t.hoursOn(from, until, on, zone.replaceAll("_", " "));
}

function queryOf(query: When["query"]): string[] {
  if (query === undefined || query.name === "") return [];
  return [query.value === undefined ? t.queryHas(query.name) : t.queryEquals(query.name, query.value)];
}

const weekdays = new Intl.DateTimeFormat(readerLanguage, { weekday: "short", timeZone: "UTC" });
/** 1 January 2024 was a Monday. */
export const dayName = (day: Day): string => weekdays.format(Date.UTC(2024, 0, 1 + days.indexOf(day)));

/** A condition as it begins, before anything is chosen. */
export function begin(kind: ConditionKind, zone: string): When {
  switch (kind) {
    case "country":
      return { country: [] };
    case "device":
      return { device: ["mobile"] };
    case "os":
      return { os: ["ios"] };
    case "language":
      return { language: [] };
    case "date":
      return { from: new Date(Math.ceil(Date.now() / 3_600_000) * 3_600_000).toISOString() };
    case "hours":
      return { hours: { zone, from: "09:00", until: "17:00" } };
    case "query":
      return { query: { name: "" } };
  }
}

export function without(when: When, kind: ConditionKind): When {
  const { [kind === "date" ? "from" : kind]: _, ...rest } = when;
  if (kind !== "date") return rest;
  const { until: __, ...others } = rest;
  return others;
}

/** The whole rule in words, for screen readers, the history and comparisons. */
export function sayRule({ when, url }: Rule): string {
  const said = conditionsOf(when).map(({ lead, values }) => `${lead} ${listOf(values)}`);
  return t.sentence(said.join(` ${and} `), url);
}

const alternatives = new Intl.ListFormat(readerLanguage, { type: "disjunction" });
const and = new Intl.ListFormat(readerLanguage, { type: "conjunction" })
  .formatToParts(["a", "b"])
  .find(({ type }) => type === "literal")
  ?.value.trim();
export const listOf = (values: readonly string[]): string => alternatives.format(values);
