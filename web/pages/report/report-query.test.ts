import { expect, test } from "bun:test";
import { parseFilters } from "../../../src/clicks/reports/filters.ts";
import { clickParams } from "./report-query.ts";
import { traffics } from "./report-state.ts";

const filters = [{ field: "country", kind: "is", values: ["DE"] }] as const;
const params = { range: { from: "2026-11-01", to: "2026-11-17" }, zone: "Europe/Berlin", filters };

test("single clicks are those of the chosen period, filters and traffic", () => {
  const asked = traffics.map((traffic) => clickParams({ ...params, traffic }));
  expect(asked.map(({ filter }) => filter)).toEqual([
    ["country=DE", "reason=counted"],
    ["country=DE", "reason!=counted"],
    ["country=DE"],
  ]);
  for (const { from, to, zone, filter } of asked) {
    expect([from, to, zone]).toEqual(["2026-11-01", "2026-11-17", "Europe/Berlin"]);
    expect(parseFilters(filter)).toHaveLength(filter.length);
  }
});
