import { invalid } from "../base/errors.ts";
import { type Colour, contrast, parseColour } from "./colour.ts";
import { type Level, type Matrix, matrixOf } from "./matrix.ts";
import { encodePng } from "./png.ts";

/** A QR code as a picture: of a text, so many pixels wide, with a margin, in two colours. */
export interface QrOptions {
  readonly format: "svg" | "png";
  /** Pixels on each side, the margin included. */
  readonly size: number;
  /** In squares of the code; scanners want 4. */
  readonly margin: number;
  readonly dark: string;
  readonly light: string;
  readonly level: Level;
}

export const qrDefaults: QrOptions = {
  format: "svg",
  size: 512,
  margin: 4,
  dark: "#000000",
  light: "#ffffff",
  level: "M",
};
export const sizeLeast = 64;
export const sizeMost = 2_048;
export const marginMost = 10;
export const contentTypes = { svg: "image/svg+xml", png: "image/png" } as const;

// What cameras of ordinary phones still read by ordinary light.
const contrastLeast = 3;

export async function drawQr(text: string, options: QrOptions): Promise<Buffer> {
  const [dark, light] = [parseColour(options.dark), parseColour(options.light)];
  const ratio = contrast(dark, light);
  if (ratio < contrastLeast) {
    throw invalid(
      "dark",
      "low_contrast",
      `The colours are too alike to be read by a camera (${ratio.toFixed(1)}:1, and ${contrastLeast}:1 is needed). Take a darker \`dark\` or a lighter \`light\`.`,
    );
  }
  const matrix = matrixOf(text, options.level);
  const fitting = matrix.size + 2 * options.margin;
  if (options.size < fitting) {
    throw invalid("size", "too_small", `This code is ${fitting} squares wide: it needs at least as many pixels.`);
  }
  return options.format === "svg"
    ? Buffer.from(toSvg(matrix, options, dark, light))
    : toPng(matrix, options, dark, light);
}

/** One path: a run of dark squares in a row is a rectangle in it. */
function toSvg(matrix: Matrix, { size, margin }: QrOptions, dark: Colour, light: Colour): string {
  const width = matrix.size + 2 * margin;
  let path = "";
  for (let row = 0; row < matrix.size; row++) {
    for (let start = 0; start < matrix.size; start++) {
      if (!matrix.isDark(row, start)) continue;
      let end = start + 1;
      while (end < matrix.size && matrix.isDark(row, end)) end++;
      path += `M${start + margin} ${row + margin}h${end - start}v1h-${end - start}z`;
      start = end;
    }
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="0 0 ${width} ${width}" shape-rendering="crispEdges"><path ${fill(light)} d="M0 0h${width}v${width}h-${width}z"/><path ${fill(dark)} d="${path}"/></svg>\n`;
}

function fill({ red, green, blue, alpha }: Colour): string {
  const hex = [red, green, blue].map((part) => part.toString(16).padStart(2, "0")).join("");
  return `fill="#${hex}"${alpha === 255 ? "" : ` fill-opacity="${(alpha / 255).toFixed(3)}"`}`;
}

/** Squares of whole pixels, all alike; what is left over makes the margin wider. */
function toPng(matrix: Matrix, { size, margin }: QrOptions, dark: Colour, light: Colour): Promise<Buffer> {
  const scale = Math.floor(size / (matrix.size + 2 * margin));
  const before = Math.floor((size - scale * matrix.size) / 2);
  const place = (pixel: number) => Math.floor((pixel - before) / scale);
  const isInside = (square: number) => square >= 0 && square < matrix.size;
  return encodePng({
    width: size,
    height: size,
    colours: [light, dark],
    isSet(row, column) {
      const [down, across] = [place(row), place(column)];
      return isInside(down) && isInside(across) && matrix.isDark(down, across);
    },
    isAsAbove: (row) => place(row) === place(row - 1),
  });
}
