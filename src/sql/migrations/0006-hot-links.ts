import type { Types } from "../migrate.ts";

/** The hottest links of each server: to show them, and to load them after a start. */
export const hotLinks = (t: Types): string[] => [
  `create table hot_links (
    instance ${t.key} not null,
    domain ${t.key} not null,
    code ${t.key} not null,
    per_minute ${t.integer} not null,
    usual_per_minute ${t.integer} not null,
    unusual ${t.integer} not null check (unusual in (0, 1)),
    seen_at ${t.time} not null,
    primary key (instance, domain, code)
  ) ${t.clusteredTable}`,
];
