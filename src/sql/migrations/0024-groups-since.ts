import type { Types } from "../migrate.ts";

/** Days that ended before a group of clicks was there may lack its roll-ups. Older groups are taken to have them. */
export const groupsSince = (t: Types): string[] => [
  `alter table click_groups add column since ${t.time} not null default 0`,
];
