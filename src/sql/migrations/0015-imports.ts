import type { Types } from "../migrate.ts";

/**
 * The progress of an import, advanced in the transaction that writes its links: however an import ends, the next run
 * continues after the last stored link, and creates none twice.
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
