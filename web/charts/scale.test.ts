import { expect, test } from "bun:test";
import { labelPlaces, roundTicks, scales } from "./scale.ts";

test.each([
  [0, [0, 1]],
  [1, [0, 1]],
  [3, [0, 1, 2, 3]],
  [7, [0, 2, 4, 6, 8]],
  [1_130, [0, 500, 1_000, 1_500]],
  [457, [0, 200, 400, 600]],
])("up to %d has the ticks %j", (most, ticks) => {
  expect(roundTicks(most)).toEqual(ticks);
});

test("ticks hold every value, are whole and few", () => {
  for (let most = 1; most < 100_000; most = Math.ceil(most * 1.13)) {
    const ticks = roundTicks(most);
    expect(ticks.at(-1)).toBeGreaterThanOrEqual(most);
    expect(ticks.every(Number.isInteger)).toBe(true);
    expect(ticks.length).toBeLessThanOrEqual(6);
    expect(ticks.length).toBeGreaterThanOrEqual(2);
  }
});

test("labels never exceed their room, and the last place has one", () => {
  for (const [count, most] of [
    [1, 5],
    [5, 5],
    [16, 6],
    [30, 4],
    [366, 7],
  ] as const) {
    const places = labelPlaces(count, most);
    expect(places.length).toBeLessThanOrEqual(most);
    expect(places.at(-1)).toBe(count - 1);
  }
  expect(labelPlaces(0, 3)).toEqual([]);
});

test("a pixel finds the nearest place, also outside", () => {
  const size = { width: 110, height: 50, left: 10, right: 0, top: 0, bottom: 0 };
  const { x, placeAt } = scales(size, 11, 5);
  expect([placeAt(-5), placeAt(x(3) + 4), placeAt(x(3) + 6), placeAt(500)]).toEqual([0, 3, 4, 10]);
});
