import type { Types } from "../migrate.ts";

/**
 * Roll-ups as numbers, with the names of values apart (`clicks/rollups/packed-values.ts`). Older rows have `facts` instead, and stay as they
 * are. And days in which a server stopped to recognise new visitors, because there were too many.
 */
export const packedRollups = (t: Types): string[] => [
  `alter table click_rollups add column packed ${t.bytes}`,
  `alter table click_rollups add column names ${t.bytes}`,
  ...t.packedColumns,
  // A report lists the periods of a year. Without it, SQLite would read the beginning of each row.
  "create index click_rollups_periods on click_rollups (subject, grain, start, until)",
  `alter table click_days add column visitors_full_at ${t.time}`,
];
