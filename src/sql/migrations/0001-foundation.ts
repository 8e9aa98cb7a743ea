import type { Types } from "../migrate.ts";

/**
 * `tenants`, `members` and `invitations` have the columns that better-auth's organization plugin expects of its
 * organization, member and invitation models, under names that its schema mapping supports, with its date format. Their
 * users come with sign-in, and with them the references from `user_id` and `inviter_id`.
 */
export const foundation = (t: Types): string[] => [
  `create table tenants (
    id ${t.key} primary key,
    name ${t.text} not null,
    slug ${t.key} not null unique,
    logo ${t.text},
    metadata ${t.text},
    plan ${t.key} not null default 'default',
    limits ${t.text} not null default '{}',
    created_at ${t.date} not null
  ) ${t.table}`,

  `create table members (
    id ${t.key} primary key,
    tenant_id ${t.key} not null references tenants (id) on delete cascade,
    user_id ${t.key} not null,
    role ${t.key} not null,
    created_at ${t.date} not null,
    unique (tenant_id, user_id)
  ) ${t.table}`,
  "create index members_by_user on members (user_id)",

  `create table invitations (
    id ${t.key} primary key,
    tenant_id ${t.key} not null references tenants (id) on delete cascade,
    email ${t.key} not null,
    role ${t.key},
    status ${t.key} not null default 'pending',
    inviter_id ${t.key} not null,
    expires_at ${t.date} not null,
    created_at ${t.date} not null
  ) ${t.table}`,
  "create index invitations_by_tenant on invitations (tenant_id)",
  "create index invitations_by_email on invitations (email)",

  `create table plans (
    name ${t.key} primary key,
    limits ${t.text} not null,
    created_at ${t.time} not null
  ) ${t.table}`,

  `create table api_keys (
    id ${t.key} primary key,
    tenant_id ${t.key} not null references tenants (id) on delete cascade,
    name ${t.text} not null,
    hint ${t.text} not null,
    hash ${t.key} not null unique,
    scopes ${t.text} not null,
    created_at ${t.time} not null,
    expires_at ${t.time},
    revoked_at ${t.time},
    last_used_at ${t.time}
  ) ${t.table}`,
  "create index api_keys_by_tenant on api_keys (tenant_id, id)",

  `create table counters (
    name ${t.key} primary key,
    next ${t.integer} not null
  ) ${t.table}`,
  "insert into counters (name, next) values ('codes', 0)",

  `create table code_epochs (
    epoch ${t.integer} primary key,
    fingerprint ${t.text} not null,
    created_at ${t.time} not null
  ) ${t.table}`,

  `create table link_versions (
    domain ${t.key} not null,
    code ${t.key} not null,
    version ${t.integer} not null,
    state ${t.key} not null check (state in ('live', 'deleted', 'purged')),
    tenant_id ${t.key} not null,
    primary key (domain, code)
  ) ${t.clusteredTable}`,

  `create table links (
    id ${t.key} primary key,
    tenant_id ${t.key} not null references tenants (id),
    domain ${t.key} not null,
    code ${t.key} not null,
    url ${t.text} not null,
    permanent ${t.integer} not null,
    status ${t.key} not null check (status in ('active', 'disabled')),
    expires_at ${t.time},
    title ${t.text},
    notes ${t.text},
    tags ${t.text} not null,
    fallback_url ${t.text},
    password_hash ${t.text},
    hits_per_month ${t.integer},
    created_at ${t.time} not null,
    updated_at ${t.time} not null,
    unique (domain, code)
  ) ${t.table}`,
  "create index links_by_tenant on links (tenant_id, id)",
  "create index links_by_expiry on links (expires_at) where expires_at is not null",

  `create table changes (
    id ${t.serial},
    ${t.transactionColumn}
    domain ${t.key} not null,
    code ${t.key} not null,
    version ${t.integer} not null,
    at ${t.time} not null
  ) ${t.table}`,
  ...t.changesIndex,
  "create index changes_by_time on changes (at)",
];
