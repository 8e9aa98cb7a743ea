import type { Types } from "../migrate.ts";

/** Work that one process does for all: when each job last started, and which process has it. */
export const jobs = (t: Types): string[] => [
  `create table jobs (
    name ${t.key} primary key,
    due_at ${t.time} not null,
    holder ${t.key}
  ) ${t.clusteredTable}`,
];
