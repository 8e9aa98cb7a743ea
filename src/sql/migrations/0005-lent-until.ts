import type { Types } from "../migrate.ts";

/** When the last lease of a month expires: after that, what is still reserved will not be returned. */
export const lentUntil = (t: Types): string[] => [
  `alter table quotas add column lent_until ${t.time} not null default 0`,
];
