import qrcode from "qrcode-generator";

/** The dark squares of a QR code, without the margin around them. */
export interface Matrix {
  /** Squares on each side. */
  readonly size: number;
  isDark(row: number, column: number): boolean;
}

/** How much of the code may be dirty or torn off: about 7, 15, 25 and 30 percent. */
export const levels = ["L", "M", "Q", "H"] as const;
export type Level = (typeof levels)[number];

/** The smallest code that holds the text. A short URL takes a few milliseconds at most. */
export function matrixOf(text: string, level: Level): Matrix {
  const code = qrcode(0, level);
  code.addData(text, "Byte");
  code.make();
  return { size: code.getModuleCount(), isDark: (row, column) => code.isDark(row, column) };
}
