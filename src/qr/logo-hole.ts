import type { Matrix } from "./matrix.ts";

/** The middle of a QR code, kept free of squares for a logo. Also used by the dashboard, which draws codes itself. */
export interface LogoHole {
  /** Row and column of its first square. */
  readonly at: number;
  readonly size: number;
}

/** A fifth of the width is about 5 % of the squares; the highest level of error correction restores 30 %. */
const share = 0.22;

export function logoHole(codeSize: number): LogoHole {
  // Odd, as the code itself, so that it is exactly in the middle.
  const wanted = Math.round(codeSize * share);
  const size = wanted % 2 === 0 ? wanted + 1 : wanted;
  return { at: (codeSize - size) / 2, size };
}

/** The code without the squares of the hole. */
export function withHole(matrix: Matrix, { at, size }: LogoHole): Matrix {
  const isWithin = (place: number) => place >= at && place < at + size;
  return {
    size: matrix.size,
    isDark: (row, column) => !(isWithin(row) && isWithin(column)) && matrix.isDark(row, column),
  };
}
