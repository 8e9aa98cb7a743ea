import { expect, test } from "bun:test";
import { type Breakdown, rowsOf, topRows } from "./bar-rows.ts";

const name = (value: string) => (value === "" ? "None" : value);
const value = (value: string, clicks: number) => ({ value, clicks, visitors: clicks });
const breakdown = (given: Partial<Breakdown>): Breakdown => ({
  ...{ values: [], none: 0, other: 0, notItemised: 0 },
  ...given,
});
const sum = (rows: readonly { clicks: number }[]) => rows.reduce((total, { clicks }) => total + clicks, 0);

test("rows add up to the total, whatever is cut", () => {
  const values = Array.from({ length: 20 }, (_, place) => value(`v${place}`, 100 - place));
  const total = values.reduce((all, { clicks }) => all + clicks, 0) + 7 + 5 + 3;
  const found = breakdown({ values, none: 7, other: 5, notItemised: 3 });
  for (let most = 1; most < 25; most++) expect(sum(topRows(found, name, most))).toBe(total);
  expect(sum(rowsOf(found, name))).toBe(total);
});

test("none is a value like others, by its size", () => {
  const rows = topRows(breakdown({ values: [value("a", 5), value("b", 1)], none: 3 }), name, 5);
  expect(rows.map((row) => row.name)).toEqual(["a", "None", "b"]);
});

test("other says how many values it has only if all of them are known", () => {
  const values = [1, 2, 3, 4, 5, 6, 7, 8].map((clicks) => value(`v${clicks}`, clicks));
  expect(topRows(breakdown({ values }), name, 5).at(-1)).toMatchObject({ kind: "other", count: 3, clicks: 6 });
  expect(topRows(breakdown({ values, other: 9 }), name, 5).at(-1)).toMatchObject({ clicks: 15, count: undefined });
});

test("a single value more is shown instead of hidden as other", () => {
  const values = [1, 2, 3, 4, 5, 6].map((clicks) => value(`v${clicks}`, clicks));
  expect(topRows(breakdown({ values }), name, 5).every(({ kind }) => kind === "value")).toBe(true);
});
