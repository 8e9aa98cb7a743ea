import { expect, test } from "bun:test";
import { contrast, parseColour } from "../qr/colour.ts";
import { readableColours, toBrand } from "./brand.ts";

test("every colour becomes one that can be read on light and on dark pages, and stays itself where it can be read", () => {
  for (const colour of ["#ffffff", "#000000", "#ffff00", "#00ff00", "#2d5bd8", "#808080", "#ff0000", "#7da3ff"]) {
    const { light, dark } = readableColours(colour);
    expect(contrast(parseColour(light), parseColour("#ffffff"))).toBeGreaterThanOrEqual(4.5);
    expect(contrast(parseColour("#15161a"), parseColour(dark))).toBeGreaterThanOrEqual(4.5);
  }
  expect(readableColours("#2d5bd8").light).toBe("#2d5bd8");
  expect(readableColours("#7da3ff").dark).toBe("#7da3ff");
});

test("without a colour there is no style of its own", () => {
  expect(toBrand({ name: "N", colour: null, logoHash: "abc" })).toMatchObject({ style: "", logo: "/brand/abc" });
});
