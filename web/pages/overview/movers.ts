import type { ClickReport } from "../../api/generated.ts";
import { type FoundLink, nameOfLink } from "./found-link.ts";

/** A link whose clicks changed between two periods. */
export interface Mover {
  readonly id: string;
  readonly name: string;
  readonly now: number;
  readonly before: number;
}

/**
 * The links that gained and lost most. `before` are the links of the compared period: those that have no click any more are
 * only there. What is not known exactly is left out.
 */
export function moversOf(now: ClickReport, before: ClickReport | undefined, most: number) {
  const current = now.breakdowns.link;
  const listed = (current?.values ?? []).flatMap((value) => moverOf(value, value.clicks, value.previousClicks));
  const known = new Set(listed.map(({ id }) => id));
  const isComplete = current !== undefined && current.other === 0 && current.notItemised === 0;
  const gone = isComplete
    ? (before?.breakdowns.link?.values ?? [])
        .flatMap((value) => moverOf(value, 0, value.clicks))
        .filter(({ id }) => !known.has(id))
    : [];
  const all = [...listed, ...gone];
  const change = (mover: Mover) => mover.now - mover.before;
  return {
    up: all
      .filter((one) => change(one) > 0)
      .toSorted((a, b) => change(b) - change(a))
      .slice(0, most),
    down: all
      .filter((one) => change(one) < 0)
      .toSorted((a, b) => change(a) - change(b))
      .slice(0, most),
  };
}

function moverOf(value: FoundLink, now: number, before: number | null | undefined): Mover[] {
  const id = value.link?.id;
  if (!id || before === null || before === undefined) return [];
  return [{ id, name: nameOfLink(value), now, before }];
}

/** The value that changed most, if it explains a good part of the change. */
export interface Reason {
  readonly dimension: "utm_source" | "referrer" | "source" | "country";
  readonly value: string;
  readonly now: number;
  readonly before: number;
}

/** The first that explains it wins: a campaign says more than a country. */
export const reasonDimensions = ["utm_source", "referrer", "source", "country"] as const;
const explains = 0.5;

export function reasonOf(
  { now, before }: Mover,
  reportNow: ClickReport,
  reportBefore: ClickReport,
): Reason | undefined {
  const change = now - before;
  for (const dimension of reasonDimensions) {
    const [after, earlier] = [countsOf(reportNow, dimension), countsOf(reportBefore, dimension)];
    const changes = [...new Set([...after.keys(), ...earlier.keys()])].map((value) => ({
      dimension,
      value,
      now: after.get(value) ?? 0,
      before: earlier.get(value) ?? 0,
    }));
    const largest = changes.toSorted((a, b) => (b.now - b.before - (a.now - a.before)) * Math.sign(change))[0];
    // "Direct or unknown" and "opened by a link" explain nothing.
    if (!largest || largest.value === "" || (dimension === "source" && largest.value === "link")) continue;
    if ((largest.now - largest.before) / change >= explains) return largest;
  }
  return undefined;
}

function countsOf({ breakdowns }: ClickReport, dimension: string): Map<string, number> {
  const found = breakdowns[dimension];
  if (found === undefined) return new Map();
  return new Map([...found.values.map(({ value, clicks }) => [value, clicks] as const), ["", found.none] as const]);
}
