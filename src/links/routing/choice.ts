import { invalid, type Problem } from "../../base/errors.ts";
import type { Admit } from "../destination.ts";
import { isCountry } from "./countries.ts";
import { type Device, type Rule, type RuleCondition, rulesMostChars, type System, shadows } from "./rules.ts";
import { refuseUtm, type Utm } from "./utm.ts";

/** What makes a link's answer depend on the visitor, as a redirect needs it. */
export interface Choice {
  readonly rules: readonly Rule[];
  /** Used when no rule matches and it is not empty: one of these, by weight. */
  readonly split: readonly SplitTarget[];
  /** Pass the visitor's query parameters on. */
  readonly forwardQuery: boolean;
}

export interface SplitTarget {
  readonly url: string;
  readonly weight: number;
}

/** The same as its owner sets it; `utm` is added to every URL when it is read, and no redirect knows of it. */
export interface ChoiceFields extends Choice {
  readonly utm: Utm | null;
}

type Given = Pick<ReadonlySet<string>, "has">;

/** Only the given fields are validated by today's rules, but the total length is checked for all. */
export function checkChoice<Fields extends ChoiceFields & { readonly url: string }>(
  fields: Fields,
  given: Given,
  admit: Admit,
): Fields {
  const { rules: ownRules, split: ownSplit } = fields;
  const rules = given.has("rules") && ownRules.length > 0 ? checkRules(ownRules, admit) : ownRules;
  const split = given.has("split") && ownSplit.length > 0 ? checkSplit(ownSplit, admit) : ownSplit;
  // A file has no URL to add parameters to.
  const own = fields.url === "" ? [] : [fields.url];
  if (fields.utm !== null) refuseUtm(fields.utm, [...own, ...rules.map(urlOf), ...split.map(urlOf)]);
  return rules === ownRules && split === ownSplit ? fields : { ...fields, rules, split };
}

const urlOf = ({ url }: { readonly url: string }): string => url;

function checkRules(rules: readonly Rule[], admit: Admit): Rule[] {
  const checked = rules.map((rule, i) => {
    refuseNever(rule.when, `rules.${i}.when`);
    return { when: rule.when, url: admit(`rules.${i}.url`, rule.url) };
  });
  for (const [i, { when }] of checked.entries()) {
    const before = checked.slice(0, i).findIndex((earlier) => shadows(earlier.when, when));
    if (before !== -1) {
      throw invalid(
        `rules.${i}`,
        "unreachable",
        `Every visitor who matches this rule also matches rules.${before}, which comes first. Move this rule before it, or remove it.`,
      );
    }
  }
  if (JSON.stringify(checked).length > rulesMostChars) {
    throw invalid("rules", "too_long", `All rules together must have at most ${rulesMostChars} characters as JSON.`);
  }
  return checked;
}

/** Refuses conditions that can never match. */
function refuseNever(when: RuleCondition, at: string): void {
  if (Object.keys(when).length === 0) {
    throw invalid(
      at,
      "empty",
      "A rule needs at least one condition. The destination for all other visitors is the link's url.",
    );
  }
  const unknown = when.country?.findIndex((code) => !isCountry(code)) ?? -1;
  if (unknown !== -1) {
    throw invalid(`${at}.country.${unknown}`, "unknown_country", "Not a country code (ISO 3166-1), such as DE.");
  }
  if (when.from !== undefined && when.until !== undefined && when.from >= when.until) {
    throw contradiction(`${at}.from`, "from must be earlier than until.");
  }
  if (when.hours !== undefined && when.hours.fromMinute === when.hours.untilMinute) {
    throw contradiction(`${at}.hours.from`, "from and until are the same. For the whole day, use 00:00 to 24:00.");
  }
  const { device, os } = when;
  if (device !== undefined && os !== undefined && !os.some((one) => device.some((other) => runs(one, other)))) {
    throw contradiction(`${at}.device`, "No device of this kind runs any of these operating systems.");
  }
}

const contradiction = (field: string, message: string): Problem => invalid(field, "contradiction", message);

const handheld: ReadonlySet<System> = new Set<System>(["ios", "android"]);

/** As far as a User-Agent can tell: a phone is not a desktop. Televisions, watches and consoles have any system. */
const runs = (os: System, device: Device): boolean =>
  device === "other" || os === "other" || handheld.has(os) === (device !== "desktop");

export const splitMost = 10;

function checkSplit(split: readonly SplitTarget[], admit: Admit): SplitTarget[] {
  if (split.length === 1) {
    throw invalid(
      "split",
      "too_few",
      "A split needs at least two destinations. For a single destination, use the link's url.",
    );
  }
  const checked = split.map(({ url, weight }, i) => ({
    url: admit(`split.${i}.url`, url),
    weight,
  }));
  const double = checked.findIndex(({ url }, i) => checked.slice(0, i).some((other) => other.url === url));
  if (double === -1) return checked;
  throw invalid(
    `split.${double}.url`,
    "duplicate",
    "This destination is already in the split. Increase its weight instead.",
  );
}
