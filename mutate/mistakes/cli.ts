import type { Mistakes } from "../mistake.ts";

const bars = ["src/cli/limit-bars.test.ts"];
const progress = ["src/cli/progress.test.ts"];
const drawing = ["src/cli/stats-drawing.test.ts"];

export const cli: Mistakes = {
  "bar-full-before-its-limit": {
    file: "cli/limit-bars.ts",
    from: "Math.min(width - 1, Math.ceil(share * width))",
    to: "Math.ceil(share * width)",
    tests: bars,
  },
  "resets-too-early": {
    file: "cli/limit-bars.ts",
    from: "Math.max(1, Math.ceil(ms / unit.ms))",
    to: "Math.max(1, Math.floor(ms / unit.ms))",
    tests: bars,
  },
  "day-of-the-local-time-zone": {
    file: "cli/limit-bars.ts",
    from: '{ day: "numeric", month: "short", timeZone: "UTC" }',
    to: '{ day: "numeric", month: "short" }',
    tests: bars,
  },
  "file-moves-the-cursor": {
    file: "cli/progress.ts",
    from: "screen.write(`${printable(line)}\\n`);",
    to: "screen.write(`${line}\\n`);",
    tests: progress,
  },
  "text-of-a-file-moves-the-cursor": {
    file: "cli/print.ts",
    from: 'return printable(typeof value === "object" ? JSON.stringify(value) : String(value));',
    to: 'return typeof value === "object" ? JSON.stringify(value) : String(value);',
    tests: ["test/e2e/abuse.test.ts"],
    only: "SQLite.*no line that it made up",
  },
  "unknown-clicks-taken-for-none": {
    file: "cli/stats-drawing.ts",
    from: "unmatched && itemised.of > 0 ? unmatched : none",
    to: "unmatched && itemised.clicks > 0 ? unmatched : none",
    tests: drawing,
    only: "filter is not known",
  },
  "change-against-a-period-known-in-part": {
    file: "cli/stats-drawing.ts",
    from: "isPartlyKnown(report.itemised) || isPartlyKnown(previous?.itemised) ? undefined",
    to: "isPartlyKnown(report.itemised) ? undefined",
    tests: drawing,
    only: "claims no change",
  },
  "people-called-bots": {
    file: "cli/stats-drawing.ts",
    from: "bot + head + prefetch + preview]",
    to: "bot + head + prefetch + preview + fallback + over]",
    tests: drawing,
    only: "does not call people bots",
  },
  "most-of-a-week-named-as-a-day": {
    file: "cli/stats-drawing.ts",
    from: "pointName(top.start, about)",
    to: "time(top)",
    tests: drawing,
    only: "most clicks for what it is",
  },
  "other-period-of-another-workspace": {
    file: "cli/stats.ts",
    from: 'tenant === "default" ? []',
    to: 'tenant !== "default" ? []',
    tests: ["test/e2e/stats-command.test.ts"],
    only: "SQLite.*names the command",
  },
  "percent-rounded-up": {
    file: "cli/progress.ts",
    from: "Math.floor(share * 100)",
    to: "Math.ceil(share * 100)",
    tests: progress,
  },
};
