import { isPerson } from "../click.ts";
import { type Counts, clicksOf, type FactCounts, peopleOf, type Tally, type ValueCount } from "../rollups/tally.ts";

/** What is made of a sample of events: counts scaled up, made to agree with counts that are known exactly, and their error. */
export function scaled(tally: Tally, by: number): Tally {
  if (by === 1) return tally;
  const times = (values: FactCounts) => mapped(values, ({ clicks, visitors }) => [clicks * by, visitors * by]);
  return {
    reasons: tally.reasons.map((clicks) => clicks * by),
    visitors: tally.visitors * by,
    itemised: tally.itemised * by,
    series: new Map(
      [...tally.series].map(([at, { people, visitors, rest }]) => [
        at,
        { people: people * by, visitors: visitors * by, rest: rest * by },
      ]),
    ),
    people: times(tally.people),
    rest: times(tally.rest),
  };
}

export const countsIn = (tally: Tally): Counts => {
  const people = peopleOf(tally);
  return { people, visitors: tally.visitors, rest: clicksOf(tally) - people };
};

/** A sample may be somewhat larger than what it was taken from. This one is not, and its values still add up to it. */
export function fitted(tally: Tally, most: Counts): Tally {
  const found = countsIn(tally);
  if (found.people <= most.people && found.rest <= most.rest && found.visitors <= most.visitors) return tally;
  const ofRest = shrunk(
    tally.reasons.map((clicks, reason) => (isPerson(reason) ? 0 : clicks)),
    most.rest,
  );
  const starts = [...tally.series.keys()];
  const shrunkSeries = (name: keyof Counts) =>
    shrunk(
      [...tally.series.values()].map((counts) => counts[name]),
      most[name],
    );
  const [people, visitors, rest] = [shrunkSeries("people"), shrunkSeries("visitors"), shrunkSeries("rest")];
  return {
    reasons: ofRest.map((clicks, reason) => (isPerson(reason) ? Math.min(found.people, most.people) : clicks)),
    visitors: Math.min(found.visitors, most.visitors),
    itemised: Math.min(tally.itemised, most.people + most.rest),
    series: new Map(
      starts.map((start, i) => [start, { people: people[i] ?? 0, visitors: visitors[i] ?? 0, rest: rest[i] ?? 0 }]),
    ),
    people: shrunkValues(tally.people, most.people, most.visitors),
    rest: shrunkValues(tally.rest, most.rest, 0),
  };
}

function shrunkValues(values: FactCounts, clicksMost: number, visitorsMost: number): FactCounts {
  return new Map(
    [...values].map(([dimension, ofDimension]) => {
      const counts = [...ofDimension.values()];
      const clicks = shrunk(
        counts.map((count) => count.clicks),
        clicksMost,
      );
      const visitors = shrunk(
        counts.map((count) => count.visitors),
        visitorsMost,
      );
      const names = [...ofDimension.keys()];
      return [
        dimension,
        new Map(names.map((name, i) => [name, { clicks: clicks[i] ?? 0, visitors: visitors[i] ?? 0 }])),
      ];
    }),
  );
}

/** In proportion, as whole numbers that add up to `most`, if they were more. */
export function shrunk(counts: readonly number[], most: number): number[] {
  const sum = counts.reduce((total, count) => total + count, 0);
  if (sum <= most) return [...counts];
  let [seen, given] = [0, 0];
  return counts.map((count) => {
    seen += count;
    const before = given;
    given = Math.round((seen / sum) * most);
    return given - before;
  });
}

/**
 * 95 of 100 samples are within this distance of the truth, as a share of the total. `sampled` is the part of the total that
 * was scaled up from 1 in 2^level events; the other part is exact.
 */
export function errorOf(level: number, sampled: number, total: number): number {
  const rate = 2 ** -level;
  return total === 0 ? 1 : Math.min(1, (1.96 * Math.sqrt((sampled * (1 - rate)) / rate)) / total);
}

function mapped(values: FactCounts, change: (count: ValueCount) => readonly [clicks: number, visitors: number]) {
  return new Map(
    [...values].map(([dimension, ofDimension]) => [
      dimension,
      new Map(
        [...ofDimension].map(([value, count]) => {
          const [clicks, visitors] = change(count);
          return [value, { clicks, visitors }];
        }),
      ),
    ]),
  );
}
