import { describe, expect, test } from "bun:test";
import { shareOf, spentAt } from "./forecast.ts";

const november = { startsAt: Date.UTC(2026, 10, 1), endsAt: Date.UTC(2026, 11, 1) };
const day = (number: number) => Date.UTC(2026, 10, number);

const standing = (used: number, max: number | null, held = 0) => ({ used, held, max });

describe("the share of a limit", () => {
  test("is what is used and held of it, and never more than all", () => {
    expect(shareOf(standing(40, 100))).toBe(0.4);
    expect(shareOf(standing(40, 100, 10))).toBe(0.5);
    expect(shareOf(standing(140, 100))).toBe(1);
  });

  test("is nothing without a limit, and all of a limit of 0", () => {
    expect(shareOf(standing(40, null))).toBe(0);
    expect(shareOf(standing(0, 0))).toBe(1);
  });
});

describe("a limit will be spent", () => {
  test("when the pace of the month so far leads there", () => {
    expect(spentAt(standing(500, 1_000), november, day(11))).toBe(day(21));
  });

  test("not this month when the pace is slower than that", () => {
    expect(spentAt(standing(300, 1_000), november, day(11))).toBeNull();
    expect(spentAt(standing(0, 1_000), november, day(11))).toBeNull();
  });

  test("now when it already is, whatever the window", () => {
    expect(spentAt(standing(1_000, 1_000), november, day(11))).toBe(day(11));
    expect(spentAt(standing(990, 1_000, 10), undefined, day(11))).toBe(day(11));
    expect(spentAt(standing(0, 0), undefined, day(11))).toBe(day(11));
  });

  test("never without a limit, and unknown without a rate", () => {
    expect(spentAt(standing(500, null), november, day(11))).toBeNull();
    expect(spentAt(standing(500, 1_000), undefined, day(11))).toBeNull();
  });
});
