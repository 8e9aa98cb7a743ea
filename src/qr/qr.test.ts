import { describe, expect, test } from "bun:test";
import { readPng, readSvg, scan } from "../../test/ground/pictures.ts";
import { Problem } from "../base/errors.ts";
import { levels, matrixOf } from "./matrix.ts";
import { drawMatrix, drawQr, type QrOptions, qrDefaults } from "./qr.ts";
import { drawOnTerminal } from "./terminal.ts";

const text = "https://go.example.com/9MVOHr3";

async function scanned(more: Partial<QrOptions>, what = text): Promise<string | undefined> {
  const options = { ...qrDefaults, ...more };
  const bytes = await drawQr(what, options);
  const pixels = options.format === "png" ? readPng(bytes) : readSvg(bytes.toString());
  expect([pixels.width, pixels.height]).toEqual([options.size, options.size]);
  return scan(pixels);
}

async function refusal(more: Partial<QrOptions>, what = text): Promise<string | undefined> {
  const error = await drawQr(what, { ...qrDefaults, ...more }).catch((problem: unknown) => problem);
  return error instanceof Problem ? error.more.errors?.map((one) => `${one.field} ${one.code}`).join() : undefined;
}

describe.each(["svg", "png"] as const)("as %s, what is drawn can be read again", (format) => {
  test.each([64, 65, 127, 200, 333, 512, 1_000, 2_048])("at %d pixels", async (size) => {
    expect(await scanned({ format, size, margin: 2 })).toBe(text);
  });

  test.each([...levels])("at level %s", async (level) => {
    expect(await scanned({ format, level })).toBe(text);
    expect(await scanned({ format, level }, `${text}/${"x".repeat(64)}`)).toBe(`${text}/${"x".repeat(64)}`);
  });

  test.each([0, 1, 4, 7, 10])("with a margin of %d", async (margin) => {
    expect(await scanned({ format, margin })).toBe(text);
  });

  test.each([
    ["#1a2b3c", "#fffaf0"],
    ["00457c", "ffffff"],
    ["#000000", "#ffffff00"],
    ["#8b0000cc", "#ffffffff"],
    ["#FFFFFF", "#101010"],
  ])("in %s on %s", async (dark, light) => {
    expect(await scanned({ format, dark, light })).toBe(text);
  });

  test("colours that a camera cannot tell apart are refused", async () => {
    for (const [dark, light] of [
      ["#ffffff", "#ffffff"],
      ["#777777", "#888888"],
      ["#ffff00", "#ffffff"],
      ["#00000010", "#ffffff"],
      ["#ffffff", "#00000000"],
    ] as const) {
      expect({ dark, refusal: await refusal({ format, dark, light }) }).toEqual({
        dark,
        refusal: "dark low_contrast",
      });
    }
  });

  test("more squares than pixels are refused, not drawn as a blur", async () => {
    expect(await refusal({ format, size: 64, level: "H", margin: 10 }, `${text}/${"x".repeat(64)}`)).toBe(
      "size too_small",
    );
  });
});

test("in a PNG every square has the same number of whole pixels", async () => {
  const { width, data } = readPng(await drawQr(text, { ...qrDefaults, format: "png", size: 333 }));
  const middle = Array.from({ length: width }, (_, column) => data[(166 * width + column) * 4] ?? 0);
  const runs =
    middle
      .join(",")
      .match(/(?:\b0\b,?)+|(?:\b255\b,?)+/g)
      ?.slice(1, -1) ?? [];
  const lengths = runs.map((run) => run.split(",").filter(Boolean).length);
  const square = Math.min(...lengths);
  expect(runs.length).toBeGreaterThan(5);
  expect(lengths.filter((length) => length % square !== 0)).toEqual([]);
});

test("what a terminal shows can be read by a camera", () => {
  const lines = drawOnTerminal(text).trimEnd().split("\n");
  const [scale, columns] = [4, lines[0]?.length ?? 0];
  const [width, height] = [columns * scale, lines.length * 2 * scale];
  const data = new Uint8ClampedArray(width * height * 4).fill(255);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const square = lines[Math.floor(y / scale / 2)]?.[Math.floor(x / scale)] ?? " ";
      const isLight = square === "█" || square === (Math.floor(y / scale) % 2 === 0 ? "▀" : "▄");
      data.fill(isLight ? 255 : 0, (y * width + x) * 4, (y * width + x) * 4 + 3);
    }
  }
  expect(scan({ width, height, data })).toBe(text);
});

test("drawing looks at each square once, however many pixels it has", async () => {
  for (const format of ["svg", "png"] as const) {
    const matrix = matrixOf(text, "M");
    let looks = 0;
    const isDark = (row: number, column: number) => {
      looks++;
      return matrix.isDark(row, column);
    };
    await drawMatrix({ size: matrix.size, isDark }, { ...qrDefaults, format, size: 2_048 });
    expect([format, looks]).toEqual([format, matrix.size ** 2]);
  }
});
