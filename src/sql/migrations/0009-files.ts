import type { Types } from "../migrate.ts";

/**
 * Files, and per tenant the sum of those that are stored: it changes in the file's transaction, and its version tells
 * which of two copies is newer.
 */
export const files = (t: Types): string[] => [
  `create table files (
    id ${t.key} primary key,
    tenant_id ${t.key} not null references tenants (id),
    name ${t.text} not null,
    size_bytes ${t.integer} not null check (size_bytes >= 0),
    type ${t.text} not null,
    sha256 ${t.key},
    state ${t.key} not null check (state in ('pending', 'stored', 'deleting')),
    settled ${t.integer} not null default 0 check (settled in (0, 1)),
    created_at ${t.time} not null,
    upload_until ${t.time} not null,
    stored_at ${t.time}
  ) ${t.table}`,
  "create index files_of_tenant on files (tenant_id, id)",
  "create index files_unfinished on files (upload_until) where state <> 'stored' or settled = 0",
  `create table tenant_storage (
    tenant_id ${t.key} primary key references tenants (id),
    bytes ${t.integer} not null check (bytes >= 0),
    version ${t.integer} not null
  ) ${t.clusteredTable}`,
  `alter table links add column file_id ${t.key}`,
  "create index links_of_file on links (file_id) where file_id is not null",
];
