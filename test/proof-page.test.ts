/** docs/proof.md, and the figures that other documents quote from it. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { mergePages, readPage, textOf } from "../prove/page.ts";
import { proofs } from "../prove/proofs.ts";
import { quotedIn, quotingDocuments, withQuotes } from "../prove/quotes.ts";

const root = join(import.meta.dir, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

const line = (id: string, figure: string, bound: string, verdict = "held") => ({
  cells: [id, "A promise", "20,000 visits", "20,000", figure, bound],
  verdict,
});
const page = {
  runs: [
    ["coherence", "aaaa", "2026-11-16", "90"],
    ["quota", "aaaa", "2026-11-16", "60"],
  ] as const,
  rows: [
    line("quota.redis_lost.stranded", "9", "at most 8", "missed"),
    line("quota.redis_lost.overshoot", "14", "at most 800"),
    line("coherence.woken.p99_ms", "18.5 ms", "at most 100 ms"),
  ],
};

describe("the page", () => {
  test("can be read again, all of it", () => {
    expect(readPage(textOf(page))).toEqual(page);
  });

  test("keeps the lines of proofs that did not run again, and no other, with missed ones first", () => {
    const again = {
      runs: [["quota", "bbbb", "2026-11-17", "61"]] as const,
      rows: [line("quota.killed.overshoot", "0", "at most 0")],
    };
    const merged = mergePages(page, again);
    expect(merged.runs).toEqual([page.runs[0], ...again.runs]);
    expect(merged.rows.map(({ cells }) => cells[0])).toEqual(["coherence.woken.p99_ms", "quota.killed.overshoot"]);
    const missed = mergePages(page, {
      runs: [["coherence", "bbbb", "2026-11-17", "1"]],
      rows: [line("coherence.all.end", "–", "–", "missed")],
    });
    expect(missed.rows.map(({ verdict }) => verdict)).toEqual(["missed", "missed", "held"]);
  });

  test("has lines of every proof", () => {
    const { rows, runs } = readPage(read("docs/proof.md"));
    expect(runs.map(([name]) => name)).toEqual(proofs.map(({ name }) => name).sort());
    for (const { name } of proofs) expect(rows.some(({ cells }) => cells[0]?.startsWith(`${name}.`))).toBe(true);
  });
});

describe("a quotation", () => {
  test("gets the figure of its claim, or its bound", () => {
    const text =
      "over by <!--proof quota.redis_lost.overshoot-->162<!----> (<!--proof quota.redis_lost.overshoot bound-->?<!---->), p99 <!--proof coherence.woken.p99_ms-->1<!---->";
    expect(withQuotes(text, page.rows)).toBe(
      "over by <!--proof quota.redis_lost.overshoot-->14<!----> (<!--proof quota.redis_lost.overshoot bound-->800<!---->), p99 <!--proof coherence.woken.p99_ms-->18.5 ms<!---->",
    );
  });

  test("in a document is what the proofs last printed", () => {
    const { rows } = readPage(read("docs/proof.md"));
    expect(quotingDocuments(root)).toEqual(
      expect.arrayContaining(["README.md", "docs/limits.md", "docs/coherence.md"]),
    );
    for (const path of quotingDocuments(root)) {
      expect(quotedIn(read(path)).filter((id) => !rows.some(({ cells }) => cells[0] === id))).toEqual([]);
      expect(withQuotes(read(path), rows)).toBe(read(path));
    }
  });

  test("is in the README for each of its promises", () => {
    const promises = read("README.md")
      .split("\n")
      .filter((line) => /^\| \*\*A.*npm run prove/.test(line));
    expect(promises).toHaveLength(3);
    for (const promise of promises) expect(quotedIn(promise).length).toBeGreaterThan(0);
  });
});
