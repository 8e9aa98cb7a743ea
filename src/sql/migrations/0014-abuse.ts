import type { Types } from "../migrate.ts";

/** Abuse reports, and what the operator has suspended. A link is suspended by its code, even if it is created again. */
export const abuse = (t: Types): string[] => [
  `create table abuse_reports (
    id ${t.key} primary key,
    domain ${t.key} not null,
    code ${t.key} not null,
    reason ${t.key} not null,
    details ${t.text},
    email ${t.text},
    url ${t.text},
    state ${t.key} not null check (state in ('open', 'dismissed', 'suspended')),
    created_at ${t.time} not null,
    closed_at ${t.time},
    closed_by ${t.text}
  ) ${t.table}`,
  "create index abuse_reports_by_state on abuse_reports (state, id)",
  "create index abuse_reports_by_link on abuse_reports (domain, code)",

  `create table suspended_links (
    domain ${t.key} not null,
    code ${t.key} not null,
    cause ${t.key} not null check (cause in ('operator', 'blocklist')),
    reason ${t.text} not null,
    suspended_by ${t.text} not null,
    suspended_at ${t.time} not null,
    primary key (domain, code)
  ) ${t.clusteredTable}`,

  `create table suspended_tenants (
    tenant_id ${t.key} primary key references tenants (id) on delete cascade,
    reason ${t.text} not null,
    suspended_by ${t.text} not null,
    suspended_at ${t.time} not null
  ) ${t.clusteredTable}`,
];
