/**
 * No regular expression of the program takes longer than in proportion to its input: one that does lets a single request
 * stop the process. Every literal in src/ is collected from its syntax tree and given to a checker; there are no others,
 * because none may be made at run time.
 */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "acorn";
import { check } from "recheck";

const root = join(import.meta.dir, "..");
const checkMs = 60_000;

interface Found {
  readonly path: string;
  readonly source: string;
  readonly flags: string;
}

/** Every object in a syntax tree. */
function* nodesOf(value: unknown): Generator<Readonly<Record<string, unknown>>> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield value as Readonly<Record<string, unknown>>;
  for (const part of Object.values(value)) yield* nodesOf(part);
}

const withoutTypes = new Bun.Transpiler({ loader: "ts", deadCodeElimination: false });
const treeOf = (typescript: string) =>
  parse(withoutTypes.transformSync(typescript), { ecmaVersion: "latest", sourceType: "module" });

function literalsIn(path: string, typescript: string): Found[] {
  return [...nodesOf(treeOf(typescript))].flatMap(({ type, pattern, flags }) =>
    type === undefined && typeof pattern === "string" && typeof flags === "string"
      ? [{ path, source: pattern, flags }]
      : [],
  );
}

const makesOne = (typescript: string): boolean =>
  [...nodesOf(treeOf(typescript))].some(({ type, name }) => type === "Identifier" && name === "RegExp");

const program = [...new Bun.Glob("src/**/*.ts").scanSync(root)]
  .filter((path) => !/\.(?:test|d)\.ts$/.test(path))
  .toSorted()
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

/** Long counts only change constants, and cost the checker minutes. */
const shortened = (source: string): string =>
  source.replace(/(?<!\\[pu])\{(\d+)(,?)(\d*)\}/g, (_, least: string, comma: string, most: string) => {
    return `{${Math.min(2, Number(least))}${comma}${most && Math.min(3, Number(most))}}`;
  });

/** Without a repetition that has no end, no input can make it look at a character more often than some number of times. */
const repeats = (source: string): boolean =>
  /[*+]|\{\d+,\}/.test(source.replace(/\\./g, "").replace(/\[[^\]]*\]/g, ""));

async function verdict({ source, flags }: Pick<Found, "source" | "flags">): Promise<string> {
  if (!repeats(source)) return "safe";
  const found = await check(shortened(source), flags, { timeout: checkMs });
  return found.status === "vulnerable" ? `${found.status}: ${found.complexity.summary}` : found.status;
}

describe("regular expressions", () => {
  test("are literals: none is made at run time", () => {
    expect(program.filter(({ text }) => makesOne(text)).map(({ path }) => path)).toEqual([]);
  });

  test(
    "take no longer than in proportion to their input",
    async () => {
      const found = program.flatMap(({ path, text }) => literalsIn(path, text));
      expect(found.length).toBeGreaterThan(100);
      const unlike = new Map(found.map((one) => [`/${one.source}/${one.flags}`, one]));
      const slow: string[] = [];
      for (const [text, one] of unlike) {
        const found = await verdict(one);
        if (found !== "safe") slow.push(`${one.path}: ${text} is ${found}`);
      }
      expect(slow).toEqual([]);
    },
    10 * checkMs,
  );

  test(
    "that take longer are noticed, wherever they stand",
    async () => {
      const planted = `
        const hidden: RegExp = /[^/]*(?:@|%40)[^/]*/gi; // the one that stopped the server
        export const trim = (text: string) => \`\${text.replace(/\\s+$/, "")} / \${text.length / 2 / 3}\`;
        export class Reader { read(text: string) { return { nested: [/^(?:a+)+$/.test(text)] } } }
      `;
      const found = literalsIn("planted.ts", planted);
      expect(await Promise.all(found.map(verdict))).toEqual([
        "vulnerable: 2nd degree polynomial",
        "vulnerable: 2nd degree polynomial",
        "vulnerable: exponential",
      ]);
      expect([makesOne("new RegExp(text)"), makesOne("globalThis.RegExp(text)"), makesOne("/a/.test(b)")]).toEqual([
        ...[true, true, false],
      ]);
    },
    checkMs,
  );
});
