import type { Types } from "../migrate.ts";

/**
 * Custom domains. Anyone may claim one, so a claim excludes no other tenant; it belongs to a tenant only once verified.
 */
export const domains = (t: Types): string[] => [
  `create table domains (
    tenant_id ${t.key} not null references tenants (id),
    host ${t.key} not null,
    state ${t.key} not null check (state in ('pending', 'verified')),
    token ${t.text} not null,
    is_default ${t.integer} not null default 0 check (is_default in (0, 1)),
    root_url ${t.text},
    missing_url ${t.text},
    created_at ${t.time} not null,
    verified_at ${t.time},
    primary key (tenant_id, host)
  ) ${t.clusteredTable}`,
  "create unique index domains_verified on domains (host) where state = 'verified'",
  "create unique index domains_default on domains (tenant_id) where is_default = 1",
];
