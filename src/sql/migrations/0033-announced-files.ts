import type { Types } from "../migrate.ts";

/**
 * What a tenant has announced and not uploaded is added up for every new upload. Without this index, that read all of the
 * tenant's files, up to 100,000.
 */
export const announcedFiles = (_: Types): string[] => [
  "create index files_announced on files (tenant_id, upload_until, created_at, size_bytes) where state = 'pending'",
];
