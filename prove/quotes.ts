/**
 * Figures of docs/proof.md that other documents quote. In Markdown a quotation is a figure between two comments, which
 * readers do not see: `<!--proof quota.redis_lost.overshoot-->14<!---->`, and with `bound` after the name, the bound of
 * the claim. `npm run prove` renews them all; a test compares them.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Row } from "./report.ts";

const quotation = /<!--proof ([\w.]+)( bound)?-->([^<]*)<!---->/g;

/** The same text with the figures of the page. A quotation of a claim that is not there stays as it is. */
export const withQuotes = (text: string, rows: readonly Row[]): string =>
  text.replace(quotation, (before, id: string, bound = "") => {
    const [, , , , figureOfClaim = "", boundOfClaim = ""] = rows.find(({ cells }) => cells[0] === id)?.cells ?? [];
    if (figureOfClaim === "") return before;
    const figure = bound === "" ? figureOfClaim : boundOfClaim.replace(/^(at most|at least|exactly) /, "");
    return `<!--proof ${id}${bound}-->${figure}<!---->`;
  });

export const quotedIn = (text: string): string[] => [...text.matchAll(quotation)].map(([, id = ""]) => id);

/** The documents that may quote. */
export const quotingDocuments = (root: string): string[] => [
  "README.md",
  "bench/README.md",
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];
