/** The documents that are made from the code are made from the code as it is; `npm run docs` makes them anew. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describeDashboard } from "../scripts/dashboard.ts";
import { describeErrors, fieldCodes } from "../scripts/errors-doc.ts";
import { problems } from "../src/base/errors.ts";
import { describeSettings, loadConfig } from "../src/config.ts";

const root = join(import.meta.dir, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

describe("docs/config.md", () => {
  test("is what the settings are", () => {
    expect(read("docs/config.md")).toBe(describeSettings());
  });

  test("has a row for every setting", () => {
    const rows = [...read("docs/config.md").matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    expect(rows).toEqual(loadConfig({}, "/nonexistent").shown.map(({ name }) => name));
  });
});

describe("docs/errors.md", () => {
  test("is what the errors are", () => {
    expect(read("docs/errors.md")).toBe(describeErrors());
  });

  test("has a row for every code of a problem, with its status", () => {
    const rows = [...read("docs/errors.md").matchAll(/^\| `(\w+)` \| (\d+) \|/gm)].map(([, code, status]) => [
      code,
      status,
    ]);
    expect(rows).toEqual(Object.entries(problems).map(([code, { status }]) => [code, String(status)]));
  });

  test("has every code of a bad field that the source can give, and no other", () => {
    const sources = [
      ...new Bun.Glob("src/{domains,email,files,http,links,qr,redirect,tenants}/*.ts").scanSync(root),
    ].filter((path) => !path.endsWith(".test.ts"));
    const thrown = sources.flatMap((path) => {
      const text = read(path);
      const named = [...text.matchAll(/\binvalid\(\s*[^,()]+,\s*"(\w+)"/g), ...text.matchAll(/\bcode: "(\w+)"/g)];
      // Those that zod's own findings become: the strings that `codeOf` returns.
      const mapped = text.slice(text.indexOf("function codeOf(")).matchAll(/(?:return|\?|:|\?\?) "(\w+)"/g);
      return [...named, ...(text.includes("function codeOf(") ? mapped : [])].map(([, code]) => code ?? "");
    });
    // `custom` is what zod calls a finding of ours, whose own code stands beside it.
    const found = [...new Set(thrown)].filter((code) => !(code in problems) && code !== "custom").toSorted();
    expect(found).toEqual(Object.keys(fieldCodes).toSorted());
  });
});

describe("ops/grafana/dashboard.json", () => {
  test("is what its table says", () => {
    expect(read("ops/grafana/dashboard.json")).toBe(describeDashboard());
  });
});
