import type { Mistakes } from "../mistake.ts";

const csv = ["src/import-export/csv.test.ts"];
const records = ["src/import-export/records.test.ts"];

export const importExport: Mistakes = {
  "batches-stay-large-beside-other-writers": {
    file: "import-export/batch-size.ts",
    from: "if (hasWritten) wroteAtMs = atMs;",
    to: "",
    tests: ["src/import-export/batch-size.test.ts"],
  },
  "others-wait-for-more-than-ten-milliseconds": {
    file: "import-export/batch-size.ts",
    from: "(before.rows * othersWaitMs) / (atMs - before.atMs)",
    to: "before.rows * othersWaitMs",
    tests: ["src/import-export/batch-size.test.ts"],
  },
  "slow-batches-only-rest": {
    file: "import-export/pace.ts",
    from: "if (isDue && batches % batchesBetween === 0) {",
    to: "if (isDue) {",
    tests: ["src/import-export/pace.test.ts"],
  },
  "rest-after-every-batch": {
    file: "import-export/pace.ts",
    from: "clock.elapsed() - restedAtMs >= idleEveryMs",
    to: "true",
    tests: ["src/import-export/pace.test.ts"],
  },
  "formula-in-a-cell": {
    file: "import-export/csv.ts",
    from: "const safe = formula.test(cell) ? `'${cell}` : cell;",
    to: "const safe = cell;",
    tests: csv,
  },
  "quote-not-doubled": {
    file: "import-export/csv.ts",
    from: "safe.replaceAll('\"', '\"\"')",
    to: "safe",
    tests: csv,
  },
  "carriage-return-unquoted": {
    file: "import-export/csv.ts",
    from: 'return /[",\\r\\n]/.test(safe)',
    to: 'return /[",\\n]/.test(safe)',
    tests: csv,
  },
  "endless-row-read": {
    file: "import-export/csv.ts",
    from: 'if (found.kind === "more" && rest.length - at <= rowMost) break;',
    to: 'if (found.kind === "more") break;',
    tests: csv,
  },
  "damaged-text-imported": {
    file: "import-export/records.ts",
    from: "  if (cells.some(isDamaged)) return { line, problem: damaged };\n",
    to: "",
    tests: records,
  },
  "old-clicks-imported-where-no-report-begins": {
    file: "import-export/click-history.ts",
    from: "Math.max(firstNoon, created_at",
    to: "Math.max(0, created_at",
    tests: ["test/e2e/import.test.ts"],
    only: "older than all reports",
  },
  "short-row-imported": {
    file: "import-export/records.ts",
    from: "if (cells.length !== names.length) {",
    to: "if (cells.length > names.length) {",
    tests: records,
  },
  "line-number-off-by-one": {
    file: "import-export/json-lines.ts",
    from: "  let line = 1;",
    to: "  let line = 0;",
    tests: ["src/import-export/json-lines.test.ts"],
  },
  "never-is-lost": {
    file: "import-export/export.ts",
    from: 'expiresAt: "never", domain: ownDomainWord',
    to: "domain: ownDomainWord",
    tests: records,
  },
  "password-not-marked": {
    file: "import-export/export.ts",
    from: "...{ password, createdAt: toIso(link.createdAt) },",
    to: "...{ password: false && password, createdAt: toIso(link.createdAt) },",
    tests: records,
  },
  "lost-time-made-up-for": {
    file: "import-export/throttle.ts",
    from: "    else dueMs = nowMs;\n",
    to: "",
    tests: ["src/import-export/throttle.test.ts"],
  },
  "import-does-not-give-way": {
    file: "import-export/pace.ts",
    from: "const isSlow = (await redirects.nowMs()) > allowedMs;",
    to: "const isSlow = (await redirects.nowMs()) > 10 * allowedMs;",
    tests: ["src/import-export/pace.test.ts"],
  },
  "rows-of-many-addresses-count-as-one": {
    file: "import-export/import.ts",
    from: "weight += weightOf(judged);",
    to: "weight++;",
    tests: ["test/conformance/import-batches.test.ts"],
    only: "SQLite.*many addresses",
  },
  "rows-read-ahead-are-written-after-a-stop": {
    file: "import-export/import.ts",
    from: "if (!(await goesOn(position))) return { position, isEnd: false };",
    to: "if (!(await goesOn(position))) return { position: await takeAll(batch, position, settings, seen), isEnd: false };",
    tests: ["test/conformance/import-batches.test.ts"],
    only: "SQLite.*stopped it",
  },
  "rows-of-a-broken-file-thrown-away": {
    file: "import-export/import.ts",
    from: "      position = await taking;",
    to: "      await next;\n      position = await taking;",
    tests: ["test/conformance/import-batches.test.ts"],
    only: "PostgreSQL.*cannot be read",
  },
  "file-of-a-stopped-import-stays-open": {
    file: "import-export/import.ts",
    from: "    await batches.return(undefined);",
    to: "",
    tests: ["test/conformance/import-batches.test.ts"],
    only: "SQLite.*stopped it",
  },
  "plans-of-an-empty-table-kept": {
    file: "import-export/import.ts",
    from: "if (!settings.dryRun) await grown.added(position.made - from.made);",
    to: "",
    tests: ["test/conformance/import-batches.test.ts"],
    only: "PostgreSQL.*plan its statements anew",
  },
  "two-imports-of-one-file": {
    file: "import-export/import-position.ts",
    from: '.where("records", "=", before)',
    to: "",
    tests: ["test/e2e/import.test.ts"],
    only: "SQLite two imports of one file at once",
  },
  "last-page-of-an-export-missing": {
    file: "import-export/export.ts",
    from: "after = page.at(-1)?.id;\n    if (page.length < pageRows) return;",
    to: "after = page.at(-1)?.id;\n    if (page.length <= pageRows) return;",
    tests: records,
  },
};
