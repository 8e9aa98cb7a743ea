import type { Mistakes } from "../mistake.ts";

const recorder = ["src/clicks/recorder.test.ts"];
const hot = ["src/clicks/hot-links.test.ts"];
const unusual = ["src/clicks/notices/unusual.test.ts"];
const notices = ["test/conformance/click-notices.test.ts"];

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
  "weekly-burst-called-a-spike": {
    file: "clicks/notices/unusual.ts",
    from: "const usual = Math.max(...usuals(pattern, until, hourMs));",
    to: "const usual = Math.min(...usuals(pattern, until, hourMs));",
    tests: unusual,
  },
  "spike-of-a-new-link": {
    file: "clicks/notices/unusual.ts",
    from: "if (until - pattern.firstAt < spikeHistoryMs) return no;",
    to: "",
    tests: unusual,
  },
  "days-before-the-first-click-are-usual": {
    file: "clicks/notices/unusual.ts",
    from: "return end - windowMs >= pattern.firstAt ? [within(pattern, end - windowMs, end)] : [];",
    to: "return [within(pattern, end - windowMs, end)];",
    tests: unusual,
  },
  "condensed-clicks-counted-twice": {
    file: "clicks/notices/quarter-counts.ts",
    from: "const since = Math.max(from, tenant.daysUntil);",
    to: "const since = from;",
    tests: notices,
    only: "SQLite.*dead destinations",
  },
  "digest-of-a-week-that-is-half-condensed": {
    file: "clicks/notices/week.ts",
    from: "if (progress === undefined || !(await isCondensed(sql, tenant, week.until, progress.days_until))) return undefined;",
    to: "if (progress === undefined) return undefined;",
    tests: notices,
    only: "SQLite.*digest waits",
  },
  "digest-at-eight-in-greenwich": {
    file: "clicks/notices/week.ts",
    from: "const sinceMonday = wallClock(zone, now) - localDay(zone, until) * dayMs;",
    to: "const sinceMonday = now - localDay(zone, until) * dayMs;",
    tests: notices,
    only: "SQLite.*digest comes",
  },
  "first-clicks-from-before-the-switch": {
    file: "clicks/notices/first-clicks.ts",
    from: "Math.max(tenant.firstClicksSince, now - lookBackMs)",
    to: "now - lookBackMs",
    tests: notices,
    only: "SQLite.*first click",
  },
  "links-added-to-an-email-that-was-sent": {
    file: "clicks/notices/notice-rows.ts",
    from: 'if ((await rows().where("mail", "=", key).limit(1).execute()).length > 0) return;\n    const sent = await own.selectFrom("emails").select("id").where("dedupe_key", "=", key).execute();\n    if (sent.length > 0) return;',
    to: "",
    tests: notices,
    only: "SQLite.*dead destinations",
  },
  "one-tenant-fails-all": {
    file: "clicks/notices/find-notices.ts",
    from: "failed.push({ tenant: tenant.id, error: messageOf(error) });",
    to: "throw error;",
    tests: notices,
    only: "SQLite.*a tenant that fails",
  },
};
