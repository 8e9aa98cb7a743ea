import type { Types } from "../migrate.ts";

/**
 * How far the import of a file has come, moved on in the transaction that writes its links: whatever ends an import, the
 * next one goes on behind the last link that is there, and makes none twice.
 */
export const imports = (t: Types): string[] => [
  `create table imports (
    id ${t.key} primary key,
    tenant_id ${t.key} not null references tenants (id) on delete cascade,
    records ${t.integer} not null,
    line ${t.integer} not null,
    made ${t.integer} not null,
    present ${t.integer} not null,
    refused ${t.integer} not null,
    started_at ${t.time} not null,
    finished_at ${t.time}
  ) ${t.clusteredTable}`,
];
