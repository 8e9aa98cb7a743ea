/**
 * Times of the API have offsets: as texts they do not sort. The dashboard compares them as instants (`web/instants.ts`), which
 * types do not ask for, because JavaScript compares texts too. So this looks for comparisons of what is named like a time.
 */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type AnyNode, parse } from "acorn";

const root = join(import.meta.dir, "..");

/** The fields of answers that hold a time. */
const timeName = /^(?:at|from|to|start|\w+At)$/;

/** Files, or comparisons in them, that are right as they are, and why. */
const allowed: Readonly<Record<string, string>> = {
  "web/pages/report/periods.ts": "dates, which sort as text",
  "web/pages/report/period-chip.tsx": "dates, which sort as text",
  "web/pages/report/clicks-chart.tsx: end >= readAt": "both are instants",
  "web/pages/edit/rules/condition-picker.tsx: hours.until <= hours.from": "times of day without a zone",
  "web/pages/edit/rules/rules-field.tsx: target > from": "places in a list",
  "web/bundle.ts": "names of files",
};

test("no time of the API is compared or sorted as text", () => {
  const found = new Bun.Glob("web/**/*.{ts,tsx}").scanSync(root);
  const wrong = [...found]
    .filter((path) => !path.includes(".test."))
    .flatMap((path) => {
      const source = readFileSync(join(root, path), "utf8");
      return comparisonsIn(source, path.endsWith("x") ? "tsx" : "ts").map((text) => `${path}: ${text}`);
    })
    .filter((text) => allowed[text] === undefined && allowed[text.split(":")[0] ?? ""] === undefined);
  expect(wrong).toEqual([]);
});

test.each([
  ["items.filter(({ at }) => at < oldest)"],
  ["points.find(({ start }) => start > last)"],
  ["a.createdAt >= b.createdAt"],
  ["clicks.toSorted((a, b) => b.at.localeCompare(a.at))"],
  ["times.sort()"],
])("%s would be found", (code) => {
  expect(comparisonsIn(code)).toHaveLength(1);
});

test("instants are compared freely", () => {
  const code = "instantOf(a.at) < instantOf(b.at) && now - last.at < mostMs && at < items.length";
  expect(comparisonsIn(code)).toEqual([]);
});

/** Where the calendar or the clock of the browser is meant: the reader's own. */
const readers = [
  "web/format.ts", // "since 14:02" or "since 16 Nov"
  "web/pages/edit/link-form.ts", // when a link expires, in a field that shows the reader's clock
  "web/pages/links/list-address.ts", // days of creation and expiry, as the list shows them
];

test("days of reports and trends are the workspace's: the browser's date is read nowhere else", () => {
  const pattern = /\.(?:get(?:FullYear|Month|Date|Day|Hours|TimezoneOffset)|to(?:Locale)?DateString)\(/;
  const found = [...new Bun.Glob("web/**/*.{ts,tsx}").scanSync(root)]
    .filter((path) => !path.includes(".test.") && pattern.test(readFileSync(join(root, path), "utf8")))
    .toSorted();
  expect(found).toEqual(readers);
});

const compilers = { ts: new Bun.Transpiler({ loader: "ts" }), tsx: new Bun.Transpiler({ loader: "tsx" }) };
const signs = new Set(["<", ">", "<=", ">="]);

function comparisonsIn(source: string, kind: keyof typeof compilers = "ts"): string[] {
  // A macro would run, and finds its module from its own file only.
  const code = compilers[kind].transformSync(source.replaceAll(/ with \{ type: "macro" \}/g, ""));
  const wrong: string[] = [];
  visit(parse(code, { ecmaVersion: "latest", sourceType: "module" }), (node) => {
    if (isOfTimes(node)) wrong.push(code.slice(node.start, node.end));
  });
  return wrong;
}

function isOfTimes(node: AnyNode): boolean {
  if (node.type === "BinaryExpression") {
    const names = [node.left, node.right].map(nameOf);
    return (
      signs.has(node.operator) &&
      names.every((name) => name !== undefined) &&
      names.some(isTime) &&
      !names.includes("length")
    );
  }
  if (node.type !== "CallExpression" || node.callee.type !== "MemberExpression") return false;
  const method = nameOf(node.callee);
  if (method === "localeCompare") return isTime(nameOf(node.callee.object));
  return (method === "sort" || method === "toSorted") && node.arguments.length === 0;
}

const isTime = (name: string | undefined): boolean => name !== undefined && timeName.test(name);

/** Of a variable or a field. The outcome of a sum or a call has none: it is a number. */
function nameOf(node: AnyNode): string | undefined {
  if (node.type === "Identifier") return node.name;
  return node.type === "MemberExpression" && !node.computed ? nameOf(node.property) : undefined;
}

function visit(node: AnyNode, look: (node: AnyNode) => void): void {
  look(node);
  for (const part of Object.values(node).flat()) {
    if (typeof part === "object" && part !== null && typeof part.type === "string") visit(part as AnyNode, look);
  }
}
