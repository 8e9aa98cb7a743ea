import { dayMs } from "../../base/clock.ts";
import type { Sql } from "../../sql/sql.ts";
import { clipped } from "./cover.ts";
import type { Span } from "./query.ts";
import type { SubjectScope } from "./scope.ts";

/** No day is longer. */
const longestDayMs = 2 * dayMs;

/**
 * The parts of a range in which new visitors of the tenant were not recognised, because a server had seen too many that day: clicks
 * are complete there, and visitors too few. Null if there are none.
 */
export async function cappedVisitors(
  { db }: Sql,
  { tenant, lastFullAt }: SubjectScope,
  range: Span,
): Promise<readonly Span[] | null> {
  if (lastFullAt === null || lastFullAt < range.from - longestDayMs) return null;
  const days = await db
    .selectFrom("click_days")
    .select(["until", "visitors_full_at"])
    .where("tenant", "=", tenant)
    .where("start", "<", range.to)
    .where("until", ">", range.from)
    .where("visitors_full_at", "is not", null)
    .orderBy("start")
    .execute();
  const parts = days.flatMap(({ until, visitors_full_at: from }) => clipped(range, { from: from ?? until, to: until }));
  return parts.length === 0 ? null : parts;
}
