import type { Types } from "../migrate.ts";

/**
 * People, and everything that only exists because of them: how they sign in, where they are members, what they changed, and
 * the trash. There were no people before, so no row of `members` can have meant anybody. Pending invitations had no token
 * that anybody knows. Both tables are made anew.
 */
export const people = (t: Types): string[] => [
  // `mailbox` is the address in the form in which all spellings of it are the same: one account per mailbox.
  `create table people (
    id ${t.key} primary key,
    email ${t.text} not null,
    mailbox ${t.key} not null unique,
    name ${t.text} not null,
    password_hash ${t.text},
    verified_at ${t.time},
    operator ${t.integer} not null default 0 check (operator in (0, 1)),
    disabled_at ${t.time},
    totp ${t.text},
    totp_step ${t.integer},
    created_at ${t.time} not null
  ) ${t.table}`,

  // `hash`: SHA-256 of the secret in the cookie. `workspace_id`: the one that was chosen last.
  `create table sessions (
    id ${t.key} primary key,
    person_id ${t.key} not null references people (id) on delete cascade,
    hash ${t.key} not null unique,
    method ${t.key} not null,
    device ${t.text} not null,
    workspace_id ${t.key} references tenants (id) on delete set null,
    created_at ${t.time} not null,
    proved_at ${t.time} not null,
    seen_at ${t.time} not null,
    idle_ms ${t.integer} not null,
    expires_at ${t.time} not null
  ) ${t.table}`,
  "create index sessions_by_person on sessions (person_id)",

  // Links in mails and on screens that work once: hashed, deleted when used.
  `create table person_tokens (
    hash ${t.key} primary key,
    kind ${t.key} not null,
    person_id ${t.key} references people (id) on delete cascade,
    data ${t.text},
    created_at ${t.time} not null,
    expires_at ${t.time} not null
  ) ${t.table}`,
  "create index person_tokens_by_person on person_tokens (person_id, kind)",
  "create index person_tokens_by_end on person_tokens (expires_at)",

  // Browsers that need no second factor for some time.
  `create table known_devices (
    id ${t.key} primary key,
    person_id ${t.key} not null references people (id) on delete cascade,
    hash ${t.key} not null unique,
    device ${t.text} not null,
    created_at ${t.time} not null,
    expires_at ${t.time} not null
  ) ${t.table}`,
  "create index known_devices_by_person on known_devices (person_id)",

  `create table recovery_codes (
    person_id ${t.key} not null references people (id) on delete cascade,
    hash ${t.key} not null,
    used_at ${t.time},
    primary key (person_id, hash)
  ) ${t.clusteredTable}`,

  `create table passkeys (
    id ${t.key} primary key,
    person_id ${t.key} not null references people (id) on delete cascade,
    name ${t.text} not null,
    public_key ${t.text} not null,
    counter ${t.integer} not null,
    transports ${t.text} not null,
    created_at ${t.time} not null,
    last_used_at ${t.time}
  ) ${t.table}`,
  "create index passkeys_by_person on passkeys (person_id)",

  `create table identities (
    issuer ${t.key} not null,
    subject ${t.key} not null,
    person_id ${t.key} not null references people (id) on delete cascade,
    created_at ${t.time} not null,
    primary key (issuer, subject)
  ) ${t.clusteredTable}`,
  "create index identities_by_person on identities (person_id)",

  // Mails about accounts belong to no tenant.
  ...t.platformEmails,

  "drop table members",
  "drop table invitations",
  `create table members (
    tenant_id ${t.key} not null references tenants (id) on delete cascade,
    person_id ${t.key} not null references people (id) on delete cascade,
    role ${t.key} not null check (role in ('owner', 'admin', 'member', 'viewer')),
    created_at ${t.time} not null,
    primary key (tenant_id, person_id)
  ) ${t.clusteredTable}`,
  "create index members_by_person on members (person_id)",

  // `mailbox` is null for a link that anybody may use once.
  `create table invitations (
    id ${t.key} primary key,
    tenant_id ${t.key} not null references tenants (id) on delete cascade,
    hash ${t.key} not null unique,
    email ${t.text},
    mailbox ${t.key},
    role ${t.key} not null check (role in ('owner', 'admin', 'member', 'viewer')),
    inviter_id ${t.key} references people (id) on delete set null,
    created_at ${t.time} not null,
    expires_at ${t.time} not null
  ) ${t.table}`,
  "create index invitations_by_tenant on invitations (tenant_id)",

  // A workspace that was deleted can be restored until then.
  `alter table tenants add column delete_at ${t.time}`,
  `alter table api_keys add column created_by ${t.key}`,

  // Who changed what. The empty tenant is for what belongs to no workspace. A person's name is not here, so that it goes with
  // the account.
  `create table history (
    id ${t.key} primary key,
    tenant_id ${t.key} not null,
    at ${t.time} not null,
    actor_kind ${t.key} not null,
    actor_id ${t.key},
    actor_name ${t.text},
    action ${t.key} not null,
    subject_kind ${t.key} not null,
    subject_id ${t.key} not null,
    subject_name ${t.text},
    version ${t.integer},
    before_change ${t.text},
    after_change ${t.text}
  ) ${t.table}`,
  "create index history_by_tenant on history (tenant_id, id)",
  // The versions of a link are its order: two changes in one millisecond have IDs in any order.
  "create index history_by_subject on history (tenant_id, subject_id, version)",
  "create index history_by_actor on history (actor_id, tenant_id, id) where actor_id is not null",
  `alter table links add column made_by_kind ${t.key}`,
  `alter table links add column made_by ${t.key}`,

  // Deleted links, which can be restored with everything they had. `link` is the row as JSON.
  `create table trashed_links (
    id ${t.key} primary key,
    tenant_id ${t.key} not null references tenants (id) on delete cascade,
    domain ${t.key} not null,
    code ${t.key} not null,
    link ${t.text} not null,
    deleted_at ${t.time} not null,
    unique (domain, code)
  ) ${t.table}`,
  "create index trashed_links_by_tenant on trashed_links (tenant_id, deleted_at, id)",
  "create index trashed_links_by_time on trashed_links (deleted_at)",
];
