import { expect, test } from "bun:test";
import fc from "fast-check";
import { fillEvenly } from "./fill-evenly.ts";

const vessel = (bottom: number, top: number) => ({ bottom, top });

test("the emptiest get the same level, and those that had more keep what they had", () => {
  expect(fillEvenly([vessel(0, 9), vessel(0, 2), vessel(5, 9), vessel(1, 9)], 9, 0)).toEqual([4, 2, 5, 4]);
});

test("what is left of the last unit goes to some of them, and to others in the next turn", () => {
  const four = [vessel(0, 9), vessel(0, 9), vessel(0, 9), vessel(0, 9)];
  expect(fillEvenly(four, 6, 0)).toEqual([2, 2, 1, 1]);
  expect(fillEvenly(four, 6, 3)).toEqual([2, 1, 1, 2]);
});

test("never more than there is, never less than fits, and no vessel beyond its top", () => {
  const vessels = fc.array(
    fc.tuple(fc.nat(20), fc.nat(20)).map(([bottom, room]) => vessel(bottom, bottom + room)),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(vessels, fc.nat(150), fc.nat(30), (all, amount, turn) => {
      const levels = fillEvenly(all, amount, turn);
      const poured = levels.reduce((sum, level, place) => sum + level - (all[place]?.bottom ?? 0), 0);
      const room = all.reduce((sum, { bottom, top }) => sum + top - bottom, 0);
      expect(poured).toBe(Math.min(amount, room));
      for (const [place, level] of levels.entries()) {
        const { bottom = 0, top = 0 } = all[place] ?? {};
        expect(level).toBeWithin(bottom, top + 1);
        // One with less could have been given the last unit instead.
        const lowest = Math.min(...levels.filter((one, other) => one < (all[other]?.top ?? 0)));
        if (level > bottom) expect(level).toBeLessThanOrEqual(lowest + 1);
      }
    }),
  );
});
