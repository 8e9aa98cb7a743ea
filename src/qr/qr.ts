import { invalid } from "../base/errors.ts";
import { type Colour, contrast, parseColour } from "./colour.ts";
import { logoHole, withHole } from "./logo-hole.ts";
import { type Level, type Matrix, matrixOf } from "./matrix.ts";
import { type Band, type ColumnRange, encodePng } from "./png.ts";

/** A QR code as an image of a text, with a size in pixels, a margin and two colours. */
export interface QrOptions {
  readonly format: "svg" | "png";
  /** Pixels on each side, including the margin. */
  readonly size: number;
  /** In squares of the code. Scanners need 4. */
  readonly margin: number;
  readonly dark: string;
  readonly light: string;
  readonly level: Level;
}

/** An image for the middle. */
export interface QrLogo {
  readonly type: string;
  readonly bytes: Buffer;
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

// What ordinary phone cameras can still read in ordinary light.
const contrastLeast = 3;

/** With a logo, the highest level of error correction is used whatever the options say. Only an SVG can have one. */
export async function drawQr(text: string, options: QrOptions, logo?: QrLogo): Promise<Buffer> {
  const ratio = contrast(parseColour(options.dark), parseColour(options.light));
  if (ratio < contrastLeast) {
    throw invalid(
      "dark",
      "low_contrast",
      `The colours are too similar for a camera (contrast ${ratio.toFixed(1)}:1, at least ${contrastLeast}:1 needed). Use a darker \`dark\` or a lighter \`light\`.`,
    );
  }
  const matrix = matrixOf(text, logo === undefined ? options.level : "H");
  const fitting = matrix.size + 2 * options.margin;
  if (options.size < fitting) {
    throw invalid("size", "too_small", `Must be at least ${fitting} pixels: this code is ${fitting} modules wide.`);
  }
  if (logo === undefined) return drawMatrix(matrix, options);
  if (options.format !== "svg") throw invalid("logo", "svg_only", "Only an SVG can have a logo. Use format=svg.");
  const hole = logoHole(matrix.size);
  const drawn = (await drawMatrix(withHole(matrix, hole), options)).toString();
  return Buffer.from(drawn.replace("</svg>", `${logoImage(logo, hole.at + options.margin, hole.size)}</svg>`));
}

/** Half a square of space around it. */
const logoImage = ({ type, bytes }: QrLogo, at: number, size: number): string =>
  `<image href="data:${type};base64,${bytes.toString("base64")}" x="${at + 0.5}" y="${at + 0.5}" width="${size - 1}" height="${size - 1}"/>`;

export async function drawMatrix(matrix: Matrix, options: QrOptions): Promise<Buffer> {
  const [dark, light] = [parseColour(options.dark), parseColour(options.light)];
  return options.format === "svg"
    ? Buffer.from(toSvg(matrix, options, dark, light))
    : toPng(matrix, options, dark, light);
}

/** Draws one path, in which each run of dark squares in a row is a rectangle. */
function toSvg(matrix: Matrix, { size, margin }: QrOptions, dark: Colour, light: Colour): string {
  const width = matrix.size + 2 * margin;
  let path = "";
  for (let row = 0; row < matrix.size; row++) {
    for (const [start, end] of darkRuns(matrix, row)) {
      path += `M${start + margin} ${row + margin}h${end - start}v1h-${end - start}z`;
    }
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="0 0 ${width} ${width}" shape-rendering="crispEdges"><path ${fill(light)} d="M0 0h${width}v${width}h-${width}z"/><path ${fill(dark)} d="${path}"/></svg>\n`;
}

function fill({ red, green, blue, alpha }: Colour): string {
  const hex = [red, green, blue].map((part) => part.toString(16).padStart(2, "0")).join("");
  return `fill="#${hex}"${alpha === 255 ? "" : ` fill-opacity="${(alpha / 255).toFixed(3)}"`}`;
}

/** All squares have the same whole number of pixels. The remainder widens the margin. */
function toPng(matrix: Matrix, { size, margin }: QrOptions, dark: Colour, light: Colour): Promise<Buffer> {
  const scale = Math.floor(size / (matrix.size + 2 * margin));
  const before = Math.floor((size - scale * matrix.size) / 2);
  const bands: Band[] = [{ rows: before, runs: [] }];
  for (let row = 0; row < matrix.size; row++) {
    const runs = darkRuns(matrix, row).map(
      ([start, end]): ColumnRange => [before + start * scale, before + end * scale],
    );
    bands.push({ rows: scale, runs });
  }
  bands.push({ rows: size - before - scale * matrix.size, runs: [] });
  return encodePng({ width: size, height: size, colours: [light, dark], bands });
}

/** The dark runs of a row, as half-open ranges of squares. */
function darkRuns(matrix: Matrix, row: number): ColumnRange[] {
  const runs: ColumnRange[] = [];
  let start: number | undefined;
  for (let column = 0; column < matrix.size; column++) {
    const isDark = matrix.isDark(row, column);
    if (isDark) start ??= column;
    else if (start !== undefined) {
      runs.push([start, column]);
      start = undefined;
    }
  }
  if (start !== undefined) runs.push([start, matrix.size]);
  return runs;
}
