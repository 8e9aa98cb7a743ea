import type { Types } from "../migrate.ts";

/**
 * Clicks: events and roll-ups (docs/clicks.md).
 *
 * Numbers instead of ids keep the rows small. A link has a positive number, a group of links (a tenant, a domain, a tag)
 * a negative one, so that one column can name both. The database assigns them and never assigns one twice.
 */
export const clicks = (t: Types): string[] => [
  ...t.numbers,
  "create unique index tenants_by_number on tenants (number)",
  `alter table links add column facts ${t.integer} not null default 1 check (facts in (0, 1))`,

  // A row for each tenant that changed a setting or was condensed; `late` is raised, and so locked, by late clicks.
  `create table click_tenants (
    tenant_id ${t.key} primary key references tenants (id) on delete cascade,
    zone ${t.key} not null,
    facts ${t.integer} not null check (facts in (0, 1)),
    event_days ${t.integer},
    late ${t.integer} not null,
    hours_until ${t.time} not null,
    days_until ${t.time} not null,
    months_until ${t.time} not null,
    events_from ${t.time} not null default 0
  ) ${t.clusteredTable}`,

  // Domains and tags with roll-ups of their own.
  `create table click_groups (
    tenant_id ${t.key} not null references tenants (id) on delete cascade,
    kind ${t.key} not null check (kind in ('domain', 'tag')),
    name ${t.key} not null,
    ${t.groupNumber},
    primary key (tenant_id, kind, name)
  ) ${t.table}`,
  ...t.groupNumbers,

  // Single values of facts. 0 is "none", and the first row, 1, is "other".
  `create table click_values (
    id ${t.serial},
    tenant ${t.integer} not null,
    dimension ${t.key} not null,
    value ${t.key} not null,
    seen_day ${t.integer} not null,
    unique (tenant, dimension, value)
  ) ${t.table}`,
  "insert into click_values (tenant, dimension, value, seen_day) values (0, '', '', 0)",
  "create index click_values_by_day on click_values (seen_day)",

  ...t.clickEvents,

  // Clicks beyond the cap of events: one row for each link, quarter of an hour and writer, replaced as it grows. The two
  // tallies have the same clicks, with the first visits to the link, and those to the tenant.
  `create table click_overflow (
    day ${t.integer} not null,
    tenant ${t.integer} not null,
    link ${t.integer} not null,
    quarter ${t.time} not null,
    domain ${t.integer} not null,
    tags ${t.integer} not null,
    writer ${t.key} not null,
    tally ${t.text} not null,
    tenant_tally ${t.text} not null,
    primary key (day, tenant, link, quarter, domain, tags, writer)
  ) ${t.clusteredTable}`,

  // Days of a tenant, in its time zone. The salt is deleted when the day is over.
  `create table click_days (
    tenant ${t.integer} not null,
    start ${t.time} not null,
    until ${t.time} not null,
    salt ${t.key},
    primary key (tenant, start)
  ) ${t.clusteredTable}`,
  "create index click_salts on click_days (until) where salt is not null",

  // Who was seen today, as hashes with the day's salt. Deleted with it.
  `create table click_visitors (
    until ${t.time} not null,
    subject ${t.integer} not null,
    hash ${t.integer} not null,
    primary key (until, subject, hash)
  ) ${t.clusteredTable}`,

  `create table click_rollups (
    subject ${t.integer} not null,
    grain ${t.integer} not null,
    start ${t.time} not null,
    until ${t.time} not null,
    reasons ${t.text} not null,
    visitors ${t.integer} not null,
    itemised ${t.integer} not null,
    series ${t.text} not null,
    facts ${t.text} not null,
    primary key (subject, grain, start)
  ) ${t.clusteredTable}`,

  // What a list of links shows, and the name of a link's number.
  `create table click_links (
    link ${t.integer} primary key,
    tenant_id ${t.key} not null references tenants (id) on delete cascade,
    domain ${t.key} not null,
    code ${t.key} not null,
    clicks ${t.integer} not null,
    first_at ${t.time},
    last_at ${t.time}
  ) ${t.table}`,
  "create index click_links_by_tenant on click_links (tenant_id, link)",

  // Clicks that a server could not keep, and those of people who excluded themselves, by its own count.
  `create table click_drops (
    day ${t.integer} not null,
    writer ${t.key} not null,
    dropped ${t.integer} not null,
    excluded ${t.integer} not null,
    primary key (day, writer)
  ) ${t.clusteredTable}`,

  // Totals of days from another shortener.
  `create table click_history (
    tenant_id ${t.key} not null references tenants (id) on delete cascade,
    link ${t.integer} not null,
    start ${t.time} not null,
    until ${t.time} not null,
    source ${t.key} not null,
    clicks ${t.integer} not null,
    visitors ${t.integer},
    primary key (link, start, source)
  ) ${t.clusteredTable}`,
  "create index click_history_by_tenant on click_history (tenant_id, start)",
];
