import type { Types } from "../migrate.ts";

/** Imports that were started through the API. How far they are is in `imports`, as for those of the command line. */
export const linkImports = (t: Types): string[] => [
  // `counts`: what the check found, as JSON. `actor`: who started it, as JSON.
  `create table link_imports (
    id ${t.key} primary key,
    tenant_id ${t.key} not null references tenants (id) on delete cascade,
    file_id ${t.key} not null,
    name ${t.text} not null,
    size_bytes ${t.integer} not null,
    only_format ${t.key},
    format ${t.key},
    state ${t.key} not null check (state in ('checking', 'checked', 'running', 'done', 'cancelled', 'failed')),
    problem ${t.text},
    counts ${t.text},
    actor ${t.text} not null,
    created_at ${t.time} not null,
    updated_at ${t.time} not null
  ) ${t.table}`,
  "create index link_imports_by_tenant on link_imports (tenant_id, id)",
  "create index link_imports_to_do on link_imports (updated_at) where state in ('checking', 'running')",

  `create table link_import_rows (
    import_id ${t.key} not null references link_imports (id) on delete cascade,
    tenant_id ${t.key} not null,
    phase ${t.key} not null check (phase in ('check', 'import')),
    line ${t.integer} not null,
    problem ${t.text} not null,
    primary key (tenant_id, import_id, phase, line)
  ) ${t.clusteredTable}`,
];
