import { expect, test } from "bun:test";
import fc from "fast-check";
import { hitReasons } from "../../redirect/decide.ts";
import { dimensions, firstToLink, firstToTenant, isPerson, none, other, quarterMs } from "../click.ts";
import type { FirstOf } from "../rollups/id-counts.ts";
import { readTallyText, writeTallyText } from "../rollups/packed.ts";
import { addClick, newTally, type Tally, valuesMost } from "../rollups/tally.ts";
import { addOverflowValue, newOverflowTally, type OverflowTally, trimOverflow } from "./overflow-tally.ts";
import { overflowText, readOverflowText } from "./overflow-text.ts";

const quarter = 1_000_000 * quarterMs;
const value = fc.constantFrom(
  none,
  "DE",
  other,
  'a"b\\c',
  "ü\u2028x",
  "two\nlines",
  "😀",
  "__proto__",
  "p country [1]",
);
const click = fc.record({
  reason: fc.nat(hitReasons.length - 1),
  first: fc.constantFrom(0, firstToLink, firstToTenant, firstToLink | firstToTenant),
  facts: fc.array(value, { minLength: dimensions.length, maxLength: dimensions.length }),
});
type Click = typeof click extends fc.Arbitrary<infer One> ? One : never;

function overflowOf(clicks: readonly Click[]): OverflowTally {
  const tally = newOverflowTally();
  for (const { reason, first, facts } of clicks) {
    const bits = isPerson(reason) ? first : 0;
    const [visitors, tenantVisitors] = [bits & firstToLink ? 1 : 0, bits & firstToTenant ? 1 : 0];
    tally.reasons[reason] = (tally.reasons[reason] ?? 0) + 1;
    tally.visitors += visitors;
    tally.tenantVisitors += tenantVisitors;
    const values = isPerson(reason) ? tally.people : tally.rest;
    for (const [column, dimension] of dimensions.entries()) {
      addOverflowValue(tally, values, dimension, facts[column] ?? none, 1, visitors, tenantVisitors);
    }
  }
  return tally;
}

function tallyOf(clicks: readonly Click[], whose: FirstOf): Tally {
  const tally = newTally();
  const bit = whose === "link" ? firstToLink : firstToTenant;
  for (const { reason, first, facts } of clicks) {
    addClick(tally, { at: quarter + 5, reason, isFirst: isPerson(reason) && (first & bit) !== 0, facts }, false);
  }
  return tally;
}

test("the text of an overflow row is read as the tally of its clicks, with the visitors of the link or of the tenant", () => {
  fc.assert(
    fc.property(fc.array(click), (clicks) => {
      const text = overflowText(overflowOf(clicks));
      for (const whose of ["link", "tenant"] as const) {
        expect(readTallyText(text, quarter, whose)).toEqual(tallyOf(clicks, whose));
      }
    }),
  );
});

test("a row that is read back goes on as it was", () => {
  fc.assert(
    fc.property(fc.array(click), (clicks) => {
      const tally = overflowOf(clicks);
      expect(readOverflowText(overflowText(tally))).toEqual(tally);
    }),
  );
});

test("a row that an older version wrote is read as before", () => {
  fc.assert(
    fc.property(fc.array(click), (clicks) => {
      const tally = tallyOf(clicks, "tenant");
      expect(readTallyText(writeTallyText(tally, quarter), quarter, "tenant")).toEqual(tally);
    }),
  );
});

test("a row keeps the most frequent values, and the others as one", () => {
  const tally = newOverflowTally();
  const add = (value: string, clicks: number) => {
    tally.reasons[0] = (tally.reasons[0] ?? 0) + clicks;
    addOverflowValue(tally, tally.people, "city", value, clicks, 1, 0);
  };
  for (let n = 1; n <= valuesMost + 2; n++) add(`city ${n}`, n);
  add(other, 5);
  add(none, 9);
  trimOverflow(tally);
  const cities = readTallyText(overflowText(tally), quarter).people.get("city");
  expect(cities?.size).toBe(valuesMost + 2);
  expect([cities?.has("city 1"), cities?.has("city 2"), cities?.has("city 3")]).toEqual([false, false, true]);
  expect(cities?.get(other)).toEqual({ clicks: 5 + 1 + 2, visitors: 3 });
  expect(cities?.get(none)?.clicks).toBe(9);
  expect(readOverflowText(overflowText(tally))).toEqual(tally);
});
