import type { Types } from "../migrate.ts";

/** What people write beside their figures, and sets of UTM parameters that they use again. */
export const annotations = (t: Types): string[] => [
  // Without a link: about the whole workspace.
  `create table annotations (
    id ${t.key} primary key,
    tenant_id ${t.key} not null references tenants (id) on delete cascade,
    link_id ${t.key},
    at ${t.time} not null,
    text ${t.text} not null,
    created_at ${t.time} not null,
    created_by ${t.key}
  ) ${t.table}`,
  "create index annotations_by_time on annotations (tenant_id, at, id)",
  "create index annotations_by_link on annotations (link_id) where link_id is not null",

  // `utm`: JSON.
  `create table utm_templates (
    id ${t.key} primary key,
    tenant_id ${t.key} not null references tenants (id) on delete cascade,
    name ${t.key} not null,
    utm ${t.text} not null,
    created_at ${t.time} not null,
    updated_at ${t.time} not null,
    unique (tenant_id, name)
  ) ${t.table}`,
];
