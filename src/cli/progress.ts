import { printable } from "../base/printable.ts";

/** Progress of a long command: a bar redrawn on a terminal, a plain line from time to time elsewhere. */
export interface ProgressBar {
  /** `share` is the completed part, if known. */
  show(share: number | undefined, text: string): void;
  /** A separate line above the bar. */
  say(line: string): void;
  end(): void;
}

export interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const redrawMs = 100;
const lineMs = 5_000;
const barWidth = 24;
const clearLine = "\r\u001b[K";

export function createProgress(screen: Screen, elapsed: () => number): ProgressBar {
  const terminal = screen.isTTY === true;
  const everyMs = terminal ? redrawMs : lineMs;
  let lastMs = elapsed();
  let drawn = false;

  function clear(): void {
    if (drawn) screen.write(clearLine);
    drawn = false;
  }

  return {
    show(share, text) {
      if (elapsed() - lastMs < everyMs) return;
      lastMs = elapsed();
      const percent = share === undefined ? "" : `${Math.floor(share * 100)} %  `;
      if (!terminal) {
        screen.write(`${percent}${text}\n`);
        return;
      }
      const line = `${share === undefined ? "" : `${bar(share)}  `}${percent}${text}`;
      screen.write(`${clearLine}${line.slice(0, (screen.columns ?? 80) - 1)}`);
      drawn = true;
    },
    say(line) {
      clear();
      screen.write(`${printable(line)}\n`);
    },
    end: clear,
  };
}

function bar(share: number): string {
  const filled = Math.min(barWidth, Math.floor(share * barWidth));
  return `${"█".repeat(filled)}${"░".repeat(barWidth - filled)}`;
}
