import { expect, test } from "bun:test";
import type { ClickReport } from "../../api/generated.ts";
import { comparedOf } from "./compared.ts";
import { inexactOf } from "./inexact.ts";

type Itemised = ClickReport["itemised"];

const known = (clicks: number, of: number): Itemised => ({ clicks, of, notInSeries: 0 });
const reportOf = (itemised: Itemised, before: Itemised): ClickReport =>
  ({
    ...{ itemised, sampled: null, visitorsCapped: null, imported: null },
    previous: { totals: { clicks: 0, visitors: 0, bots: 0 }, itemised: before },
  }) as unknown as ClickReport;

test("a compared period whose clicks are not known is not shown as one without clicks", () => {
  const report = reportOf(known(90, 90), known(0, 2_773));
  expect(comparedOf(report)).toEqual({ previous: null, isLower: true, hasChange: false });
  expect(inexactOf(report)).toEqual([
    "For 2,773 of 2,773 clicks of the compared period it is not known whether they match, so no change is shown.",
  ]);
});

test("of a period that is known in part, numbers are shown and no change", () => {
  const before = reportOf(known(90, 90), known(40, 50));
  expect(comparedOf(before)).toEqual({ previous: before.previous, isLower: true, hasChange: false });
  const now = reportOf(known(80, 90), known(50, 50));
  expect(comparedOf(now)).toEqual({ previous: now.previous, isLower: false, hasChange: false });
  expect(inexactOf(now)).toHaveLength(1);
});

test("a change is shown where both periods are known, also if they have no clicks", () => {
  for (const itemised of [null, known(50, 50), known(0, 0)]) {
    const report = reportOf(itemised, itemised);
    expect(comparedOf(report)).toEqual({ previous: report.previous, isLower: false, hasChange: true });
    expect(inexactOf(report)).toEqual([]);
  }
});
