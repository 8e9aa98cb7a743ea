import type { Sql } from "../../sql/sql.ts";
import { type BreakdownName, none, other } from "../click.ts";
import { findStoredNames, type StoredValues } from "../rollups/packed.ts";
import { type NeededValues, type SumsByName, sumsOf } from "../rollups/packed-values.ts";
import type { FactCounts, Tally, ValueCount } from "../rollups/tally.ts";
import { valueKey } from "../rollups/value-key.ts";
import type { ValueNames } from "../rollups/value-names.ts";
import { type EventCounts, forEachValue, textOfId } from "./event-counts.ts";
import { chosenOf, noneKey, noSums, otherKey, type RankedSums } from "./ranked-sums.ts";

/**
 * The values of a report without filters. They are added up by their keys (`value-key.ts`), from roll-ups, events and overflow
 * rows, and the names are looked up at the end, for those that are shown.
 */
export interface ReportedValues {
  /** `times`: how many events each of a sample stands for. */
  addEvents(counts: EventCounts, nameOf: ValueNames["of"], times: number): void;
  addTally(tally: Pick<Tally, "people" | "rest">): void;
  /**
   * The values with the most clicks and those that equal the last of them, "none", and all others as one. `rows` are the roll-ups in
   * the sums, those with the most values first. Undefined if a name is in none of them: a row was replaced meanwhile.
   */
  shown(most: number, rows: () => AsyncIterable<StoredValues>): Promise<FactCounts | undefined>;
}

/** What does not change: the text of a key, and the key of an id. The next report has mostly the same ones. */
interface Known {
  readonly texts: Map<number, string>;
  readonly keys: Map<number, number>;
}
const knownOf = new WeakMap<Sql, Known>();
/** About 15 MB. */
const knownMost = 100_000;

function known(sql: Sql): Known {
  let found = knownOf.get(sql);
  if (found === undefined || found.texts.size > knownMost || found.keys.size > knownMost) {
    found = { texts: new Map(), keys: new Map() };
    knownOf.set(sql, found);
  }
  return found;
}

/** `condensed`: the sums of roll-ups. */
export function createReportedValues(
  sql: Sql,
  condensed: ReadonlyMap<BreakdownName, RankedSums>,
  needed: Required<NeededValues>,
): ReportedValues {
  const { texts, keys } = known(sql);
  const sums: SumsByName = new Map();
  const sources: ((take: (key: number, text: string) => void) => void)[] = [];
  const isOfClass = (isOfPeople: boolean) => (isOfPeople ? needed.people : needed.rest);

  function keyOfId(name: BreakdownName, id: number, nameOf: ValueNames["of"]): number {
    if (name === "link") return valueKey(textOfId(name, id, nameOf));
    let key = keys.get(id);
    if (key === undefined) {
      key = valueKey(textOfId(name, id, nameOf));
      // A value that is not in the table yet may be there in a moment.
      if (nameOf(id) !== undefined) keys.set(id, key);
    }
    return key;
  }

  return {
    addEvents(counts, nameOf, times) {
      forEachValue(counts, (name, isOfPeople, id, clicks, visitors) => {
        if (!isOfClass(isOfPeople)) return;
        const key = keyOfId(name, id, nameOf);
        sumsOf(sums, name).add(key, clicks * times, visitors * times);
      });
      sources.push((take) =>
        forEachValue(counts, (name, _, id) => take(keyOfId(name, id, nameOf), textOfId(name, id, nameOf))),
      );
    },
    addTally({ people, rest }) {
      for (const [values, isOfPeople] of [
        [people, true],
        [rest, false],
      ] as const) {
        if (!isOfClass(isOfPeople)) continue;
        for (const name of needed.dimensions) {
          for (const [text, { clicks, visitors }] of values.get(name) ?? []) {
            sumsOf(sums, name).add(valueKey(text), clicks, visitors);
          }
        }
      }
      sources.push((take) => {
        for (const values of [people, rest]) {
          for (const ofName of values.values()) for (const text of ofName.keys()) take(valueKey(text), text);
        }
      });
    },
    async shown(most, rows) {
      const names = needed.dimensions.filter((name) => condensed.has(name) || sums.has(name));
      const chosen = names.map(
        (name) => [name, chosenOf(condensed.get(name) ?? noSums, sumsOf(sums, name), most)] as const,
      );
      const found = new Map([
        [noneKey, none],
        [otherKey, other],
      ]);
      const missing = new Set<number>();
      for (const [, values] of chosen) {
        for (const key of values.keys()) {
          const text = texts.get(key);
          if (text === undefined) missing.add(key);
          else found.set(key, text);
        }
      }
      for (const key of found.keys()) missing.delete(key);
      const take = (key: number, text: string) => {
        if (!missing.delete(key)) return;
        found.set(key, text);
        texts.set(key, text);
      };
      for (const source of sources) if (missing.size > 0) source(take);
      if (missing.size > 0) {
        for await (const row of rows()) {
          findStoredNames(row, missing, take);
          if (missing.size === 0) break;
        }
      }
      if (missing.size > 0) return undefined;
      return new Map(chosen.map(([name, values]) => [name, named(values, found)]));
    },
  };
}

const named = (values: ReadonlyMap<number, ValueCount>, texts: ReadonlyMap<number, string>): Map<string, ValueCount> =>
  new Map([...values].map(([key, count]) => [texts.get(key) ?? other, count]));
