/** What reports must say about requests that were answered: a slow exact reckoning that shares nothing with the program. */
import { type BreakdownName, breakdownNames, type ClickFacts, type Dimension } from "../../src/clicks/click.ts";
import type { Person } from "./people.ts";

export interface KnownLink {
  readonly id: string;
  readonly code: string;
  readonly tag: string;
  /** Visitors from this country match its first rule. */
  readonly ruled: string | undefined;
}

export interface Visit {
  readonly link: KnownLink;
  readonly person: Person;
}

export interface Filter {
  readonly field: Dimension;
  readonly how: "is" | "is not" | "contains";
  readonly values: readonly string[];
}

export interface Expected {
  readonly clicks: number;
  readonly visitors: number;
  readonly bots: number;
  readonly reasons: Readonly<Record<string, number>>;
  /** Links by their ID. */
  readonly values: ReadonlyMap<
    BreakdownName,
    ReadonlyMap<string, { readonly clicks: number; readonly visitors: number }>
  >;
}

export function factsOf({ link, person }: Visit): ClickFacts {
  const { facts } = person;
  const isRuled = link.ruled !== undefined && facts.country === link.ruled;
  return isRuled ? { ...facts, variant: "rule 1" } : facts;
}

export function isMatch(facts: ClickFacts, filters: readonly Filter[]): boolean {
  return filters.every(({ field, how, values }) => {
    const value = facts[field];
    if (how === "contains") return values.some((part) => value.toLowerCase().includes(part.toLowerCase()));
    return values.includes(value) === (how === "is");
  });
}

/** Of people, or of everybody. */
export function expect(visits: readonly Visit[], filters: readonly Filter[], traffic: "people" | "all"): Expected {
  const reasons: Record<string, number> = {};
  const visitors = new Set<string>();
  const values = new Map(breakdownNames.map((name) => [name, new Map<string, { clicks: number; who: Set<string> }>()]));
  let clicks = 0;
  let bots = 0;
  for (const visit of visits) {
    const { person } = visit;
    if (person.excluded) continue;
    const facts = factsOf(visit);
    if (!isMatch(facts, filters)) continue;
    reasons[person.reason] = (reasons[person.reason] ?? 0) + 1;
    if (person.reason !== "counted") bots++;
    if (person.visitor !== undefined) visitors.add(person.visitor);
    if (traffic === "people" && person.reason !== "counted") continue;
    clicks++;
    for (const name of breakdownNames) {
      const ofName = values.get(name);
      const value = name === "link" ? visit.link.id : facts[name];
      let count = ofName?.get(value);
      if (count === undefined) {
        count = { clicks: 0, who: new Set() };
        ofName?.set(value, count);
      }
      count.clicks++;
      if (person.visitor !== undefined) count.who.add(person.visitor);
    }
  }
  const counted = new Map(
    [...values].map(([name, all]) => [
      name,
      new Map([...all].map(([value, count]) => [value, { clicks: count.clicks, visitors: count.who.size }])),
    ]),
  );
  return { clicks, visitors: visitors.size, bots, reasons, values: counted };
}

/** A random filter on facts: one or two conditions, which match something and not everything as a rule. */
export function randomFilters(visits: readonly Visit[], random: () => number): Filter[] {
  const fields: readonly Dimension[] = [
    ...(["country", "device", "browser", "os", "referrer", "language"] as const),
    ...(["utm_source", "utm_medium", "utm_campaign", "source", "bot"] as const),
  ];
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const someValue = (field: Dimension) => factsOf(pick(visits))[field];
  return Array.from({ length: random() < 0.5 ? 1 : 2 }, () => {
    const field = pick(fields);
    const how = pick(["is", "is not", "contains"] as const);
    const values = [...new Set(Array.from({ length: random() < 0.5 ? 1 : 3 }, () => someValue(field)))];
    if (how !== "contains") return { field, how, values };
    const parts = values.filter((value) => value !== "").map((value) => value.slice(1, 5).toUpperCase());
    return parts.length > 0 ? { field, how, values: parts } : { field, how: "is not", values };
  });
}

/** As the API takes it. */
export function filterText({ field, how, values }: Filter): string {
  const sign = { is: "=", "is not": "!=", contains: "~" }[how];
  return `${field}${sign}${values.map((value) => value.replace(/[\\,]/g, "\\$&")).join(",")}`;
}
