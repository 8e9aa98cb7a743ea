/** What was claimed, as one table. */
import { type Bound, type Claim, idOf, type Verdict, verdictOf } from "./proof.ts";

/** One proof that ran. */
export interface Result {
  readonly proof: string;
  readonly claims: readonly Claim[];
  readonly seconds: number;
  /** What ended it early. */
  readonly error?: string | undefined;
}

export const holds = ({ claims, error }: Result): boolean =>
  error === undefined && claims.length > 0 && claims.every((claim) => verdictOf(claim) === "held");

const order: readonly Verdict[] = ["missed", "not judged", "held"];

/** The claim's ID, its promise, what was done, how often, the figure and the bound. */
export type Row = { readonly verdict: string; readonly cells: readonly string[] };

export const missedFirst = (rows: readonly Row[]): Row[] =>
  rows.toSorted((one, other) => order.indexOf(one.verdict as Verdict) - order.indexOf(other.verdict as Verdict));

/** A proof that broke off, or claimed nothing, has a line that says so. */
export function rowsOf(results: readonly Result[]): Row[] {
  const broken = results
    .filter(({ claims, error }) => error !== undefined || claims.length === 0)
    .map(({ proof, error }) => ({
      verdict: "missed",
      cells: [`${proof}.all.end`, "the proof runs to its end", error ?? "it claimed nothing", "1", "–", "–"],
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
  return missedFirst([...broken, ...claimed]);
}

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
