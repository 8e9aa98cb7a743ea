import { type RawBuilder, sql as raw, type SelectQueryBuilder } from "kysely";
import type { FactColumn } from "./schema.ts";
import type { SharedSchema } from "./tenant-db.ts";

/**
 * PostgreSQL adds up events itself: one pass over them for all dimensions, by grouping sets. Reading 125,000 events and
 * adding them up here would block the serving thread for a quarter of a second. SQLite has no grouping sets, and its reports run
 * in another thread.
 */
export interface EventSum {
  /** Place in `reason`, `quarter` and the wanted columns, in this order. */
  readonly place: number;
  readonly person: number;
  readonly value: number;
  readonly clicks: number;
  readonly visitors: number;
}

export type SummedColumn = FactColumn | "link";

export type EventQuery = SelectQueryBuilder<SharedSchema, "clicks", Record<never, never>>;

const quarterMs = 900_000;

/** `visitorBits`: which bit of `first` makes a visitor; `late`: which one says that it is unknown. */
export async function sumEvents(
  { db }: { readonly db: { executeQuery: unknown } & Parameters<ReturnType<typeof raw>["execute"]>[0] },
  events: EventQuery,
  wanted: readonly SummedColumn[],
  { counted, bit, late }: { readonly counted: number; readonly bit: number; readonly late: number },
): Promise<EventSum[]> {
  const summed = ["reason", "quarter", ...wanted];
  const columns = raw.join(summed.map((name) => raw.ref(name)));
  const rows = (events as unknown as SelectQueryBuilder<Record<string, Record<string, number>>, string, object>).select(
    [
      raw<number>`case when reason = ${raw.lit(counted)} then 1 else 0 end`.as("person"),
      raw<number>`case when first & ${raw.lit(bit)} <> 0 and first & ${raw.lit(late)} = 0 then 1 else 0 end`.as(
        "visitor",
      ),
      raw<number>`reason`.as("reason"),
      raw<number>`at - at % ${raw.lit(quarterMs)}`.as("quarter"),
      ...wanted.map((name) => raw<number>`${raw.ref(name)}`.as(name)),
    ],
  );
  const sets = raw.join(summed.map((name) => raw`(person, ${raw.ref(name)})`));
  const sums = raw<Grouped>`
    select grouping(${columns}) as grouped, person, coalesce(${columns}) as value,
      count(*) as clicks, sum(visitor) as visitors
    from (${rows}) as events group by grouping sets (${sets})`;
  const all = 2 ** summed.length - 1;
  const linkPlace = summed.indexOf("link");
  const query = linkPlace < 0 ? sums : withTopLinks(sums, all - 2 ** (summed.length - 1 - linkPlace));
  // One text of numbers: the driver takes 3 µs of the serving thread for a row, and there are some ten thousand.
  const text = raw<{ numbers: string | null }>`
    select string_agg(concat_ws(',', grouped, person, value, clicks, visitors), ',') as numbers from (${query}) as found`;
  const numbers = JSON.parse(`[${(await text.execute(db)).rows[0]?.numbers ?? ""}]`) as number[];
  const found: EventSum[] = [];
  for (let at = 0; at < numbers.length; at += 5) {
    const [grouped = 0, person = 0, value = 0, clicks = 0, visitors = 0] = numbers.slice(at, at + 5);
    // All bits are set but one: that of the column by which the row is grouped.
    found.push({ place: summed.length - 1 - Math.round(Math.log2(all - grouped)), person, value, clicks, visitors });
  }
  return found;
}

interface Grouped {
  readonly grouped: number;
  readonly person: number;
  readonly value: number;
  readonly clicks: number;
  readonly visitors: number;
}

/**
 * Facts have a bounded number of values, and links have not: 125,000 events may be of as many links, and a row for each of
 * them would block the serving thread. More than a breakdown lists, because several ranges are added up.
 */
export const summedLinksMost = 1_000;

/** Links beyond those with the most clicks become one, with the number 0. */
const withTopLinks = (sums: RawBuilder<Grouped>, ofLinks: number): RawBuilder<Grouped> => raw<Grouped>`
  select grouped, person, case when grouped = ${raw.lit(ofLinks)} and place > ${raw.lit(summedLinksMost)} then 0 else value end as value,
    sum(clicks)::bigint as clicks, sum(visitors)::bigint as visitors
  from (select *, row_number() over (partition by grouped, person order by clicks desc, value) as place from (${sums}) as sums) as ranked
  group by 1, 2, 3`;
