/**
 * Routing rules: where a link leads for some visitors. They are ordered; a rule matches if all of its conditions hold,
 * the first match wins, and without a match the link's own URL is used.
 *
 * A list in a condition means any of them. `from` and `until` are points in time, without a time zone; `hours` are
 * local times, which need one.
 */
export const devices = ["mobile", "tablet", "desktop", "other"] as const;
export type Device = (typeof devices)[number];

export const systems = ["ios", "android", "windows", "macos", "linux", "chromeos", "other"] as const;
export type System = (typeof systems)[number];

export const days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const;
export type Day = (typeof days)[number];

/**
 * From a minute of the day until another, in local time of a zone. If it ends before it begins, it ends on the next
 * day.
 */
export interface Hours {
  readonly zone: string;
  /** The days on which it begins; default: every day. */
  readonly days?: readonly Day[];
  readonly fromMinute: number;
  readonly untilMinute: number;
}

export interface RuleCondition {
  readonly country?: readonly string[];
  readonly device?: readonly Device[];
  readonly os?: readonly System[];
  /** `de` also matches `de-at`; always lower case. */
  readonly language?: readonly string[];
  readonly from?: number;
  readonly until?: number;
  readonly hours?: Hours;
  /** Without a value: the parameter is present. */
  readonly query?: { readonly name: string; readonly value?: string };
}

export interface Rule {
  readonly when: RuleCondition;
  readonly url: string;
}

export const rulesMost = 50;
export const rulesMostChars = 16_384;

const names: readonly (keyof RuleCondition)[] = [
  "country",
  "device",
  "os",
  "language",
  "from",
  "until",
  "hours",
  "query",
];
const conditions: ReadonlySet<string> = new Set(names);

/**
 * Rules as stored. A rule with a condition unknown to this version was written by a newer one; it matches no visitor
 * here, because ignoring the condition would send everyone there.
 */
export function readRules(stored: unknown): Rule[] {
  if (!Array.isArray(stored)) throw new Error("rules are not a list");
  return (stored as Rule[]).filter(({ when }) => Object.keys(when).every((name) => conditions.has(name)));
}

/** Whether every visitor who matches the later rule also matches the earlier one, which then always wins. */
export function shadows(earlier: RuleCondition, later: RuleCondition): boolean {
  const { country, device, os, language, from, until, hours, query } = earlier;
  return (
    holdsAll(country, later.country) &&
    holdsAll(device, later.device) &&
    holdsAll(os, later.os) &&
    (language === undefined ||
      later.language?.every((one) => language.some((other) => matchesLanguage(one, other))) === true) &&
    (from === undefined || (later.from !== undefined && later.from >= from)) &&
    (until === undefined || (later.until !== undefined && later.until <= until)) &&
    (hours === undefined || (later.hours !== undefined && holdsHours(hours, later.hours))) &&
    (query === undefined ||
      (later.query?.name === query.name && (query.value === undefined || later.query.value === query.value)))
  );
}

/** `de-at` speaks `de`. */
export const matchesLanguage = (language: string, wanted: string): boolean =>
  language === wanted || (language.startsWith(wanted) && language.charAt(wanted.length) === "-");

const holdsAll = (wide: readonly string[] | undefined, narrow: readonly string[] | undefined): boolean =>
  wide === undefined || narrow?.every((one) => wide.includes(one)) === true;

function holdsHours(wide: Hours, narrow: Hours): boolean {
  return (
    wide.zone === narrow.zone &&
    holdsAll(wide.days, narrow.days ?? days) &&
    wide.fromMinute <= narrow.fromMinute &&
    endOf(narrow) <= endOf(wide)
  );
}

const endOf = ({ fromMinute, untilMinute }: Hours): number =>
  untilMinute > fromMinute ? untilMinute : untilMinute + 1_440;
