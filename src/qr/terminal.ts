import { matrixOf } from "./matrix.ts";

const margin = 2;

/** A QR code in text, two squares per character. Light squares are drawn, because most terminals are dark. */
export function drawOnTerminal(text: string): string {
  const { size, isDark } = matrixOf(text, "L");
  const isLight = (row: number, column: number) =>
    row < 0 || column < 0 || row >= size || column >= size || !isDark(row, column);
  const lines: string[] = [];
  for (let row = -margin; row < size + margin; row += 2) {
    let line = "";
    for (let column = -margin; column < size + margin; column++) {
      const [above, below] = [isLight(row, column), row + 1 < size + margin && isLight(row + 1, column)];
      line += above ? (below ? "█" : "▀") : below ? "▄" : " ";
    }
    lines.push(line);
  }
  return `${lines.join("\n")}\n`;
}
