import type { Types } from "../migrate.ts";

/** Emails about clicks: which of them a tenant wants, and what it was told about. */
export const clickNotices = (t: Types): string[] => [
  `alter table email_settings add column notices ${t.text}`,

  // A row for each first click, spike, drop and dead destination that was told or is to be told: at most one per link and
  // kind. `mail` is the key of its email. The weekly digest has one row, for link 0.
  `create table click_notices (
    tenant_id ${t.key} not null references tenants (id) on delete cascade,
    kind ${t.key} not null,
    link ${t.integer} not null,
    since ${t.time} not null,
    seen_at ${t.time} not null,
    facts ${t.text} not null,
    mail ${t.key},
    told ${t.integer} not null check (told in (0, 1)),
    primary key (tenant_id, kind, link)
  ) ${t.clusteredTable}`,

  // All dead destinations are walked over; among millions of others they are few.
  "create index targets_dead on targets (link_id) where state = 'dead'",
];
