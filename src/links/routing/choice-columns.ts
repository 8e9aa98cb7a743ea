import type { LinkTable } from "../../sql/schema.ts";
import type { Choice, ChoiceFields, SplitTarget } from "./choice.ts";
import { readRules } from "./rules.ts";
import { type Utm, withUtm } from "./utm.ts";

/** Rules, splits and parameters in their columns: null if there are none, so that a plain link stays cheap to read. */
type Columns = Pick<LinkTable, "rules" | "split" | "utm" | "forward_query">;

export function choiceColumns({ rules, split, utm, forwardQuery }: ChoiceFields): Columns {
  return {
    rules: rules.length === 0 ? null : JSON.stringify(rules),
    split: split.length === 0 ? null : JSON.stringify(split),
    utm: utm === null ? null : JSON.stringify(utm),
    forward_query: forwardQuery ? 1 : 0,
  };
}

export const toChoiceFields = (row: Columns): ChoiceFields => ({
  rules: row.rules === null ? [] : JSON.parse(row.rules),
  split: row.split === null ? [] : JSON.parse(row.split),
  utm: toUtm(row.utm),
  forwardQuery: row.forward_query === 1,
});

export const toUtm = (stored: string | null): Utm | null => (stored === null ? null : JSON.parse(stored));

/** For a redirect: URLs as they are sent. Null if every visitor gets the same. */
export function toChoice(row: { readonly [Name in keyof Columns]: Columns[Name] | null }): Choice | null {
  if (row.rules === null && row.split === null && row.forward_query !== 1) return null;
  const utm = toUtm(row.utm);
  const sent = <Led extends { readonly url: string }>(led: Led): Led => ({ ...led, url: withUtm(led.url, utm) });
  return {
    rules: row.rules === null ? [] : readRules(JSON.parse(row.rules)).map(sent),
    split: row.split === null ? [] : (JSON.parse(row.split) as SplitTarget[]).map(sent),
    forwardQuery: row.forward_query === 1,
  };
}
