import { sql as raw } from "kysely";
import { dayMs } from "../../base/clock.ts";
import type { Sql } from "../../sql/sql.ts";
import { dimensions } from "../click.ts";
import { everyLevel, shelvesOf } from "../event-shelves.ts";
import { type EventScope, eventsOn } from "./events.ts";
import type { Span } from "./query.ts";

/**
 * All clicks of a day with too many to sort, for an export: in the order in which they are stored, by shelf and link. A page looks at a
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
export type KeyPlace = readonly [shelf: number, link: number, at: number, seq: number];

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
  let looked = 0;
  const [first, ...rest] = after;
  const shelves = shelvesOf(everyLevel, span).filter((shelf) => shelf >= first);
  for (const shelf of shelves) {
    const place = shelf === first ? rest : [0, 0, 0];
    // The filters come later: they decide what is listed, and not how much is looked at.
    const ahead = eventsOn(sql, { ...scope, conditions: [] }, [wholeDay], [shelf]).where(isBehind(place));
    const some = ahead.select(key).orderBy("link").orderBy("at").orderBy("seq");
    const [last] = await some
      .offset(most - 1)
      .limit(1)
      .execute();
    let page = eventsOn(sql, scope, [span], [shelf]).where(isBehind(place));
    if (last !== undefined) page = page.where(raw<boolean>`${keyColumns} <= ${keyOf([last.link, last.at, last.seq])}`);
    rows.push(...(await page.select(listedColumns).orderBy("link").orderBy("at").orderBy("seq").execute()));
    if (last !== undefined) return { rows, next: [shelf, last.link, last.at, last.seq] };
    const { count } = await sql.db
      .selectFrom(some.as("some"))
      .select((row) => row.fn.countAll<number>().as("count"))
      .executeTakeFirstOrThrow();
    looked += count;
    const next = shelves[shelves.indexOf(shelf) + 1];
    if (looked >= most / 2 && next !== undefined) return { rows, next: [next, 0, 0, 0] };
  }
  return { rows, next: undefined };
}

const keyColumns = raw`(link, at, seq)`;
const keyOf = (numbers: readonly number[]) => raw`(${raw.join(numbers)})`;
const isBehind = (place: readonly number[]) => raw<boolean>`${keyColumns} > ${keyOf(place)}`;
