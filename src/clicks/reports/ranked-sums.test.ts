import { expect, test } from "bun:test";
import fc from "fast-check";
import { none, other } from "../click.ts";
import { valueKey } from "../rollups/value-key.ts";
import { ValueSums } from "../rollups/value-sums.ts";
import { chosenOf, RankedSums } from "./ranked-sums.ts";

const sumsOf = (clicks: Readonly<Record<string, number>>) => {
  const sums = new ValueSums();
  for (const [text, count] of Object.entries(clicks)) sums.add(valueKey(text), count, 0);
  return sums;
};

test("a value that is among the first only with what is kept and added together is shown", () => {
  const chosen = chosenOf(new RankedSums(sumsOf({ first: 10, second: 8 })), sumsOf({ second: 3 }), 1);
  expect([...chosen].map(([key, { clicks }]) => [key, clicks])).toEqual([
    [valueKey("second"), 11],
    [valueKey(other), 10],
  ]);
});

test("the values with the most clicks of kept and added sums are those of both together", () => {
  const value = fc.oneof(fc.constantFrom(none, other), fc.nat(30).map(String));
  const values = fc.array(fc.tuple(value, fc.integer({ min: 1, max: 6 }), fc.nat(3)), { maxLength: 60 });
  const most = fc.constantFrom(1, 2, 3, 10, Number.POSITIVE_INFINITY);
  fc.assert(
    fc.property(values, values, most, (kept, added, limit) => {
      const sumsIn = (all: typeof kept) => {
        const sums = new ValueSums();
        for (const [text, clicks, visitors] of all) sums.add(valueKey(text), clicks, visitors);
        return sums;
      };
      const all = new Map<number, { clicks: number; visitors: number }>();
      for (const [text, clicks, visitors] of [...kept, ...added]) {
        const before = all.get(valueKey(text)) ?? { clicks: 0, visitors: 0 };
        all.set(valueKey(text), { clicks: before.clicks + clicks, visitors: before.visitors + visitors });
      }
      const [noneKey, otherKey] = [valueKey(none), valueKey(other)];
      const named = [...all].filter(([key]) => key !== noneKey && key !== otherKey);
      const least = named.map(([, { clicks }]) => clicks).toSorted((a, b) => b - a)[limit - 1] ?? 0;
      const expected = new Map(named.filter(([, { clicks }]) => clicks >= least));
      const ofNone = all.get(noneKey);
      if (ofNone !== undefined) expected.set(noneKey, ofNone);
      const rest = { clicks: 0, visitors: 0 };
      for (const [key, { clicks, visitors }] of all) {
        if (expected.has(key)) continue;
        rest.clicks += clicks;
        rest.visitors += visitors;
      }
      if (rest.clicks > 0) expected.set(otherKey, rest);
      expect(chosenOf(new RankedSums(sumsIn(kept)), sumsIn(added), limit)).toEqual(expected);
    }),
  );
});
