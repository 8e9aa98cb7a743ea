import { expect, test } from "bun:test";
import { bar, chartSizes, lineChart, niceTop } from "./chart.ts";

test("the axis ends at a round number that is not below any value", () => {
  for (const most of [0, 1, 3, 4, 5, 7, 9, 10, 99, 101, 1_234, 8_001, 999_999]) {
    expect(niceTop(most)).toBeGreaterThanOrEqual(most);
    expect(niceTop(most) % 4).toBe(0);
  }
});

test("a chart of nothing, of one point and of many draws only numbers, and labels are text", () => {
  for (const count of [0, 1, 2, 400]) {
    const points = Array.from({ length: count }, (_, i) => ({ label: `<${i}>`, value: i * 3 }));
    const svg = chartSizes.map((size) => lineChart(points, 'a "chart"', size)).join("");
    expect(svg).not.toMatch(/NaN|Infinity|undefined/);
    expect(svg).toContain('aria-label="a &#34;chart&#34;"');
    expect(svg).not.toContain("<0>");
  }
  expect(bar(0)).toContain('width="0.5"');
});

test("the labels at both ends of the axis stay inside the picture", () => {
  const points = Array.from({ length: 13 }, (_, i) => ({ label: `label ${i}`, value: i }));
  const [wide] = chartSizes;
  if (wide === undefined) throw new Error("no size");
  const anchors = [...lineChart(points, "a chart", wide).matchAll(/text-anchor="(\w+)">label/g)].map(([, how]) => how);
  expect(anchors).toEqual(["start", "middle", "middle", "middle", "end"]);
});
