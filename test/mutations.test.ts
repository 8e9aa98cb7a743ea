/** The planted mistakes of `npm run mutate` still fit the source: a list that has gone stale protects nothing. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { allMistakes, type NamedMistake } from "../mutate/list.ts";
import { plant, sourceOf } from "../mutate/mistake.ts";

const root = join(import.meta.dir, "..");
const mistakes = allMistakes();

function problemOf({ id, room, mistake }: NamedMistake): string[] {
  const { file, from, to, tests } = mistake;
  if (!file.startsWith(`${room}/`)) return [`${id} is about ${file}`];
  if (from === to) return [`${id} changes nothing`];
  const missing = tests.filter((path) => !existsSync(join(root, path)));
  if (tests.length === 0 || missing.length > 0) return [`${id} has no test ${missing.join(", ")}`];
  try {
    const planted = plant(mistake, readFileSync(join(root, sourceOf({ file })), "utf8"));
    // What is not TypeScript any more would only show that the compiler works.
    if (file.endsWith(".ts")) new Bun.Transpiler({ loader: "ts" }).transformSync(planted);
    return [];
  } catch (error) {
    return [`${id}: ${error}`];
  }
}

test("every mistake can be made in exactly one place, and its tests exist", () => {
  expect(mistakes.flatMap(problemOf)).toEqual([]);
});

test("no mistake has the name of another, and none is listed twice", () => {
  const edits = mistakes.map(({ mistake: { file, from, to } }) => JSON.stringify([file, from, to]));
  expect(new Set(edits).size).toBe(edits.length);
});

test("every room of src/ has mistakes", () => {
  const rooms = readdirSync(join(root, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const planted = new Set(mistakes.map(({ room }) => room));
  expect(rooms.map(({ name }) => name).filter((name) => !planted.has(name))).toEqual([]);
});
