/** What was claimed, as one table: on the terminal, and in docs/proof.md. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import { type Bound, type Claim, idOf, type Verdict, verdictOf } from "./proof.ts";
import { quotingDocuments, withQuotes } from "./quotes.ts";

/** One proof that ran. */
export interface Result {
  readonly proof: string;
  readonly claims: readonly Claim[];
  readonly seconds: number;
  /** What ended it early. */
  readonly error?: string | undefined;
}

const root = join(import.meta.dir, "..");
const page = join(root, "docs/proof.md");

export const holds = ({ claims, error }: Result): boolean =>
  error === undefined && claims.length > 0 && claims.every((claim) => verdictOf(claim) === "held");

const order: readonly Verdict[] = ["missed", "not judged", "held"];

type Row = { readonly verdict: string; readonly cells: readonly string[] };

/** Missed lines first. A proof that broke off, or claimed nothing, has a line that says so. */
function rowsOf(results: readonly Result[]): Row[] {
  const broken = results
    .filter(({ claims, error }) => error !== undefined || claims.length === 0)
    .map(({ proof, error }) => ({
      verdict: "missed",
      cells: [proof, "the proof runs to its end", error ?? "it claimed nothing", "1", "–", "–"],
    }));
  const claimed = results.flatMap(({ proof, claims }) =>
    claims.map((claim) => ({
      verdict: verdictOf(claim),
      cells: [
        `${proof}.${idOf(claim)}`,
        claim.promise,
        claim.notJudged === undefined ? claim.done : `${claim.done} (${claim.notJudged})`,
        shown(claim.times),
        `${shown(claim.figure)}${unitOf(claim)}`,
        boundOf(claim),
      ],
    })),
  );
  const place = ({ verdict }: Row) => order.indexOf(verdict as Verdict);
  return [...broken, ...claimed].sort((one, other) => place(one) - place(other));
}

const heading = ["claim", "promise", "what was done", "how often", "figure", "bound", "verdict"];

export function printTable(results: readonly Result[]): void {
  const rows = rowsOf(results);
  for (const { verdict, cells } of rows) {
    const [id, promise, done, times, figure, bound] = cells;
    const mark = verdict === "held" ? "held      " : verdict === "missed" ? "MISSED    " : "NOT JUDGED";
    console.log(`${mark}  ${id}: ${figure}, bound ${bound}\n            ${promise}; ${done}; ${times} times`);
  }
  const count = (verdict: Verdict) => rows.filter((row) => row.verdict === verdict).length;
  console.log(
    `\nclaims=${rows.length} held=${count("held")} missed=${count("missed")} not_judged=${count("not judged")}`,
  );
}

/** Also renews the figures that other documents quote. */
export function writePage(results: readonly Result[]): void {
  const text = pageOf(results);
  writeFileSync(page, text);
  for (const path of quotingDocuments(root)) {
    const before = readFileSync(join(root, path), "utf8");
    const after = withQuotes(before, readPage(text));
    if (after !== before) writeFileSync(join(root, path), after);
  }
}

function pageOf(results: readonly Result[]): string {
  const rows = rowsOf(results).map(({ verdict, cells }) => [...cells, verdict]);
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  const held = rows.filter((row) => row.at(-1) === "held").length;
  const minutes = results.reduce((sum, { seconds }) => sum + seconds, 0) / 60;
  return `${[
    "# Proof",
    "",
    "Written by `npm run prove`, which runs every proof and takes less than 40 minutes on two cores. Each line is a promise of these",
    "documents, what was done to break it, and how it turned out. Lines that were missed come first.",
    "",
    `- Commit: ${commit()}`,
    `- Date: ${new Date().toISOString().slice(0, 10)}`,
    `- Machine: ${machine()}`,
    `- ${held} of ${rows.length} lines held; ${results.length} proofs took ${minutes.toFixed(0)} minutes`,
    "",
    line(heading),
    line(heading.map(() => "---")),
    ...rows.map(line),
    "",
    "`npm run prove -- NAME` repeats one proof, and prints its figures as it goes. `npm run prove -- NAME --control` runs it against",
    "servers with a mistake that it must find.",
  ].join("\n")}\n`;
}

/** A claim as docs/proof.md shows it. */
export interface Written {
  readonly figure: string;
  readonly bound: string;
}

export function readPage(text: string): ReadonlyMap<string, Written> {
  const rows = text
    .split("\n")
    .filter((line) => /^\| \w+\./.test(line))
    .map((line) => line.slice(2, -2).split(" | "));
  return new Map(rows.map(([id = "", , , , figure = "", bound = ""]) => [id, { figure, bound }]));
}

const shown = (figure: number): string =>
  Number.isInteger(figure)
    ? figure.toLocaleString("en-US")
    : figure.toLocaleString("en-US", { maximumSignificantDigits: 3 });

const unitOf = ({ unit }: Claim): string => (unit === undefined ? "" : ` ${unit}`);

function boundOf(claim: Claim): string {
  const words: { readonly [K in "most" | "least" | "exactly"]: string } = {
    most: "at most",
    least: "at least",
    exactly: "exactly",
  };
  const [[kind, value] = ["exactly", Number.NaN]] = Object.entries(claim.bound satisfies Bound);
  return `${words[kind as keyof typeof words]} ${shown(value)}${unitOf(claim)}`;
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
