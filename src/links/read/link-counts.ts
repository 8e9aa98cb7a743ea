import { sql as raw } from "kysely";
import type { TenantId } from "../../base/ids.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant } from "../../sql/tenant-db.ts";
import { conditionsOf, type LinkQuery } from "./find.ts";
import { isInState, type ListedState, outdatedChecks, type StateFacts } from "./listed-state.ts";

/** How many links a filter has, in all and by state. */
export interface ListCounts extends Record<ListedState, number> {
  readonly all: number;
  /** There may be more than were counted: every number is "at least". */
  readonly isPartial: boolean;
}

/** Counting one takes about 1.3 µs. */
export const countedMost = 200_000;

export type CountedFilter = Omit<LinkQuery, "limit" | "sort" | "order" | "after" | "state">;

/** Reads the tenant's links, up to a bound: not for the serving thread. */
export async function countLinks(
  sql: Sql,
  tenant: TenantId,
  filter: CountedFilter,
  facts: StateFacts,
  most: number = countedMost,
): Promise<ListCounts> {
  const outdated = await outdatedChecks(sql, tenant);
  const flag = (is: ListedState) => raw<number>`case when ${isInState({ ...facts, is }, outdated)} then 1 else 0 end`;
  let rows = ofTenant(sql.db, tenant)
    .selectFrom("links")
    .select([flag("active").as("active"), flag("expired").as("expired"), flag("disabled").as("disabled")])
    .select([flag("suspended").as("suspended"), flag("attention").as("attention")]);
  const query: LinkQuery = { ...filter, sort: "createdAt", order: "desc", limit: most };
  for (const condition of await conditionsOf(sql, tenant, query)) rows = rows.where(condition);
  const sum = (name: ListedState) => raw<number | string | null>`sum(${raw.ref(name)})`;
  const counted = await sql.db
    .selectFrom(rows.limit(most).as("some"))
    .select((row) => row.fn.countAll<number | string>().as("all"))
    .select([sum("active").as("active"), sum("expired").as("expired"), sum("disabled").as("disabled")])
    .select([sum("suspended").as("suspended"), sum("attention").as("attention")])
    .executeTakeFirstOrThrow();
  const { active, expired, disabled, suspended, attention } = counted;
  const all = Number(counted.all);
  return {
    ...{ all, isPartial: all >= most },
    ...{ active: Number(active ?? 0), expired: Number(expired ?? 0), disabled: Number(disabled ?? 0) },
    ...{ suspended: Number(suspended ?? 0), attention: Number(attention ?? 0) },
  };
}
