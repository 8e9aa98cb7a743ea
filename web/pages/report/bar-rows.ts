import type { ClickReport } from "../../api/generated.ts";
import type { FilterField } from "./filters.ts";
import { valueName } from "./values.ts";

export type Breakdown = ClickReport["breakdowns"][string];
type BreakdownValue = Breakdown["values"][number];

/** A row of a breakdown. Rows add up to the total of the report. */
export interface BarRow {
  readonly kind: "value" | "other" | "notItemised";
  /** What a filter takes; "" is none. */
  readonly value: string;
  readonly name: string;
  readonly clicks: number;
  /** Of `other`: how many values it has, if all are known. */
  readonly count?: number | undefined;
}

export type NameOf = (value: string, found: BreakdownValue | undefined) => string;

export const defaultName =
  (field: FilterField): NameOf =>
  (value) =>
    valueName(field, value);

/** All rows, the largest first; what cannot be told apart comes last. */
export function rowsOf(found: Breakdown, nameOf: NameOf): BarRow[] {
  const values = found.values.map((one) => ({
    kind: "value" as const,
    ...{ value: one.value, name: nameOf(one.value, one), clicks: one.clicks },
  }));
  const none = { kind: "value" as const, value: "", name: nameOf("", undefined), clicks: found.none };
  const sorted = (found.none > 0 ? [...values, none] : values).toSorted((one, other) => other.clicks - one.clicks);
  return [...sorted, ...restOf(found.other, undefined), ...notItemisedOf(found)];
}

/** The largest rows, and one for all others. */
export function topRows(found: Breakdown, nameOf: NameOf, most: number): BarRow[] {
  const all = rowsOf(found, nameOf).filter(({ kind }) => kind === "value");
  // A row that stands for one value would only hide its name.
  const isShort = all.length + (found.other > 0 ? 1 : 0) <= most + 1;
  const shown = isShort ? all : all.slice(0, most);
  const hidden = all.slice(shown.length);
  const clicks = hidden.reduce((sum, row) => sum + row.clicks, found.other);
  return [...shown, ...restOf(clicks, found.other > 0 ? undefined : hidden.length), ...notItemisedOf(found)];
}

const restOf = (clicks: number, count: number | undefined): BarRow[] =>
  clicks > 0 ? [{ kind: "other", value: "", name: "", clicks, count }] : [];

const notItemisedOf = ({ notItemised }: Breakdown): BarRow[] =>
  notItemised > 0 ? [{ kind: "notItemised", value: "", name: "", clicks: notItemised }] : [];
