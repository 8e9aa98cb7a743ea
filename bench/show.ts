/** Figures on a terminal or in a log. */

/** Progress: one line that is rewritten on a terminal, or a new line from time to time in a log. */
export interface Progress {
  /** Shown at once on a terminal, at most every ten seconds elsewhere. */
  now(text: string): void;
  /** Clears the line. */
  end(): void;
}

const quietMs = 10_000;

export function progress(): Progress {
  const terminal = process.stdout.isTTY === true;
  let lastMs = Number.NEGATIVE_INFINITY;
  return {
    now(text) {
      if (terminal) {
        process.stdout.write(`\r\x1b[K  ${text}`);
      } else if (performance.now() - lastMs >= quietMs) {
        lastMs = performance.now();
        console.log(`  … ${text}`);
      }
    },
    end() {
      if (terminal) process.stdout.write("\r\x1b[K");
    },
  };
}

/** The first row is the heading; the first column is text, the others are numbers. */
export function table(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows) {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    console.log(`  ${cells.join("  ").trimEnd()}`);
  }
}

export const round = (figure: number, digits = 2): string =>
  figure >= 100
    ? Math.round(figure).toLocaleString("en-US")
    : figure.toFixed(figure >= 10 ? Math.min(1, digits) : digits);

export const median = (figures: readonly number[]): number => quantile(figures, 0.5);

export function quantile(figures: readonly number[], share: number): number {
  if (figures.length === 0) throw new Error("no figures to take a quantile of");
  const sorted = [...figures].sort((a, b) => a - b);
  // Nearest rank; the median of an even number is halfway between the two, so that two rounds do not count as the better one.
  const rank = share * sorted.length;
  const low = sorted[Math.max(0, Math.ceil(rank) - 1)] ?? Number.NaN;
  if (share !== 0.5 || sorted.length % 2 === 1) return low;
  return (low + (sorted[rank] ?? low)) / 2;
}
