import type { Types } from "../migrate.ts";

/**
 * The number of a tenant's files, stored with their bytes: counting up to 100,000 rows would block the serving thread.
 */
export const fileCount = (t: Types): string[] => [
  `alter table tenant_storage add column files ${t.integer} not null default 0`,
  `update tenant_storage set files = (
    select count(*) from files where files.tenant_id = tenant_storage.tenant_id and stored_at is not null
  )`,
];
