import { expect, test } from "bun:test";
import { cutAtAntimeridian } from "./antimeridian.ts";
import { mapHeight, mapWidth, project } from "./projection.ts";
import { worldShapes } from "./world-shapes.ts";

const shapes = worldShapes();

test("every shape but areas without a code has one of its own", () => {
  const codes = shapes.map(({ code }) => code).filter((code) => code !== "");
  expect(new Set(codes).size).toBe(codes.length);
  expect(codes).toContain("XK");
  expect(shapes.length - codes.length).toBe(2);
});

test("known places are where they belong", () => {
  const [greenwich] = project(0, 0);
  expect(greenwich).toBe(mapWidth / 2);
  const [berlinX, berlinY] = project(13.4, 52.5);
  const [sydneyX, sydneyY] = project(151.2, -33.9);
  expect(berlinX).toBeLessThan(sydneyX);
  expect(berlinY).toBeLessThan(sydneyY);
});

test("all shapes are inside of the map", () => {
  for (const { code, path } of shapes) {
    let [x, y] = [0, 0];
    for (const [, step, dx, dy] of path.matchAll(/([Ml])(-?[\d.]+) (-?[\d.]+)/g)) {
      [x, y] = step === "M" ? [Number(dx), Number(dy)] : [x + Number(dx), y + Number(dy)];
      expect([code, x > -1 && x < mapWidth + 1 && y > -1 && y < mapHeight + 1]).toEqual([code, true]);
    }
  }
});

test("no shape reaches across the whole map", () => {
  for (const { code, path } of shapes) {
    const longest = Math.max(...[...path.matchAll(/l(-?[\d.]+) /g)].map(([, dx]) => Math.abs(Number(dx))));
    expect([code, longest < mapWidth / 8]).toEqual([code, true]);
  }
});

test("a shape across the antimeridian has a part on each side", () => {
  const square = [
    [170, 0],
    [-170, 0],
    [-170, 10],
    [170, 10],
    [170, 0],
  ] as const;
  const parts = cutAtAntimeridian(square).map((part) => part.map(([longitude]) => longitude));
  expect(parts.map((part) => [Math.min(...part), Math.max(...part)])).toEqual([
    [-180, -170],
    [170, 180],
  ]);
});
