import { describe, expect, test } from "bun:test";
import { dayMs } from "../../base/clock.ts";
import { searchedDays } from "./events.ts";

describe("the days in which a report looks for clicks", () => {
  const day = (number: number, part = 0) => (number + part) * dayMs;
  const tenYears = { from: day(17_000), to: day(20_653) };

  test("are those of its range", () => {
    expect(searchedDays({ from: day(100, 0.5), to: day(103) }, {})).toEqual([100, 101, 102]);
    expect(searchedDays({ from: day(100, 0.5), to: day(103, 0.1) }, {})).toEqual([100, 101, 102, 103]);
  });

  test("are few for a tenant with few days, however long the range is", () => {
    const lived = { from: day(20_600, 0.75), to: day(20_602, 0.75) };
    expect(searchedDays(tenYears, { lived })).toEqual([20_600, 20_601, 20_602]);
    expect(searchedDays(tenYears, { lived, eventsFrom: day(20_602) })).toEqual([20_602]);
  });

  test("are one outside of the tenant's days: a list of none is no SQL", () => {
    const lived = { from: day(20_600), to: day(20_610) };
    expect(searchedDays({ from: day(17_000), to: day(17_100) }, { lived })).toHaveLength(1);
    expect(searchedDays({ from: day(30_000), to: day(33_000) }, { lived })).toHaveLength(1);
    expect(searchedDays(tenYears, { eventsFrom: day(30_000) })).toHaveLength(1);
  });
});
