import { expect, test } from "bun:test";
import { annotationGroups } from "./annotation-groups.ts";

const count = (many: number) => `${many} notes`;
const at = (place: number, text = "newsletter") => ({ place, one: text, text });

test("annotations far apart have their own labels", () => {
  const groups = annotationGroups([at(20), at(2)], (place) => place * 10, 300, count);
  expect(groups.map(({ text, places }) => [text, places])).toEqual([
    ["newsletter", [2]],
    ["newsletter", [20]],
  ]);
});

test("labels that would cover each other become a count that keeps every annotation", () => {
  const groups = annotationGroups([at(2, "a"), at(3, "b"), at(4, "c"), at(28, "d")], (place) => place * 10, 300, count);
  expect(groups.map(({ text, members }) => [text, members])).toEqual([
    ["3 notes", ["a", "b", "c"]],
    ["d", ["d"]],
  ]);
});

test("labels stay inside the chart and never overlap, however many there are", () => {
  const many = Array.from({ length: 60 }, (_, place) => at(place, "x".repeat(place % 40)));
  const groups = annotationGroups(many, (place) => place * 5, 300, count);
  let end = 0;
  for (const { left, width } of groups) {
    expect(left).toBeGreaterThanOrEqual(end);
    end = left + width;
  }
  expect(end).toBeLessThanOrEqual(300);
  expect(groups.flatMap(({ members }) => members)).toHaveLength(60);
});

test("a label at the first or the last day stays inside the chart", () => {
  const groups = annotationGroups([at(0), at(30)], (place) => place * 10, 300, count);
  expect(groups.map(({ left, width }) => [left >= 0, left + width <= 300])).toEqual([
    [true, true],
    [true, true],
  ]);
});
