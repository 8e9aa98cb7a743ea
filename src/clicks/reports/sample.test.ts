import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { dimensions } from "../click.ts";
import { addClick, clicksOf, newTally, type Tally } from "../rollups/tally.ts";
import { countsIn, errorOf, fitted, scaled, shrunk } from "./sample.ts";

const tallies: fc.Arbitrary<Tally> = fc
  .array(
    fc.record({
      at: fc.integer({ min: 0, max: 20 }).map((quarter) => quarter * 900_000),
      reason: fc.integer({ min: 0, max: 6 }),
      first: fc.boolean(),
      value: fc.constantFrom("", "a", "b", "c"),
    }),
    { maxLength: 60 },
  )
  .map((clicks) => {
    const tally = newTally();
    for (const { at, reason, first, value } of clicks) {
      const isFirst = first && reason === 0;
      addClick(tally, { at, reason, isFirst, facts: dimensions.map(() => value) }, true);
    }
    return tally;
  });

describe("a sample", () => {
  test("that is larger than what it was taken from is made as large, and its values still add up", () => {
    const limit = fc.integer({ min: 0, max: 200 });
    fc.assert(
      fc.property(tallies, fc.constantFrom(1, 2, 8), limit, limit, limit, (tally, by, people, visitors, rest) => {
        const before = countsIn(scaled(tally, by));
        const after = fitted(scaled(tally, by), { people, visitors, rest });
        const expected = {
          people: Math.min(before.people, people),
          visitors: Math.min(before.visitors, visitors),
          rest: Math.min(before.rest, rest),
        };
        expect(countsIn(after)).toEqual(expected);
        for (const name of ["people", "visitors", "rest"] as const) {
          expect([...after.series.values()].reduce((sum, counts) => sum + counts[name], 0)).toBe(expected[name]);
        }
        const sums = (values: Tally["people"]) =>
          [...values.values()].map((one) => [...one.values()].reduce((sum, { clicks }) => sum + clicks, 0));
        for (const sum of sums(after.people)) expect(sum).toBe(expected.people);
        for (const sum of sums(after.rest)) expect(sum).toBe(expected.rest);
      }),
    );
  });

  test("shrinks in proportion, by whole numbers", () => {
    expect(shrunk([40, 40, 20], 50)).toEqual([20, 20, 10]);
    expect(shrunk([1, 1, 1], 2).reduce((sum, count) => sum + count, 0)).toBe(2);
    expect(shrunk([1, 2], 10)).toEqual([1, 2]);
    expect(shrunk([5, 5], 0)).toEqual([0, 0]);
  });

  test("has an error that 95 of 100 samples keep, also if only a part was sampled", () => {
    const [events, exact, level] = [4_000, 6_000, 3];
    let state = 7;
    const random = () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state / 2 ** 32;
    };
    let within = 0;
    for (let run = 0; run < 400; run++) {
      let seen = 0;
      for (let i = 0; i < events; i++) if (random() < 2 ** -level) seen++;
      const total = exact + seen * 2 ** level;
      const off = Math.abs(total - exact - events) / total;
      if (off <= errorOf(level, seen * 2 ** level, total)) within++;
    }
    expect(within / 400).toBeGreaterThan(0.92);
    expect(within / 400).toBeLessThan(0.98);
    expect(clicksOf(newTally())).toBe(0);
    expect(errorOf(1, 0, 0)).toBe(1);
    expect(errorOf(1, 0, 10)).toBe(0);
  });
});
