import type { Types } from "../migrate.ts";

/**
 * Roll-ups of quarter years, so that a report on a year or more reads fewer rows; and where the values of people end in a roll-up, so that
 * a report on people reads no others.
 */
export const quarterYears = (t: Types): string[] => [
  `alter table click_tenants add column quarter_years_until ${t.time} not null default 0`,
  "alter table click_rollups add column people_bytes integer",
];
