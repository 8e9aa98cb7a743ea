import type { SplitTarget } from "../links/routing/choice.ts";
import { type Device, matchesLanguage, type Rule, type RuleCondition, type System } from "../links/routing/rules.ts";
import { isWithinHours } from "./hours.ts";

/**
 * Which rule matches a visitor, and which destination of a split they get. Nothing here does I/O or remembers visitors:
 * a condition on something unknown does not match.
 *
 * Facts are computed when a condition needs them: most rules look at one.
 */
export interface Visitor {
  readonly country: string | undefined;
  readonly device: Device | undefined;
  readonly os: System | undefined;
  /** The preferred language, in lower case. */
  readonly language: string | undefined;
  /** The values of a query parameter; empty if it is absent. */
  asked(name: string): readonly string[];
}

/** The place of the first matching rule; -1 if none matches. */
export const matchRule = (rules: readonly Rule[], visitor: Visitor, now: number): number =>
  rules.findIndex(({ when }) => fits(when, visitor, now));

/** Cheapest conditions first. */
function fits(when: RuleCondition, visitor: Visitor, now: number): boolean {
  return (
    (when.from === undefined || now >= when.from) &&
    (when.until === undefined || now < when.until) &&
    (when.hours === undefined || isWithinHours(when.hours, now)) &&
    (when.language === undefined || isSpoken(when.language, visitor.language)) &&
    (when.device === undefined || isOneOf(when.device, visitor.device)) &&
    (when.os === undefined || isOneOf(when.os, visitor.os)) &&
    (when.country === undefined || isOneOf(when.country, visitor.country)) &&
    (when.query === undefined || isAsked(when.query, visitor))
  );
}

const isOneOf = <Value extends string>(wanted: readonly Value[], value: Value | undefined): boolean =>
  value !== undefined && wanted.includes(value);

const isSpoken = (wanted: readonly string[], language: string | undefined): boolean =>
  language !== undefined && wanted.some((one) => matchesLanguage(language, one));

function isAsked({ name, value }: NonNullable<RuleCondition["query"]>, visitor: Visitor): boolean {
  const values = visitor.asked(name);
  return value === undefined ? values.length > 0 : values.includes(value);
}

/** A place in the split. `point` is from 0 to below 1, fixed per visitor: their position along the weights. */
export function pickSplit(split: readonly SplitTarget[], point: number): number {
  let left = point * split.reduce((sum, { weight }) => sum + weight, 0);
  for (const [place, { weight }] of split.entries()) {
    if (left < weight) return place;
    left -= weight;
  }
  return split.length - 1;
}
