import type { Types } from "../migrate.ts";

/**
 * Reports take the number of events from roll-ups, from `events_from` on. So it is set before old events are deleted, and
 * `deleted_until` afterwards: if the purge is interrupted, the next one begins there.
 */
export const deletedEvents = (t: Types): string[] => [
  `alter table click_tenants add column deleted_until ${t.time} not null default 0`,
  "update click_tenants set deleted_until = events_from",
];
