import type { Types } from "../migrate.ts";

/** Until when the last lease of a month is good: after that, what is still reserved will not come back. */
export const lentUntil = (t: Types): string[] => [
  `alter table quotas add column lent_until ${t.time} not null default 0`,
];
