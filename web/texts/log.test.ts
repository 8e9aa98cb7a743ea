import { expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import { logTexts } from "./log.ts";

/** What changes can be about; the history takes any text. */
const action =
  /"((?:annotation|branding|click-settings|domain|file|import|invitation|key|link|member|person|plan|share|suppression|utm-template|workspace)\.[a-z_]+)"/g;
const names = new Set(["plan.pdf"]);

test("every change that the server records has a sentence in the log", async () => {
  const folder = join(import.meta.dir, "../../src");
  const found = new Set<string>();
  for await (const path of new Glob("**/*.ts").scan(folder)) {
    for (const [, name = ""] of (await Bun.file(join(folder, path)).text()).matchAll(action)) found.add(name);
  }
  const known = new Set(Object.keys(logTexts.actions));
  expect([...found].filter((name) => !known.has(name) && !names.has(name))).toEqual([]);
  expect(found.size).toBeGreaterThan(50);
});
