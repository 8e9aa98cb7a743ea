import { sql as raw } from "kysely";
import { dayMs } from "../../base/clock.ts";
import type { Sql } from "../../sql/sql.ts";
import { dimensions } from "../click.ts";
import { type EventScope, eventsOf, levelMost } from "./events.ts";
import type { Span } from "./query.ts";

/**
 * All clicks of a day with too many to sort, for an export: in the order in which they are stored, by level and link. A page looks at a
 * bounded number of clicks, whatever the filters, and the next one goes on behind it.
 */
export interface DayPart {
  readonly rows: readonly ListedRow[];
  /** Undefined: the day is complete. */
  readonly next: KeyPlace | undefined;
}

/** What is listed of a click. */
export const listedColumns = ["at", "seq", "link", "reason", "first", ...dimensions] as const;
export type ListedRow = Readonly<Record<(typeof listedColumns)[number], number>>;

/** Of the last click that was looked at. */
export type KeyPlace = readonly [level: number, link: number, at: number, seq: number];

export const dayBegin: KeyPlace = [0, 0, 0, 0];

/** Reading and naming them takes about 30 ms. */
export const lookedAtMost = 10_000;

const key = ["link", "at", "seq"] as const;

/** `span` lies within one UTC day. */
export async function readDay(
  sql: Sql,
  scope: EventScope,
  span: Span,
  after: KeyPlace,
  most = lookedAtMost,
): Promise<DayPart> {
  const day = Math.floor(span.from / dayMs);
  const wholeDay = { from: day * dayMs, to: (day + 1) * dayMs };
  const rows: ListedRow[] = [];
  let [level, ...place] = after;
  for (; level <= levelMost; level++, place = [0, 0, 0]) {
    // The filters come later: they decide what is listed, and not how much is looked at.
    const looked = eventsOf(sql, { ...scope, conditions: [] }, wholeDay, [level]).where(isBehind(place));
    const [last] = await looked
      .select(key)
      .orderBy("link")
      .orderBy("at")
      .orderBy("seq")
      .offset(most - 1)
      .limit(1)
      .execute();
    let page = eventsOf(sql, scope, span, [level]).where(isBehind(place));
    if (last !== undefined) page = page.where(raw<boolean>`${keyColumns} <= ${keyOf([last.link, last.at, last.seq])}`);
    rows.push(...(await page.select(listedColumns).orderBy("link").orderBy("at").orderBy("seq").execute()));
    if (last !== undefined) return { rows, next: [level, last.link, last.at, last.seq] };
    // A level has half of the clicks of the one before, so all that follow are not many more.
    if (rows.length >= most / 2 && level < levelMost) return { rows, next: [level + 1, 0, 0, 0] };
  }
  return { rows, next: undefined };
}

const keyColumns = raw`(link, at, seq)`;
const keyOf = (numbers: readonly number[]) => raw`(${raw.join(numbers)})`;
const isBehind = (place: readonly number[]) => raw<boolean>`${keyColumns} > ${keyOf(place)}`;
