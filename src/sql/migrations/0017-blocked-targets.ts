import type { Types } from "../migrate.ts";

/** Which of a domain's targets are on the blocklist: stored here, so that every server learns it from the feed. */
export const blockedTargets = (t: Types): string[] => [
  `alter table domains add column root_blocked ${t.integer} not null default 0 check (root_blocked in (0, 1))`,
  `alter table domains add column missing_blocked ${t.integer} not null default 0 check (missing_blocked in (0, 1))`,
  // The current list was applied to links only: apply it again.
  "delete from walks where name = 'blocklist'",
];
