import type { Mistakes } from "../mistake.ts";

const recorder = ["src/clicks/recorder.test.ts"];
const hot = ["src/clicks/hot-links.test.ts"];

export const clicks: Mistakes = {
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
};
