import type { BulkType } from "../../sql/bulk.ts";
import type { FactColumn, GroupNumber } from "../../sql/schema.ts";
import { type ClickedLink, dimensions, utcDay } from "../click.ts";
import { levelMost, shelfOf } from "../event-shelves.ts";
import type { BatchPart, LinkClicks } from "./parts.ts";
import type { FoundValues, WantedValues } from "./values.ts";

/** Events as rows of the table, in one flat list of numbers. */
export function eventRows(
  { places }: BatchPart,
  links: readonly LinkClicks[],
  { at, isEvent, first, reason }: EventClicks,
  whereOf: (link: ClickedLink) => { readonly domain: GroupNumber; readonly tags: number },
  found: FoundValues,
  nextSeq: () => number,
): number[] {
  const rows: EventRow[] = [];
  for (const { link, from, to } of links) {
    const flags = isEvent.subarray(from, to);
    if (!flags.includes(1)) continue;
    const { domain, tags } = whereOf(link);
    for (let n = from; n < to; n++) {
      if (isEvent[n] === 0) continue;
      const place = places[n] ?? 0;
      const time = Math.floor(at[n] ?? 0);
      const row = [utcDay(time), link.tenant, shelfOf(randomLevel(), time), link.link, time, nextSeq()];
      row.push(domain, tags, reason[place] ?? 0, first[n] ?? 0);
      found.facts(link.tenant, place, row);
      rows.push(row);
    }
  }
  return rows.sort(byKey).flat();
}

export interface EventClicks {
  /** In the order of the part: time, whether it is an event, and whose first visit it is. */
  readonly at: Float64Array;
  readonly isEvent: Uint8Array;
  readonly first: Uint8Array;
  /** Of the batch. */
  readonly reason: Uint8Array;
}

/** The values that events need ids of. */
export function wantedValues(
  { places }: BatchPart,
  links: readonly LinkClicks[],
  isEvent: Uint8Array,
  tagsOf: (link: ClickedLink) => string,
): WantedValues[] {
  const wanted: WantedValues[] = [];
  for (const { link, from, to } of links) {
    const tags = tagsOf(link);
    for (let n = from; n < to; n++) if (isEvent[n] === 1) wanted.push({ link, place: places[n] ?? 0, tags });
  }
  return wanted;
}

type EventRow = readonly number[];

const integers = <Name extends string>(names: readonly Name[]): Record<Name, BulkType> =>
  Object.fromEntries(names.map((name) => [name, "integer"])) as Record<Name, BulkType>;

export const eventColumns = {
  ...({ day: "integer", tenant: "integer", level: "smallint", link: "bigint", at: "bigint", seq: "bigint" } as const),
  ...integers(["domain", "tags", "reason", "first"]),
  ...integers<FactColumn>(dimensions),
};

/** `day, tenant, level, link, at`: the order of the table on SQLite, and of the index on PostgreSQL. */
function byKey(a: EventRow, b: EventRow): number {
  for (let column = 0; column < 5; column++) {
    const difference = (a[column] ?? 0) - (b[column] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** 0 for half of all clicks, 1 for a quarter, and so on. */
const randomLevel = (): number => Math.min(levelMost, Math.clz32(Math.random() * 2 ** 32));
