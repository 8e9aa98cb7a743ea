import type { Types } from "../migrate.ts";

/**
 * Hits of links: what each month's limit has counted and lent (`quotas`), which leases are out (`leases`), why hits
 * were counted as they were (`hits`), and how far each server has recorded (`recorders`). No reference to `links`: the
 * rows outlive a link, or deleting and recreating it would lift its limit.
 */
export const hits = (t: Types): string[] => [
  `create table quotas (
    domain ${t.key} not null,
    code ${t.key} not null,
    month ${t.key} not null,
    draws ${t.key} not null check (draws in ('hits', 'exempt')),
    counted ${t.integer} not null check (counted >= 0),
    reserved ${t.integer} not null check (reserved >= 0),
    primary key (domain, code, month, draws)
  ) ${t.clusteredTable}`,

  `create table leases (
    id ${t.key} primary key,
    month ${t.key} not null,
    size ${t.integer} not null
  ) ${t.clusteredTable}`,
  "create index leases_by_month on leases (month)",

  `create table hits (
    domain ${t.key} not null,
    code ${t.key} not null,
    month ${t.key} not null,
    reason ${t.key} not null,
    hits ${t.integer} not null,
    primary key (domain, code, month, reason)
  ) ${t.clusteredTable}`,

  `create table recorders (
    id ${t.key} primary key,
    sequence ${t.integer} not null,
    seen_at ${t.time} not null
  ) ${t.table}`,
];
