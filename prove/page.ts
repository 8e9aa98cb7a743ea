/**
 * docs/proof.md: the lines of the last run of each proof, with its commit. A proof that runs again replaces its lines;
 * those of the others stay. The page is its own store, so that nothing else has to be kept in step with it.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import { quotingDocuments, withQuotes } from "./quotes.ts";
import { missedFirst, type Result, type Row, rowsOf } from "./report.ts";

/** One proof that ran: its name, commit, date and seconds. */
type Run = readonly [name: string, commit: string, date: string, seconds: string];

interface Page {
  readonly runs: readonly Run[];
  readonly rows: readonly Row[];
}

const root = join(import.meta.dir, "..");
const path = join(root, "docs/proof.md");
const rowHeading = ["claim", "promise", "what was done", "how often", "figure", "bound", "verdict"];
const runHeading = ["proof", "commit", "date", "seconds"];

/** Also renews the figures that other documents quote. */
export function writePage(results: readonly Result[]): void {
  const before = existsSync(path) ? readPage(readFileSync(path, "utf8")) : { runs: [], rows: [] };
  const text = textOf(mergePages(before, pageOf(results)));
  writeFileSync(path, text);
  for (const document of quotingDocuments(root).map((name) => join(root, name))) {
    const old = readFileSync(document, "utf8");
    const renewed = withQuotes(old, readPage(text).rows);
    if (renewed !== old) writeFileSync(document, renewed);
  }
}

function pageOf(results: readonly Result[]): Page {
  const date = new Date().toISOString().slice(0, 10);
  const on = commit();
  return {
    runs: results.map(({ proof, seconds }) => [proof, on, date, String(Math.round(seconds))]),
    rows: rowsOf(results),
  };
}

/** Of a proof that is in both, the later lines. */
export function mergePages(before: Page, after: Page): Page {
  const ranAgain = (name: string) => after.runs.some(([proof]) => proof === name);
  return {
    runs: [...before.runs.filter(([name]) => !ranAgain(name)), ...after.runs].sort(([one], [other]) =>
      one < other ? -1 : 1,
    ),
    rows: missedFirst([...before.rows.filter(({ cells }) => !ranAgain(proofOf(cells))), ...after.rows]),
  };
}

const proofOf = ([id = ""]: readonly string[]): string => id.split(".")[0] ?? "";

export function textOf({ runs, rows }: Page): string {
  const held = rows.filter(({ verdict }) => verdict === "held").length;
  const minutes = runs.reduce((sum, [, , , seconds]) => sum + Number(seconds), 0) / 60;
  return `${[
    "# Proof",
    "",
    "`npm run prove` writes this page. Each line is a promise of these documents, what was done to break it, and how it turned out. Lines",
    "that were missed come first. `npm run prove -- NAME` runs one proof again, prints its figures as it goes, and replaces its lines.",
    "`npm run prove -- NAME --control` runs it against servers with each mistake that it must find.",
    "",
    `- ${held} of ${rows.length} lines held; all proofs together took ${Math.ceil(minutes)} minutes`,
    `- Machine: ${machine()}`,
    "",
    ...tableOf(
      rowHeading,
      rows.map(({ cells, verdict }) => [...cells, verdict]),
    ),
    "",
    "Each proof last ran on:",
    "",
    ...tableOf(runHeading, runs),
  ].join("\n")}\n`;
}

function tableOf(heading: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const clean = (cell: string) => cell.replaceAll("|", "/").replaceAll(/\s+/g, " ").trim().slice(0, 400);
  const line = (cells: readonly string[]) => `| ${cells.map(clean).join(" | ")} |`;
  return [line(heading), line(heading.map(() => "---")), ...rows.map(line)];
}

export function readPage(text: string): Page {
  const tables = text.split("\n").filter((line) => line.startsWith("| "));
  const cells = tables.map((line) => line.slice(2, -2).split(" | "));
  return {
    rows: cells
      .filter((row) => row.length === rowHeading.length && row[0]?.includes("."))
      .map((row) => ({ cells: row.slice(0, -1), verdict: row.at(-1) ?? "" })),
    runs: cells
      .filter((row): row is [string, string, string, string] => row.length === runHeading.length)
      .filter(([, , , seconds]) => /^\d+$/.test(seconds)),
  };
}

function commit(): string {
  const git = (...args: string[]) => spawnSync("git", args, { cwd: root, encoding: "utf8" }).stdout?.trim() ?? "";
  const changed = git("status", "--porcelain", "--", "src", "prove", "bench", "test") !== "";
  return `${git("rev-parse", "--short=10", "HEAD")}${changed ? ", with changes that are not committed" : ""}`;
}

function machine(): string {
  const tool = (command: string, ...args: string[]) =>
    /\d+\.\d+(\.\d+)?/.exec(spawnSync(command, args, { encoding: "utf8" }).stdout ?? "")?.[0] ?? "not there";
  return [
    `${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? "unknown"})`,
    `${Math.round(totalmem() / 2 ** 30)} GB of memory`,
    `Linux ${release()}`,
    `Bun ${Bun.version}`,
    `PostgreSQL ${tool("psql", "--version")}`,
    `Redis ${tool("redis-server", "--version")}`,
  ].join(", ");
}
