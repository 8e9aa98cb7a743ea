import { expect, test } from "bun:test";
import { linkForm } from "./form.ts";
import type { Known } from "./resolve.ts";

const known: Known = {
  ...{ url: "https://example.com/", permanent: false, expiresAt: null, fallbackUrl: null, password: false },
  ...{ hitsMax: null, choice: null, pattern: undefined },
};

test("a link that was stopped is stopped in Redis too, and others say nothing about it", () => {
  const stopped: Known = { ...known, suspended: true };
  expect(linkForm.fromJson(JSON.parse(JSON.stringify(linkForm.toJson(stopped))))).toEqual(stopped);
  expect(linkForm.toJson(known)).toEqual({ u: known.url, p: false });
});
