import type { Types } from "../migrate.ts";

/** Servers that use this database. Each renews its row every two seconds; one that stopped doing so is gone. */
export const instances = (t: Types): string[] => [
  `create table instances (
    id ${t.key} primary key,
    host ${t.text} not null,
    pid ${t.integer} not null,
    shares ${t.integer} not null check (shares in (0, 1)),
    started_at ${t.time} not null,
    seen_at ${t.time} not null
  ) ${t.table}`,
];
