import type { Types } from "../migrate.ts";

/**
 * How the last run of a job ended, for `quicklink doctor`. Notices about limits have another name: names are labels of
 * metrics now.
 */
export const jobRuns = (t: Types): string[] => [
  `alter table jobs add column started_at ${t.time}`,
  `alter table jobs add column ended_at ${t.time}`,
  `alter table jobs add column succeeded_at ${t.time}`,
  `alter table jobs add column failures ${t.integer} not null default 0`,
  `alter table jobs add column error ${t.text}`,
  "delete from jobs where name in ('notices about limits', 'limit notices')",
];
