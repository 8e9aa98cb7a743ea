import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { hitReasons } from "../../redirect/decide.ts";
import { dimensions, other, quarterMs } from "../click.ts";
import { addStoredSums, addStoredValues, readTally, readTallyText, writeTally, writeTallyText } from "./packed.ts";
import type { SumsByName } from "./packed-values.ts";
import { addClick, addTally, clicksOf, newTally, peopleOf, type Tally, trimmed } from "./tally.ts";

const start = 1_700_000_100_000 - (1_700_000_100_000 % quarterMs);
const value = fc.constantFrom("", "DE", "__proto__", "constructor", "7", other, 'a long, strange "value"');
const click = fc.record({
  at: fc.integer({ min: start, max: start + 40 * quarterMs }),
  reason: fc.nat(hitReasons.length - 1),
  isFirst: fc.boolean(),
  facts: fc.array(value, { minLength: dimensions.length, maxLength: dimensions.length }),
});
type Click = typeof click extends fc.Arbitrary<infer One> ? One : never;

function tallyOf(clicks: readonly Click[]): Tally {
  const tally = newTally();
  for (const one of clicks) addClick(tally, { ...one, isFirst: one.isFirst && one.reason === 0 }, true);
  return tally;
}

describe("a tally", () => {
  test("comes back from the database as it went", () => {
    fc.assert(
      fc.property(fc.array(click), (clicks) => {
        const tally = tallyOf(clicks);
        expect(readTally(writeTally(tally, start), start)).toEqual(tally);
        expect(readTallyText(writeTallyText(tally, start), start)).toEqual(tally);
      }),
    );
  });

  test("of several rows has the needed classes and dimensions of all of them, and no others", () => {
    fc.assert(
      fc.property(fc.array(click), fc.array(click), fc.boolean(), fc.boolean(), (one, two, people, rest) => {
        const needed = { dimensions: ["country", "utm_source"] as const, people, rest };
        const sum = newTally();
        for (const clicks of [one, two]) addStoredValues(sum, writeTally(tallyOf(clicks), start), needed);
        const all = tallyOf([...one, ...two]);
        const only = (values: Tally["people"]) =>
          new Map([...values].filter(([dimension]) => needed.dimensions.some((name) => name === dimension)));
        expect(sum.people).toEqual(people ? only(all.people) : new Map());
        expect(sum.rest).toEqual(rest ? only(all.rest) : new Map());
      }),
    );
  });

  test("has the values of people first, and says where they end", () => {
    fc.assert(
      fc.property(fc.array(click), (clicks) => {
        const { packed, people_bytes, facts } = writeTally(tallyOf(clicks), start);
        const sumsOf = (bytes: Uint8Array | undefined, needed: { people: boolean; rest: boolean }) => {
          const sums: SumsByName = new Map();
          addStoredSums(sums, { packed: bytes ?? null, facts, names: null }, { dimensions, ...needed });
          return [...sums].map(([name, values]) => [name, values.size]);
        };
        const ofPeople = packed?.subarray(0, people_bytes);
        expect(sumsOf(ofPeople, { people: true, rest: true })).toEqual(
          sumsOf(packed ?? undefined, { people: true, rest: false }),
        );
      }),
    );
  });

  test("of two periods is the tally of all their clicks", () => {
    fc.assert(
      fc.property(fc.array(click), fc.array(click), (one, two) => {
        const sum = tallyOf(one);
        addTally(sum, tallyOf(two));
        expect(sum).toEqual(tallyOf([...one, ...two]));
      }),
    );
  });

  test("adds up: every dimension and the series have all clicks", () => {
    fc.assert(
      fc.property(fc.array(click, { minLength: 1 }), (clicks) => {
        const tally = tallyOf(clicks);
        const series = [...tally.series.values()];
        expect(series.reduce((sum, { people, rest }) => sum + people + rest, 0)).toBe(clicksOf(tally));
        expect(series.reduce((sum, { visitors }) => sum + visitors, 0)).toBe(tally.visitors);
        for (const dimension of dimensions) {
          const people = [...(tally.people.get(dimension)?.values() ?? [])];
          expect(people.reduce((sum, { clicks }) => sum + clicks, 0)).toBe(peopleOf(tally));
          expect(people.reduce((sum, { visitors }) => sum + visitors, 0)).toBe(tally.visitors);
        }
      }),
    );
  });

  test("keeps the most frequent values, and the others as one", () => {
    const values = new Map([
      ["", { clicks: 1, visitors: 1 }],
      [other, { clicks: 2, visitors: 0 }],
    ]);
    for (let i = 1; i <= 5; i++) values.set(`host${i}`, { clicks: i, visitors: 1 });
    expect(trimmed(new Map([["referrer", values]]), 2)).toEqual(
      new Map([
        [
          "referrer",
          new Map([
            ["", { clicks: 1, visitors: 1 }],
            [other, { clicks: 2 + 1 + 2 + 3, visitors: 3 }],
            ["host5", { clicks: 5, visitors: 1 }],
            ["host4", { clicks: 4, visitors: 1 }],
          ]),
        ],
      ]),
    );
  });
});
