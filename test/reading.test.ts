/**
 * The lists of docs/reading.md follow the code: a file that is gone, cannot be reached, or is new on the way is noticed.
 * How many files a journey may have is decided here.
 */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const root = join(import.meta.dir, "../src");

const most = {
  "A redirect from memory": 12,
  "A cold redirect": 30,
  "POST /api/links": 37,
  "An edit seen on another server": 17,
  "A hit charged and recorded": 14,
  "An email": 20,
  "An upload": 22,
} as const;

interface Journey {
  readonly title: string;
  /** As its heading says. */
  readonly count: number;
  readonly numbers: readonly number[];
  readonly files: readonly string[];
  readonly notEntered: readonly string[];
}

const page = readFileSync(join(root, "../docs/reading.md"), "utf8");

const journeys: Journey[] = page
  .split("\n## ")
  .slice(1)
  .map((part) => {
    const [, title = "", count = ""] = /^(.+): (\d+) files\n/.exec(part) ?? [];
    const [list = "", rest = ""] = part.split("\nNot entered: ");
    const steps = [...list.matchAll(/^(\d+)\. `([^`]+)`: \S/gm)];
    return {
      title,
      count: Number(count),
      numbers: steps.map(([, number]) => Number(number)),
      files: steps.map(([, , file = ""]) => file),
      notEntered: [...rest.matchAll(/`([^`]+)`/g)].map(([, file = ""]) => file),
    };
  });

/** The page says that these are read once, for all journeys. */
const isWord = (file: string): boolean =>
  file.startsWith("base/") ||
  /^sql\/(?:sql|sqlite|postgres|bulk|statement|statement-names|tenant-db)\.ts$/.test(file) ||
  /^redis\/(?:client|with-breakers)\.ts$/.test(file);

/** These import everything that they wire, so their imports say nothing about a journey. */
const isWiring = (file: string): boolean => file.startsWith("server/") || file === "core.ts";

interface Import {
  readonly to: string;
  readonly typeOnly: boolean;
}

const importPattern = /(?:\b(?:import|export)\s+(type\s)?([^;"']*?)\s*from\s+|\bimport\s*\(?\s*)"(\.[^"]+)"/g;
const onlyTypes = /^\{\s*(?:type\s+[^,{}]+,?\s*)+\}$/;

function importsOf(file: string): Import[] {
  if (!file.endsWith(".ts") || !existsSync(join(root, file))) return [];
  const code = readFileSync(join(root, file), "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
  return [...code.matchAll(importPattern)].map(([, type, names = "", target = ""]) => ({
    to: normalize(join(dirname(file), target)),
    typeOnly: type !== undefined || onlyTypes.test(names),
  }));
}

const wiring = ["core.ts", ...new Bun.Glob("server/*.ts").scanSync(root)].map((file) =>
  importsOf(file).map(({ to }) => to),
);
const imports = (from: string, to: string): boolean => importsOf(from).some((one) => one.to === to);
const areJoined = (one: string, other: string): boolean =>
  imports(one, other) ||
  imports(other, one) ||
  wiring.some((imported) => imported.includes(one) && imported.includes(other));

test("docs/reading.md has the seven journeys", () => {
  expect(journeys.map(({ title }) => title)).toEqual(Object.keys(most));
});

describe.each(journeys)("$title", ({ title, count, numbers, files, notEntered }) => {
  test("has as many files as its heading says, and no more than it may have", () => {
    expect(numbers).toEqual(files.map((_, place) => place + 1));
    expect(new Set(files).size).toBe(count);
    expect(count).toBe(files.length);
    expect(count).toBeLessThanOrEqual(most[title as keyof typeof most]);
  });

  test("names only files of src/", () => {
    expect([...files, ...notEntered].filter((file) => !existsSync(join(root, file)))).toEqual([]);
    expect(files.filter(isWord)).toEqual([]);
  });

  test("reaches every file from one before it: by an import, or by what wires both", () => {
    const lost = files.filter((file, place) => place > 0 && !files.slice(0, place).some((one) => areJoined(one, file)));
    expect(lost).toEqual([]);
  });

  test("lists or leaves out everything that its files import at run time", () => {
    const before = startsBehindApi(title) ? filesOf("POST /api/links") : [];
    const imported = files
      .filter((file) => !isWiring(file))
      .flatMap((file) => importsOf(file).flatMap(({ to, typeOnly }) => (typeOnly ? [] : [to])))
      .filter((file) => !files.includes(file) && !before.includes(file) && !isWord(file));
    expect([...new Set(imported)].toSorted()).toEqual(notEntered.toSorted());
  });
});

/** "The steps before are those of POST." */
function startsBehindApi(title: string): boolean {
  const part = page.split(`## ${title}`)[1]?.split("\n## ")[0] ?? "";
  return part.replace(/\s+/g, " ").includes("the steps before are those of POST");
}

function filesOf(title: string): readonly string[] {
  return journeys.find((journey) => journey.title === title)?.files ?? [];
}
