import type { Types } from "../migrate.ts";

/**
 * What a tenant has used of its monthly limits, counted in the transaction that uses it, and a limit per API key. A row
 * outlives what it counted: deleting a link refunds nothing.
 */
export const usage = (t: Types): string[] => [
  `create table tenant_usage (
    tenant_id ${t.key} not null references tenants (id) on delete cascade,
    name ${t.key} not null,
    month ${t.key} not null,
    used ${t.integer} not null check (used >= 0),
    primary key (tenant_id, name, month)
  ) ${t.clusteredTable}`,

  `alter table api_keys add column api_per_minute ${t.integer}`,
];
