import { expect, test } from "bun:test";
import { readSvg, scan } from "../../../../test/ground/pictures.ts";
import { contrastOf, isInverted, plainDesign } from "./design.ts";
import { drawingOf, svgText } from "./drawing.ts";

const url = "https://go.example.com/winter";

/** What the decoder of the tests understands: paths alone. */
const scanned = (design: typeof plainDesign): string | undefined =>
  scan(readSvg(svgText(drawingOf(url, design), design, 512).replaceAll(/<g [^>]*>|<\/g>|<image[^>]*>/g, "")));

test("a code can be read, also with a hole for the logo", () => {
  expect(scanned(plainDesign)).toBe(`${url}?qr`);
  expect(scanned({ ...plainDesign, logo: "data:image/png;base64,AA==", margin: 2 })).toBe(`${url}?qr`);
});

test("nothing is drawn where the logo is", () => {
  const { hole, path, width } = drawingOf(url, { ...plainDesign, logo: "data:," });
  expect(hole).toBeDefined();
  expect(((hole?.at ?? 0) * 2 + (hole?.size ?? 0)) as number).toBe(width);
  const runs = [...path.matchAll(/M(\d+) (\d+)h(\d+)/g)].map(
    ([, x, y, w]) => [Number(x), Number(y), Number(w)] as const,
  );
  const { at = 0, size = 0 } = hole ?? {};
  expect(runs.filter(([x, y, w]) => y >= at && y < at + size && x < at + size && x + w > at)).toEqual([]);
});

test("colours that a camera cannot tell apart are known, and light squares on dark ground", () => {
  expect(contrastOf({ ...plainDesign, dark: "#ffff00" })).toBeLessThan(3);
  expect(isInverted({ ...plainDesign, dark: "#ffffff", light: "#101010" })).toBe(true);
  expect(isInverted(plainDesign)).toBe(false);
});
