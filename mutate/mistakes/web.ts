import type { Mistakes } from "../mistake.ts";

const report = "web/pages/report";
const periods = [`${report}/periods.test.ts`];

/** Mistakes in the figures that the dashboard shows: nobody would see that they are wrong. */
export const webMistakes: Mistakes = {
  "times-compared-as-text": {
    file: `${report}/not-in-stream.ts`,
    from: "[instantOf(at), reason,",
    to: "[at, reason,",
    tests: [`${report}/not-in-stream.test.ts`],
  },
  "clicks-of-one-moment-taken-for-one": {
    file: `${report}/not-in-stream.ts`,
    from: "return times <= 0;",
    to: "return times === 0 && stream.length === 0;",
    tests: [`${report}/not-in-stream.test.ts`],
  },
  "newest-click-last": {
    file: "web/instants.ts",
    from: "instantOf(other.at) - instantOf(one.at)",
    to: "instantOf(one.at) - instantOf(other.at)",
    tests: ["web/instants.test.ts"],
  },
  "step-of-a-period-forgotten": {
    file: `${report}/periods.ts`,
    from: 'if (step?.endsWith("d") || (step && isFirst(from))) return step;',
    to: 'if (step?.endsWith("y")) return step;',
    tests: periods,
  },
  "days-that-are-a-month-go-on-as-months": {
    file: `${report}/periods.ts`,
    from: "{ from: start, to: end } : { from: start, to: end, step };",
    to: "{ from: start, to: end } : { from: start, to: end };",
    tests: periods,
  },
  "preset-whose-day-is-the-same": {
    file: `${report}/periods.ts`,
    from: "from === range.from && step === range.step",
    to: "from === range.from",
    tests: periods,
  },
  "trend-of-the-browsers-month": {
    file: "web/pages/links/period.ts",
    from: 'rangeOf(period === "all" ? "30d" : period, today).from',
    to: 'rangeOf(period === "all" ? "30d" : period, new Date().toISOString().slice(0, 10)).from',
    tests: ["web/pages/links/period.test.ts"],
  },
  "note-an-hour-off-after-a-change-of-clocks": {
    file: "web/local-time.ts",
    from: "return new Date(near + missing(near)).toISOString();",
    to: "return new Date(near).toISOString();",
    tests: ["web/local-time.test.ts"],
  },
  "day-of-25-hours-is-two-days": {
    file: `${report}/moments.ts`,
    from: "return daysBetween(dateIn(zone, Date.parse(from)), dateIn(zone, Date.parse(to) - 1)) + 1;",
    to: "return Math.ceil((Date.parse(to) - Date.parse(from)) / dayMs);",
    tests: [`${report}/moments.test.ts`],
  },
  "people-shown-as-bots": {
    file: `${report}/not-counted.ts`,
    from: '["bot", "head", "prefetch", "preview"]',
    to: '["bot", "head", "prefetch", "preview", "fallback"]',
    tests: [`${report}/not-counted.test.ts`],
  },
  "single-clicks-of-all-traffic": {
    file: `${report}/report-query.ts`,
    from: "filter: [...filters.map(writeFilter), ...trafficFilters[traffic]],",
    to: "filter: [...filters.map(writeFilter), ...trafficFilters.all],",
    tests: [`${report}/report-query.test.ts`],
  },
  "one-hits": {
    file: "web/texts/texts.ts",
    from: 'plurals.select(count) === "one" ? one : other;',
    to: 'plurals.select(count) === "zero" ? one : other;',
    tests: ["web/texts/plurals.test.ts"],
  },
  "notice-of-the-last-stream-stays": {
    file: `${report}/use-live-clicks.ts`,
    from: '      if (event === "begun") setThisServerOnly(false);\n',
    to: "",
    tests: ["test/web/report.test.ts"],
    only: "does not say of a new stream",
  },
};
