import type { Types } from "../migrate.ts";

/** Results of destination checks, and the progress of walks over all links. */
export const targets = (t: Types): string[] => [
  `create table targets (
    link_id ${t.key} primary key,
    url_hash ${t.key},
    state ${t.key} check (state in ('ok', 'failing', 'dead', 'unchecked')),
    http_status ${t.integer},
    reason ${t.key},
    failures ${t.integer} not null,
    wants_title ${t.integer} not null,
    checked_at ${t.time},
    next_check_at ${t.time} not null
  ) ${t.clusteredTable}`,
  "create index targets_due on targets (next_check_at)",

  `create table walks (
    name ${t.key} primary key,
    position ${t.key} not null
  ) ${t.clusteredTable}`,
];
