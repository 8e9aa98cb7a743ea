/**
 * What made-up clicks are like: few values are frequent, and many are rare. A draw is a lookup in a table of 65,536
 * places, filled by the weights: 10 ns, whatever the distribution.
 */
import { type Dimension, dimensions } from "../../src/clicks/click.ts";

const places = 65_536;

/** Uniform, below 2^32. Seeded, so that both databases and every run have the same clicks. */
export type Random = () => number;

export function randomOf(seed: number): Random {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

export type Spread = Uint16Array;

export const draw = (spread: Spread, random: Random): number => spread[random() & (places - 1)] ?? 0;

export function spreadOf(weights: readonly number[]): Spread {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const spread = new Uint16Array(places);
  let [at, sum] = [0, 0];
  for (const [value, weight] of weights.entries()) {
    sum += weight;
    for (const end = Math.round((sum / total) * places); at < end; at++) spread[at] = value;
  }
  return spread;
}

/** The n-th most frequent has 1/n^power of the weight of the first. */
export const zipf = (values: number, power: number): number[] =>
  Array.from({ length: values }, (_, rank) => 1 / (rank + 1) ** power);

interface Fact {
  readonly values: number;
  readonly power: number;
  /** The share of clicks without one. */
  readonly none: number;
  /** Texts that filters name; the others are made up. */
  readonly names?: readonly string[];
}

/** Region and city as of an operator who has installed a table of places. */
const facts: Readonly<Record<Dimension, Fact>> = {
  country: { values: 220, power: 1.3, none: 0.02, names: ["US", "DE", "GB", "FR", "IN", "BR"] },
  region: { values: 1_500, power: 1, none: 0.1 },
  city: { values: 12_000, power: 1, none: 0.2 },
  device: { values: 4, power: 1.2, none: 0.01, names: ["mobile", "desktop", "tablet", "tv"] },
  browser: { values: 40, power: 1.4, none: 0.01, names: ["Chrome", "Safari", "Edge", "Firefox"] },
  os: { values: 15, power: 1, none: 0.01, names: ["Android", "iOS", "Windows", "macOS"] },
  referrer: { values: 6_000, power: 1.1, none: 0.55 },
  language: { values: 80, power: 1.3, none: 0.05, names: ["en", "de", "fr", "es"] },
  utm_source: { values: 200, power: 1.2, none: 0.7, names: ["newsletter"] },
  utm_medium: { values: 20, power: 1.2, none: 0.7, names: ["email"] },
  utm_campaign: { values: 2_000, power: 1, none: 0.75 },
  source: { values: 2, power: 3, none: 0, names: ["link", "qr"] },
  variant: { values: 4, power: 0.5, none: 0.9 },
  bot: { values: 6, power: 1, none: 0 },
};

/** Shared by all tenants, as the writer stores them. */
const ofTenant: readonly Dimension[] = ["referrer", "utm_source", "utm_medium", "utm_campaign", "variant"];

export interface StoredValue {
  readonly dimension: Dimension;
  readonly value: string;
  readonly isOfTenant: boolean;
}

/** The first row of `click_values` has id 1. */
export const firstId = 2;

/** In the order of their ids. */
export const storedValues: readonly StoredValue[] = dimensions.flatMap((dimension) =>
  Array.from({ length: facts[dimension].values }, (_, place) => ({
    dimension,
    value: facts[dimension].names?.[place] ?? madeUp(dimension, place),
    isOfTenant: ofTenant.includes(dimension),
  })),
);

function madeUp(dimension: Dimension, place: number): string {
  return dimension === "referrer" ? `site-${place}.example.com` : `${dimension} ${place}`;
}

const starts = dimensions.map(
  (_, place) => firstId + dimensions.slice(0, place).reduce((sum, dimension) => sum + facts[dimension].values, 0),
);
const spreads = dimensions.map((dimension) => {
  const { values, power, none } = facts[dimension];
  const weights = zipf(values, power);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return spreadOf([(none / (1 - none)) * total, ...weights]);
});
const botPlace = dimensions.indexOf("bot");

/** The id of a fact: 0 is "none". */
export function drawFact(place: number, isOfPerson: boolean, random: Random): number {
  if (place === botPlace && isOfPerson) return 0;
  const value = draw(spreads[place] as Spread, random);
  return value === 0 ? 0 : (starts[place] as number) + value - 1;
}

export const textOf = (id: number): string => (id === 0 ? "" : (storedValues[id - firstId]?.value ?? ""));

/** In the order of `hitReasons`: people, bots, and a few of the others. */
export const reasons = spreadOf([84, 10, 1, 1, 3, 0.5, 0.5]);
/** Bits of `first`: new to link and tenant, new to the link only, seen before. */
export const firsts = spreadOf([18, 10, 0, 72]);

/** By quarter of an hour: quiet at night, two peaks by day. */
const quartersOfDay = 96;
const loudness = (quarter: number): number => {
  const hour = quarter / 4;
  return 0.25 + Math.exp(-(((hour - 11) / 3.5) ** 2)) + 0.8 * Math.exp(-(((hour - 20) / 2.5) ** 2));
};
const quarterWeights = Array.from({ length: quartersOfDay }, (_, quarter) => loudness(quarter));
export const quarters = spreadOf(quarterWeights);
/** The share of a day's clicks that come before this quarter. */
export const shareBefore = (quarter: number): number =>
  quarterWeights.slice(0, quarter).reduce((sum, one) => sum + one, 0) /
  quarterWeights.reduce((sum, one) => sum + one, 0);

/** Weekends are quieter, and a year grows by half. The average over a year is 1. */
export const dayWeight = (day: number, ofYear: number): number =>
  ((day + 4) % 7 === 0 || (day + 4) % 7 === 6 ? 0.7 : 1.12) * (0.8 + (0.4 * ofYear) / 365);
