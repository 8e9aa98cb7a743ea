import { expect, test } from "bun:test";
import type { ClickReport } from "../../api/generated.ts";
import { moversOf, reasonOf } from "./movers.ts";

type Breakdowns = ClickReport["breakdowns"];
type Value = Breakdowns[string]["values"][number];

const report = (breakdowns: Breakdowns): ClickReport => ({ breakdowns }) as ClickReport;
const listed = (values: readonly Value[], other = 0) => report({ link: { values, none: 0, other, notItemised: 0 } });
const link = (code: string, clicks: number, previousClicks: number | null): Value => ({
  ...{ value: `lnk_${code}`, clicks, visitors: clicks, previousClicks },
  link: { id: `lnk_${code}`, domain: "al.example", code, title: null },
});
const names = (movers: readonly { name: string }[]) => movers.map(({ name }) => name);

test("the largest changes come first, and unknown ones are left out", () => {
  const now = listed([link("a", 10, 2), link("b", 30, 10), link("c", 1, 9), link("d", 5, null), link("e", 4, 4)]);
  const { up, down } = moversOf(now, undefined, 5);
  expect(names(up)).toEqual(["al.example/b", "al.example/a"]);
  expect(names(down)).toEqual(["al.example/c"]);
});

test("a link without any click left is found in the period before", () => {
  const before = listed([link("gone", 40, null), link("a", 2, null)]);
  expect(moversOf(listed([link("a", 3, 2)]), before, 5).down).toMatchObject([{ now: 0, before: 40 }]);
});

test("a link that may be among the others has not lost everything", () => {
  const before = listed([link("gone", 40, null)]);
  expect(moversOf(listed([link("a", 3, 2)], 12), before, 5).down).toEqual([]);
});

const by = (counts: Readonly<Record<string, number>>, none = 0): Breakdowns[string] => ({
  values: Object.entries(counts).map(([value, clicks]) => ({ value, clicks, visitors: clicks })),
  ...{ none, other: 0, notItemised: 0 },
});
const mover = { id: "lnk_a", name: "al.example/a", now: 120, before: 20 };

test("the source that explains the change is named", () => {
  const now = report({ utm_source: by({ newsletter: 100, x: 20 }) });
  const before = report({ utm_source: by({ x: 20 }) });
  expect(reasonOf(mover, now, before)).toMatchObject({ value: "newsletter", now: 100, before: 0 });
});

test("a change without a main source has no reason", () => {
  const now = report({ utm_source: by({ a: 40, b: 40, c: 40 }), country: by({}, 120) });
  const before = report({ utm_source: by({ a: 10, b: 10 }), country: by({}, 20) });
  expect(reasonOf(mover, now, before)).toBeUndefined();
});

test("a loss is explained by what was lost", () => {
  const now = report({ referrer: by({ news: 5, blog: 30 }) });
  const before = report({ referrer: by({ news: 90, blog: 30 }) });
  expect(reasonOf({ ...mover, now: 35, before: 120 }, now, before)).toMatchObject({ value: "news" });
});
