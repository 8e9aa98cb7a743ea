import { expect, test } from "bun:test";
import type { Link } from "../../api/generated.ts";
import { differencesOf, merged } from "./differences.ts";
import { changesOf, formOf } from "./link-form.ts";

const base: Link = {
  ...{ id: "lnk_1", domain: "go.example", code: "winter", shortUrl: "https://go.example/winter" },
  ...{ url: "https://example.com/", file: null, permanent: false, status: "active" },
  ...{ expiresAt: "2027-11-16T22:59:41.000Z", title: "Winter", notes: null, tags: ["a"], fallbackUrl: null },
  ...{ fileName: null, hitsUsed: 0, hitsLimit: null },
  ...{ hitsPerMonth: null, clickFacts: true, rules: [], split: [], utm: null, forwardQuery: false, password: false },
  ...{ target: null, suspended: null, clicks: 3, lastClickAt: null, version: 4 },
  ...{ createdAt: "2026-01-01T00:00:00Z", updatedAt: "2026-01-01T00:00:00Z" },
};

test("what one side changed is chosen already, and what both changed is marked", () => {
  const form = { ...formOf(base), title: "Mine", hits: "100" };
  const theirs = { ...base, version: 5, title: "Theirs", notes: "Read me" };
  const found = differencesOf(base, form, theirs);
  expect(found.map(({ field, first, isByBoth }) => [field, first, isByBoth])).toEqual([
    ["hitsPerMonth", "mine", false],
    ["title", "mine", true],
    ["notes", "theirs", false],
  ]);
});

test("the merged version changes only what was chosen of mine", () => {
  const form = { ...formOf(base), kind: "file" as const, file: "fil_1", title: "Mine" };
  const theirs = { ...base, version: 5, title: "Theirs", notes: "Read me" };
  expect(changesOf(formOf(theirs), merged(form, theirs, ["url"]))).toEqual({ url: null, file: "fil_1" });
  expect(changesOf(formOf(theirs), merged(form, theirs, ["title"]))).toEqual({ title: "Mine" });
  expect(changesOf(formOf(theirs), merged(form, theirs, []))).toEqual({});
});

test("a version that is the same has nothing to choose", () => {
  expect(differencesOf(base, { ...formOf(base), title: "Same" }, { ...base, version: 5, title: "Same" })).toEqual([]);
});
