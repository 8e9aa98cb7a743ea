import type { Types } from "../migrate.ts";

/** How the pages for visitors look, and public pages with statistics. */
export const branding = (t: Types): string[] => [
  // `logo`: Base64. It is at most 64 KB, and addressed by its hash.
  `create table branding (
    tenant_id ${t.key} primary key references tenants (id) on delete cascade,
    name ${t.text},
    colour ${t.text},
    logo ${t.text},
    logo_type ${t.key},
    logo_hash ${t.key},
    updated_at ${t.time} not null
  ) ${t.table}`,
  "create index branding_by_logo on branding (logo_hash) where logo_hash is not null",

  // Of a link, or of a tag. `token` opens what its owner published, and is shown again, so it is not hashed. `filters`: JSON.
  `create table stats_shares (
    id ${t.key} primary key,
    tenant_id ${t.key} not null references tenants (id) on delete cascade,
    token ${t.key} not null unique,
    link_id ${t.key},
    tag ${t.text},
    title ${t.text},
    days ${t.integer} not null,
    filters ${t.text} not null,
    breakdowns ${t.text} not null,
    password_hash ${t.text},
    expires_at ${t.time},
    created_at ${t.time} not null,
    created_by ${t.key}
  ) ${t.table}`,
  "create index stats_shares_by_tenant on stats_shares (tenant_id, id)",
  "create index stats_shares_by_link on stats_shares (link_id) where link_id is not null",
];
