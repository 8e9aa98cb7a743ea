import type { Types } from "../migrate.ts";

/** How fast a destination answered, and since when it fails. Null: not known, because it was checked before. */
export const targetTimes = (t: Types): string[] => [
  `alter table targets add column response_ms ${t.integer}`,
  `alter table targets add column failing_since ${t.time}`,
];
