import { expect, test } from "bun:test";
import { periods, trendFrom } from "./period.ts";

test("trends begin by the given date, which is the workspace's, and not by the browser's", () => {
  expect(periods.map((period) => trendFrom(period, "2026-10-31"))).toEqual([
    ...["2026-10-01", "2026-10-25", "2026-10-02", "2026-08-03", "2026-10-02"],
  ]);
  expect(trendFrom("month", "2026-11-01")).toBe("2026-11-01");
});
