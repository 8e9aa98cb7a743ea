import { sql as raw, type SelectQueryBuilder } from "kysely";
import type { FactColumn } from "./schema.ts";
import type { SharedSchema } from "./tenant-db.ts";

/**
 * PostgreSQL adds up events itself: one pass over them for all dimensions, by grouping sets. Reading 125,000 events and
 * adding them up here would block the serving thread for a quarter of a second. SQLite has no grouping sets, and its reports run
 * in another thread.
 */
export interface EventSum {
  /** Place in `reason`, `quarter` and the wanted facts, in this order. */
  readonly place: number;
  readonly person: number;
  readonly value: number;
  readonly clicks: number;
  readonly visitors: number;
}

export type EventQuery = SelectQueryBuilder<SharedSchema, "clicks", Record<never, never>>;

const quarterMs = 900_000;

/** `visitorBits`: which bit of `first` makes a visitor; `late`: which one says that it is unknown. */
export async function sumEvents(
  { db }: { readonly db: { executeQuery: unknown } & Parameters<ReturnType<typeof raw>["execute"]>[0] },
  events: EventQuery,
  wanted: readonly FactColumn[],
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
  const query = raw<{ grouped: number; person: number; value: number; clicks: number; visitors: number }>`
    select grouping(${columns}) as grouped, person, coalesce(${columns}) as value,
      count(*) as clicks, sum(visitor) as visitors
    from (${rows}) as events group by grouping sets (${sets})`;
  const all = 2 ** summed.length - 1;
  const found = (await query.execute(db)).rows;
  return found.map(({ grouped, ...row }) => ({
    ...row,
    // All bits are set but one: that of the column by which the row is grouped.
    place: summed.length - 1 - Math.round(Math.log2(all - grouped)),
  }));
}
