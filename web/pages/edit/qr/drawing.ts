import { logoHole, withHole } from "../../../../src/qr/logo-hole.ts";
import { type Matrix, matrixOf } from "../../../../src/qr/matrix.ts";
import type { QrDesign } from "./design.ts";

/** A QR code as SVG parts, and as files. Drawn here, so that it follows a code that is still being typed. */
export interface Drawing {
  /** Squares on each side, with the margin. */
  readonly width: number;
  /** One rectangle for each run of dark squares. */
  readonly path: string;
  /** In the middle, free of squares, for the logo. */
  readonly hole: { readonly at: number; readonly size: number } | undefined;
}

const qrMark = "?qr";

export function drawingOf(shortUrl: string, design: QrDesign): Drawing {
  const matrix = matrixOf(`${shortUrl}${qrMark}`, design.logo === null ? design.level : "H");
  const { margin } = design;
  const hole = design.logo === null ? undefined : logoHole(matrix.size);
  return {
    width: matrix.size + 2 * margin,
    path: pathOf(hole === undefined ? matrix : withHole(matrix, hole), margin),
    hole: hole && { at: hole.at + margin, size: hole.size },
  };
}

function pathOf(matrix: Matrix, margin: number): string {
  let path = "";
  for (let row = 0; row < matrix.size; row++) {
    let start: number | undefined;
    for (let column = 0; column <= matrix.size; column++) {
      const isDark = column < matrix.size && matrix.isDark(row, column);
      if (isDark) start ??= column;
      else if (start !== undefined) {
        path += `M${start + margin} ${row + margin}h${column - start}v1h-${column - start}z`;
        start = undefined;
      }
    }
  }
  return path;
}

export function svgText(drawing: Drawing, design: QrDesign, pixels: number): string {
  const { width, path, hole } = drawing;
  const ground = design.isTransparent ? "" : `<path fill="${design.light}" d="M0 0h${width}v${width}h-${width}z"/>`;
  const logo =
    design.logo && hole
      ? `<image href="${design.logo}" x="${hole.at + 0.5}" y="${hole.at + 0.5}" width="${hole.size - 1}" height="${hole.size - 1}"/>`
      : "";
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${pixels}" height="${pixels}" viewBox="0 0 ${width} ${width}"><g shape-rendering="crispEdges">${ground}<path fill="${design.dark}" d="${path}"/></g>${logo}</svg>\n`;
}
