import type { Types } from "../migrate.ts";

/** Requests that must run once, with their response. */
export const idempotency = (t: Types): string[] => [
  `create table idempotency (
    tenant_id ${t.key} not null references tenants (id),
    key_hash ${t.key} not null,
    fingerprint ${t.key} not null,
    seed ${t.key} not null,
    state ${t.key} not null check (state in ('running', 'done')),
    claim ${t.key} not null,
    claimed_until ${t.time} not null,
    answer ${t.text},
    created_at ${t.time} not null,
    expires_at ${t.time} not null,
    primary key (tenant_id, key_hash)
  ) ${t.table}`,
  "create index idempotency_expired on idempotency (expires_at)",
];
