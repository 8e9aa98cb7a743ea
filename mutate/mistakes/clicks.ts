import type { Mistakes } from "../mistake.ts";

const recorder = ["src/clicks/recorder.test.ts"];
const rollups = ["test/conformance/click-rollups.test.ts"];
const hot = ["src/clicks/hot-links.test.ts"];
const reports = ["test/conformance/click-reports.test.ts"];

export const clicks: Mistakes = {
  "report-without-overflow": {
    file: "clicks/reports/gather.ts",
    from: "for (const row of await overflowOf(sql, scope, gap)) addTally(open, row);",
    to: "",
    tests: reports,
  },
  "month-used-where-its-days-are-split": {
    file: "clicks/reports/cover.ts",
    from: "(row.grain !== grains.month || !isSplit(row))",
    to: "true",
    tests: reports,
  },
  "is-not-taken-for-is": {
    file: "clicks/reports/scope.ts",
    from: 'filter.how === "is not" ? raw<boolean>`not ${condition}` : condition',
    to: "condition",
    tests: reports,
  },
  "privacy-control-ignored": {
    file: "clicks/facts/facts.ts",
    from: ' || headers.get("sec-gpc") === "1"',
    to: "",
    tests: ["src/clicks/facts/facts.test.ts"],
  },
  "email-kept-in-a-campaign": {
    file: "clicks/facts/fact-value.ts",
    from: "email.test(text) || ",
    to: "",
    tests: ["src/clicks/facts/values.test.ts"],
  },
  "columns-without-a-bound": {
    file: "clicks/facts/capture.ts",
    from: "closedBytes += sizeOf(open);",
    to: "",
    tests: ["src/clicks/facts/capture.test.ts"],
  },
  "text-keeps-its-old-place": {
    file: "clicks/facts/columns.ts",
    from: "if (fact.columns === columns) return fact.place;",
    to: "if (fact.columns !== undefined) return fact.place;",
    tests: ["src/clicks/facts/capture.test.ts"],
  },
  "unsure-batch-under-a-new-number": {
    file: "clicks/recorder.ts",
    from: "if (unsure === undefined) sequence++;",
    to: "sequence++;",
    tests: recorder,
  },
  "batch-acknowledged-before-it-is-stored": {
    file: "clicks/recorder.ts",
    from: "    await write(sequence, batch);\n    unsure = undefined;\n    meters.acknowledge(batch);",
    to: "    meters.acknowledge(batch);\n    await write(sequence, batch);\n    unsure = undefined;",
    tests: recorder,
  },
  "stop-forgets-the-last-leases": {
    file: "clicks/recorder.ts",
    from: "await record(true);",
    to: "await record(false);",
    tests: ["test/conformance/leases.test.ts"],
    only: "SQLite.*stops gives back",
  },
  "rates-never-fade": {
    file: "clicks/hot-links.ts",
    from: "link.now *= Math.exp(-passed / minuteMs);",
    to: "",
    tests: hot,
  },
  "unusual-with-few-visits": {
    file: "clicks/hot-links.ts",
    from: "age > usualAfterMs && perMinute >= unusualLeast &&",
    to: "age > usualAfterMs &&",
    tests: hot,
  },
  "hot-links-of-all-instances-replaced": {
    file: "clicks/hot-store.ts",
    from: 'expression.or([expression("instance", "=", instance), expression("seen_at", "<", now - hotKeptMs)]),',
    to: 'expression("seen_at", "<=", now),',
    tests: ["test/conformance/hot-store.test.ts"],
  },
  "code-of-another-domain-counted": {
    file: "clicks/hot-store.ts",
    from: '.groupBy(["domain", "code"])',
    to: '.groupBy("code")',
    tests: ["test/conformance/hot-store.test.ts"],
  },
  "cap-counts-people-and-bots-together": {
    file: "clicks/events/caps.ts",
    from: "click.link.link * 2 + (isPerson(click.reason) ? 1 : 0)",
    to: "click.link.link * 2",
    tests: ["test/conformance/click-writer.test.ts"],
    only: "SQLite.*as events up to the cap",
  },
  "visitors-remembered-before-the-commit": {
    file: "clicks/events/first-visits.ts",
    from: "step.afterCommit(() => remember(asked, step.now));",
    to: "remember(asked, step.now);",
    tests: ["test/conformance/click-writer.test.ts"],
    only: "SQLite.*nothing of a transaction that fails",
  },
  "late-clicks-leave-the-day": {
    file: "clicks/events/late.ts",
    from: "for (const { day } of ofQuarter) until.days = Math.min(until.days, day.start);",
    to: "",
    tests: ["test/conformance/click-writer.test.ts"],
    only: "SQLite.*delete the roll-ups",
  },
  "one-link-fills-the-dictionary": {
    file: "clicks/events/values.ts",
    from: "if (places <= 0 || before >= newValuesOfLinkMost) continue;",
    to: "if (places <= 0) continue;",
    tests: ["test/conformance/click-writer.test.ts"],
    only: "SQLite.*a flood of new values",
  },
  "days-overlap-after-a-change-of-zone": {
    file: "clicks/events/tenant-days.ts",
    from: "start: Math.max(start, ...before)",
    to: "start",
    tests: ["test/conformance/click-writer.test.ts"],
    only: "SQLite.*changed zone",
  },
  "condensed-without-late-clicks": {
    file: "clicks/rollups/write-rollups.ts",
    from: "if (row?.late !== tenant.late) return false;",
    to: "",
    tests: rollups,
    only: "SQLite.*late clicks between the reading",
  },
  "condensed-before-its-clicks-are-complete": {
    file: "clicks/rollups/condense.ts",
    from: '    .where("until", "<=", settled)',
    to: '    .where("until", "<=", settled + settledMs)',
    tests: rollups,
    only: "SQLite.*nothing that has not ended",
  },
  "groups-have-the-visitors-of-links": {
    file: "clicks/rollups/count.ts",
    from: 'numbers, place, "tenant");',
    to: 'numbers, place, "link");',
    tests: rollups,
    only: "SQLite.*two tenants in UTC",
  },
  "uncondensed-events-deleted": {
    file: "clicks/rollups/purge-events.ts",
    from: "open?.start ?? now",
    to: "now",
    tests: rollups,
    only: "SQLite.*not condensed, however old",
  },
  "days-deleted-without-their-month": {
    file: "clicks/rollups/purge-rollups.ts",
    from: '.where("m.grain", "=", grains.month)',
    to: '.where("m.grain", "=", grains.day)',
    tests: rollups,
    only: "SQLite.*if their month exists",
  },
  "salts-deleted-during-the-day": {
    file: "clicks/rollups/purge-visitors.ts",
    from: "const over = now - visitorsKeptMs;",
    to: "const over = now + visitorsKeptMs;",
    tests: rollups,
    only: "SQLite.*an hour after their day",
  },
  "events-kept-longer-than-the-plan": {
    file: "clicks/settings.ts",
    from: "allowed !== null && eventDays > allowed",
    to: "allowed === null && eventDays > 0",
    tests: ["test/conformance/click-settings.test.ts"],
    only: "SQLite.*longer than the plan",
  },
};
