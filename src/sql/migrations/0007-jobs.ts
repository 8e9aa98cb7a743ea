import type { Types } from "../migrate.ts";

/** Work that one process does for all: when each was last begun, and who has it now. */
export const jobs = (t: Types): string[] => [
  `create table jobs (
    name ${t.key} primary key,
    due_at ${t.time} not null,
    holder ${t.key}
  ) ${t.clusteredTable}`,
];
