/**
 * Loads the modules of the server one after the other, each after what it imports, and prints what each group cost: a
 * program for `start.ts`. A group is a library, or a folder of `src/`; in brackets is what the start of a new folder does with
 * them. Arguments: the files that it begins with; after `--`
 * those that are loaded later, with the API.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import type { Sql } from "../src/sql/sql.ts";

export interface ModuleCost {
  readonly group: string;
  readonly later: boolean;
  readonly files: number;
  readonly cpuMs: number;
  readonly mb: number;
}

const root = join(import.meta.dir, "..");
const pageBytes = 4_096;
const transpiler = new Bun.Transpiler({ loader: "ts" });

if (import.meta.main) console.log(JSON.stringify(await loadAll(Bun.argv.slice(2))));

async function loadAll(words: readonly string[]): Promise<ModuleCost[]> {
  const seen = new Set<string>();
  const end = words.indexOf("--");
  const parts = [words.slice(0, end), words.slice(end + 1)].map((files) => {
    const order: string[] = [];
    for (const file of files) addAfterImports(join(root, file), seen, order);
    return order;
  });
  const costs = new Map<string, { -readonly [Key in keyof ModuleCost]: ModuleCost[Key] }>();
  async function add(group: string, later: boolean, files: number, work: () => Promise<unknown>): Promise<void> {
    const [ms, mb] = [cpuMs(), rssMb()];
    await work();
    const key = `${later} ${group}`;
    const cost = costs.get(key) ?? { group, later, files: 0, cpuMs: 0, mb: 0 };
    cost.files += files;
    cost.cpuMs += cpuMs() - ms;
    cost.mb += rssMb() - mb;
    costs.set(key, cost);
  }
  for (const [i, files] of parts.entries()) {
    for (const file of files) await add(groupOf(file), i > 0, 1, () => import(file));
    if (i === 0) await openNewFile(add);
  }
  return [...costs.values()];
}

/** What the start of a new folder has besides modules: its database. */
async function openNewFile(
  add: (group: string, later: boolean, files: number, work: () => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const [{ openSqlite }, { migrate }] = [await import("../src/sql/sqlite.ts"), await import("../src/sql/migrate.ts")];
  const folder = mkdtempSync(join(tmpdir(), "ql-modules-"));
  let sql: Sql | undefined;
  await add("(a new file of SQLite is opened)", false, 0, async () => {
    sql = openSqlite(join(folder, "quicklink.sqlite"));
    await sql.ping();
  });
  await add("(its tables are created)", false, 0, async () => sql && migrate(sql));
  await sql?.close();
  rmSync(folder, { recursive: true });
}

/** A library counts as a whole. */
function addAfterImports(file: string, seen: Set<string>, order: string[]): void {
  if (seen.has(file)) return;
  seen.add(file);
  if (file.endsWith(".ts") && !file.includes("/node_modules/")) {
    const text = readFileSync(file, "utf8").replace(/^#!.*/, "");
    for (const { path, kind } of transpiler.scanImports(text)) {
      if (kind !== "import-statement" || /^(?:node:|bun(?::|$))/.test(path)) continue;
      addAfterImports(Bun.resolveSync(path, dirname(file)), seen, order);
    }
  }
  order.push(file);
}

function groupOf(file: string): string {
  const path = relative(root, file);
  return /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? path.split("/").slice(0, 2).join("/");
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function rssMb(): number {
  return (Number(readFileSync("/proc/self/statm", "utf8").split(" ")[1]) * pageBytes) / 1_048_576;
}
