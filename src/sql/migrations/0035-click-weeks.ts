import type { Types } from "../migrate.ts";

/** Roll-ups of weeks, so that a report on some weeks reads a few rows instead of one for each day. */
export const clickWeeks = (t: Types): string[] => [
  `alter table click_tenants add column weeks_until ${t.time} not null default 0`,
];
