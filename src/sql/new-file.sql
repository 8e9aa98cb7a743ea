CREATE TABLE "schema_migrations" ("name" varchar(255) not null primary key, "timestamp" varchar(255) not null);
CREATE TABLE "schema_migrations_lock" ("id" varchar(255) not null primary key, "is_locked" integer default 0 not null);
CREATE TABLE tenants (
    id text primary key,
    name text not null,
    slug text not null unique,
    logo text,
    metadata text,
    plan text not null default 'default',
    limits text not null default '{}',
    created_at text not null
  , number integer, delete_at integer) strict;
CREATE TABLE plans (
    name text primary key,
    limits text not null,
    created_at integer not null
  ) strict;
CREATE TABLE api_keys (
    id text primary key,
    tenant_id text not null references tenants (id) on delete cascade,
    name text not null,
    hint text not null,
    hash text not null unique,
    scopes text not null,
    created_at integer not null,
    expires_at integer,
    revoked_at integer,
    last_used_at integer
  , api_per_minute integer, created_by text) strict;
CREATE TABLE counters (
    name text primary key,
    next integer not null
  ) strict;
CREATE TABLE code_epochs (
    epoch integer primary key,
    fingerprint text not null,
    created_at integer not null
  ) strict;
CREATE TABLE link_versions (
    domain text not null,
    code text not null,
    version integer not null,
    state text not null check (state in ('live', 'deleted', 'purged')),
    tenant_id text not null,
    primary key (domain, code)
  ) strict, without rowid;
CREATE TABLE links (
    id text primary key,
    tenant_id text not null references tenants (id),
    domain text not null,
    code text not null,
    url text not null,
    permanent integer not null,
    status text not null check (status in ('active', 'disabled')),
    expires_at integer,
    title text,
    notes text,
    tags text not null,
    fallback_url text,
    password_hash text,
    hits_per_month integer,
    created_at integer not null,
    updated_at integer not null, file_id text, rules text, split text, utm text, forward_query integer not null default 0 check (forward_query in (0, 1)), number integer, facts integer not null default 1 check (facts in (0, 1)), made_by_kind text, made_by text,
    unique (domain, code)
  ) strict;
CREATE TABLE changes (
    id integer primary key autoincrement,
    domain text not null,
    code text not null,
    version integer not null,
    at integer not null
  , kind text not null default 'link') strict;
CREATE TABLE quotas (
    domain text not null,
    code text not null,
    month text not null,
    draws text not null check (draws in ('hits', 'exempt')),
    counted integer not null check (counted >= 0),
    reserved integer not null check (reserved >= 0), lent_until integer not null default 0,
    primary key (domain, code, month, draws)
  ) strict, without rowid;
CREATE TABLE leases (
    id text primary key,
    month text not null,
    size integer not null
  ) strict, without rowid;
CREATE TABLE hits (
    domain text not null,
    code text not null,
    month text not null,
    reason text not null,
    hits integer not null,
    primary key (domain, code, month, reason)
  ) strict, without rowid;
CREATE TABLE recorders (
    id text primary key,
    sequence integer not null,
    seen_at integer not null
  ) strict;
CREATE TABLE tenant_usage (
    tenant_id text not null references tenants (id) on delete cascade,
    name text not null,
    month text not null,
    used integer not null check (used >= 0),
    primary key (tenant_id, name, month)
  ) strict, without rowid;
CREATE TABLE instances (
    id text primary key,
    host text not null,
    pid integer not null,
    shares integer not null check (shares in (0, 1)),
    started_at integer not null,
    seen_at integer not null
  ) strict;
CREATE TABLE hot_links (
    instance text not null,
    domain text not null,
    code text not null,
    per_minute integer not null,
    usual_per_minute integer not null,
    unusual integer not null check (unusual in (0, 1)),
    seen_at integer not null,
    primary key (instance, domain, code)
  ) strict, without rowid;
CREATE TABLE jobs (
    name text primary key,
    due_at integer not null,
    holder text
  , started_at integer, ended_at integer, succeeded_at integer, failures integer not null default 0, error text) strict, without rowid;
CREATE TABLE suppressions (
    tenant_id text not null,
    address text not null,
    reason text not null check (reason in ('bounced', 'complaint', 'unsubscribed', 'manual')),
    created_at integer not null,
    primary key (tenant_id, address)
  ) strict, without rowid;
CREATE TABLE email_settings (
    tenant_id text primary key references tenants (id),
    contact text,
    sender text,
    sendgrid_key text,
    sendgrid_hint text,
    sendgrid_checked_at integer,
    webhook_key text,
    updated_at integer not null
  , webhook_secret text, notices text) strict, without rowid;
CREATE TABLE files (
    id text primary key,
    tenant_id text not null references tenants (id),
    name text not null,
    size_bytes integer not null check (size_bytes >= 0),
    type text not null,
    sha256 text,
    state text not null check (state in ('pending', 'stored', 'deleting')),
    settled integer not null default 0 check (settled in (0, 1)),
    created_at integer not null,
    upload_until integer not null,
    stored_at integer
  ) strict;
CREATE TABLE tenant_storage (
    tenant_id text primary key references tenants (id),
    bytes integer not null check (bytes >= 0),
    version integer not null
  , files integer not null default 0) strict, without rowid;
CREATE TABLE domains (
    tenant_id text not null references tenants (id),
    host text not null,
    state text not null check (state in ('pending', 'verified')),
    token text not null,
    is_default integer not null default 0 check (is_default in (0, 1)),
    root_url text,
    missing_url text,
    created_at integer not null,
    verified_at integer, root_blocked integer not null default 0 check (root_blocked in (0, 1)), missing_blocked integer not null default 0 check (missing_blocked in (0, 1)),
    primary key (tenant_id, host)
  ) strict, without rowid;
CREATE TABLE idempotency (
    tenant_id text not null references tenants (id),
    key_hash text not null,
    fingerprint text not null,
    seed text not null,
    state text not null check (state in ('running', 'done')),
    claim text not null,
    claimed_until integer not null,
    answer text,
    created_at integer not null,
    expires_at integer not null,
    primary key (tenant_id, key_hash)
  ) strict;
CREATE TABLE targets (
    link_id text primary key,
    url_hash text,
    state text check (state in ('ok', 'failing', 'dead', 'unchecked')),
    http_status integer,
    reason text,
    failures integer not null,
    wants_title integer not null,
    checked_at integer,
    next_check_at integer not null
  , response_ms integer, failing_since integer) strict, without rowid;
CREATE TABLE walks (
    name text primary key,
    position text not null
  ) strict, without rowid;
CREATE TABLE abuse_reports (
    id text primary key,
    domain text not null,
    code text not null,
    reason text not null,
    details text,
    email text,
    url text,
    state text not null check (state in ('open', 'dismissed', 'suspended')),
    created_at integer not null,
    closed_at integer,
    closed_by text
  ) strict;
CREATE TABLE suspended_links (
    domain text not null,
    code text not null,
    cause text not null check (cause in ('operator', 'blocklist')),
    reason text not null,
    suspended_by text not null,
    suspended_at integer not null,
    primary key (domain, code)
  ) strict, without rowid;
CREATE TABLE suspended_tenants (
    tenant_id text primary key references tenants (id) on delete cascade,
    reason text not null,
    suspended_by text not null,
    suspended_at integer not null
  ) strict, without rowid;
CREATE TABLE imports (
    id text primary key,
    tenant_id text not null references tenants (id) on delete cascade,
    records integer not null,
    line integer not null,
    made integer not null,
    present integer not null,
    refused integer not null,
    started_at integer not null,
    finished_at integer
  ) strict, without rowid;
CREATE TABLE versions (
    kind text not null,
    key text not null,
    version integer not null,
    primary key (kind, key)
  ) strict, without rowid;
CREATE TABLE click_tenants (
    tenant_id text primary key references tenants (id) on delete cascade,
    zone text not null,
    facts integer not null check (facts in (0, 1)),
    event_days integer,
    late integer not null,
    hours_until integer not null,
    days_until integer not null,
    months_until integer not null,
    events_from integer not null default 0
  , deleted_until integer not null default 0, weeks_until integer not null default 0, quarter_years_until integer not null default 0) strict, without rowid;
CREATE TABLE click_groups (
    tenant_id text not null references tenants (id) on delete cascade,
    kind text not null check (kind in ('domain', 'tag')),
    name text not null,
    number integer, since integer not null default 0,
    primary key (tenant_id, kind, name)
  ) strict;
CREATE TABLE click_values (
    id integer primary key autoincrement,
    tenant integer not null,
    dimension text not null,
    value text not null,
    seen_day integer not null,
    unique (tenant, dimension, value)
  ) strict;
CREATE TABLE clicks (
        day integer not null,
        tenant integer not null,
        level integer not null,
        link integer not null,
        at integer not null,
        seq integer not null,
        domain integer not null,
        tags integer not null,
        reason integer not null,
        first integer not null,
        country integer not null,
        region integer not null,
        city integer not null,
        device integer not null,
        browser integer not null,
        os integer not null,
        referrer integer not null,
        language integer not null,
        utm_source integer not null,
        utm_medium integer not null,
        utm_campaign integer not null,
        source integer not null,
        variant integer not null,
        bot integer not null,
        primary key (day, tenant, level, link, at, seq)
      ) strict, without rowid;
CREATE TABLE click_days (
    tenant integer not null,
    start integer not null,
    until integer not null,
    salt text, visitors_full_at integer,
    primary key (tenant, start)
  ) strict, without rowid;
CREATE TABLE click_visitors (
    until integer not null,
    subject integer not null,
    hash integer not null,
    primary key (until, subject, hash)
  ) strict, without rowid;
CREATE TABLE click_links (
    link integer primary key,
    tenant_id text not null references tenants (id) on delete cascade,
    domain text not null,
    code text not null,
    clicks integer not null,
    first_at integer,
    last_at integer
  ) strict;
CREATE TABLE click_drops (
    day integer not null,
    writer text not null,
    dropped integer not null,
    excluded integer not null,
    primary key (day, writer)
  ) strict, without rowid;
CREATE TABLE click_history (
    tenant_id text not null references tenants (id) on delete cascade,
    link integer not null,
    start integer not null,
    until integer not null,
    source text not null,
    clicks integer not null,
    visitors integer, is_total integer not null default 1 check (is_total in (0, 1)),
    primary key (link, start, source)
  ) strict, without rowid;
CREATE TABLE click_notices (
    tenant_id text not null references tenants (id) on delete cascade,
    kind text not null,
    link integer not null,
    since integer not null,
    seen_at integer not null,
    facts text not null,
    mail text,
    told integer not null check (told in (0, 1)),
    primary key (tenant_id, kind, link)
  ) strict, without rowid;
CREATE TABLE people (
    id text primary key,
    email text not null,
    mailbox text not null unique,
    name text not null,
    password_hash text,
    verified_at integer,
    operator integer not null default 0 check (operator in (0, 1)),
    disabled_at integer,
    totp text,
    totp_step integer,
    created_at integer not null
  ) strict;
CREATE TABLE sessions (
    id text primary key,
    person_id text not null references people (id) on delete cascade,
    hash text not null unique,
    method text not null,
    device text not null,
    workspace_id text references tenants (id) on delete set null,
    created_at integer not null,
    proved_at integer not null,
    seen_at integer not null,
    idle_ms integer not null,
    expires_at integer not null
  ) strict;
CREATE TABLE person_tokens (
    hash text primary key,
    kind text not null,
    person_id text references people (id) on delete cascade,
    data text,
    created_at integer not null,
    expires_at integer not null
  ) strict;
CREATE TABLE known_devices (
    id text primary key,
    person_id text not null references people (id) on delete cascade,
    hash text not null unique,
    device text not null,
    created_at integer not null,
    expires_at integer not null
  ) strict;
CREATE TABLE recovery_codes (
    person_id text not null references people (id) on delete cascade,
    hash text not null,
    used_at integer,
    primary key (person_id, hash)
  ) strict, without rowid;
CREATE TABLE passkeys (
    id text primary key,
    person_id text not null references people (id) on delete cascade,
    name text not null,
    public_key text not null,
    counter integer not null,
    transports text not null,
    created_at integer not null,
    last_used_at integer
  ) strict;
CREATE TABLE identities (
    issuer text not null,
    subject text not null,
    person_id text not null references people (id) on delete cascade,
    created_at integer not null,
    primary key (issuer, subject)
  ) strict, without rowid;
CREATE TABLE "emails" (
        id text primary key,
        tenant_id text not null,
        kind text not null,
        dedupe_key text,
        recipient text not null,
        reply_to text,
        subject text not null,
        text text,
        html text,
        unsubscribe integer not null default 0 check (unsubscribe in (0, 1)),
        state text not null check (state in ('queued', 'sending', 'sent', 'failed')),
        provider text,
        attempts integer not null default 0,
        unsure integer not null default 0,
        due_at integer not null,
        claimed_by text,
        claimed_until integer,
        handed_at integer,
        message_id text,
        provider_id text,
        delivery text check (delivery in ('delivered', 'bounced', 'complaint')),
        delivery_at integer,
        reason text,
        detail text,
        created_at integer not null,
        finished_at integer
      ) strict;
CREATE TABLE members (
    tenant_id text not null references tenants (id) on delete cascade,
    person_id text not null references people (id) on delete cascade,
    role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
    created_at integer not null,
    primary key (tenant_id, person_id)
  ) strict, without rowid;
CREATE TABLE invitations (
    id text primary key,
    tenant_id text not null references tenants (id) on delete cascade,
    hash text not null unique,
    email text,
    mailbox text,
    role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
    inviter_id text references people (id) on delete set null,
    created_at integer not null,
    expires_at integer not null
  ) strict;
CREATE TABLE history (
    id text primary key,
    tenant_id text not null,
    at integer not null,
    actor_kind text not null,
    actor_id text,
    actor_name text,
    action text not null,
    subject_kind text not null,
    subject_id text not null,
    subject_name text,
    version integer,
    before_change text,
    after_change text
  , mailbox text) strict;
CREATE TABLE trashed_links (
    id text primary key,
    tenant_id text not null references tenants (id) on delete cascade,
    domain text not null,
    code text not null,
    link text not null,
    deleted_at integer not null,
    unique (domain, code)
  ) strict;
CREATE TABLE annotations (
    id text primary key,
    tenant_id text not null references tenants (id) on delete cascade,
    link_id text,
    at integer not null,
    text text not null,
    created_at integer not null,
    created_by text
  ) strict;
CREATE TABLE utm_templates (
    id text primary key,
    tenant_id text not null references tenants (id) on delete cascade,
    name text not null,
    utm text not null,
    created_at integer not null,
    updated_at integer not null,
    unique (tenant_id, name)
  ) strict;
CREATE TABLE branding (
    tenant_id text primary key references tenants (id) on delete cascade,
    name text,
    colour text,
    logo text,
    logo_type text,
    logo_hash text,
    updated_at integer not null
  ) strict;
CREATE TABLE stats_shares (
    id text primary key,
    tenant_id text not null references tenants (id) on delete cascade,
    token text not null unique,
    link_id text,
    tag text,
    title text,
    days integer not null,
    filters text not null,
    breakdowns text not null,
    password_hash text,
    expires_at integer,
    created_at integer not null,
    created_by text
  ) strict;
CREATE TABLE link_imports (
    id text primary key,
    tenant_id text not null references tenants (id) on delete cascade,
    file_id text not null,
    name text not null,
    size_bytes integer not null,
    only_format text,
    format text,
    state text not null check (state in ('checking', 'checked', 'running', 'done', 'cancelled', 'failed')),
    problem text,
    counts text,
    actor text not null,
    created_at integer not null,
    updated_at integer not null
  ) strict;
CREATE TABLE link_import_rows (
    import_id text not null references link_imports (id) on delete cascade,
    tenant_id text not null,
    phase text not null check (phase in ('check', 'import')),
    line integer not null,
    problem text not null,
    primary key (tenant_id, import_id, phase, line)
  ) strict, without rowid;
CREATE TABLE click_overflow (
        day integer not null,
        tenant integer not null,
        link integer not null,
        quarter integer not null,
        domain integer not null,
        tags integer not null,
        writer text not null,
        tally text not null,
        tenant_tally text not null,
        unique (day, tenant, link, quarter, domain, tags, writer)
      ) strict;
CREATE TABLE click_rollups (
        subject integer not null,
        grain integer not null,
        start integer not null,
        until integer not null,
        reasons text not null,
        visitors integer not null,
        itemised integer not null,
        series text not null,
        facts text not null,
        packed blob,
        names blob, people_bytes integer,
        unique (subject, grain, start)
      ) strict;
CREATE INDEX api_keys_by_tenant on api_keys (tenant_id, id);
CREATE INDEX links_by_tenant on links (tenant_id, id);
CREATE INDEX links_by_expiry on links (expires_at) where expires_at is not null;
CREATE INDEX leases_by_month on leases (month);
CREATE INDEX files_of_tenant on files (tenant_id, id);
CREATE INDEX files_unfinished on files (upload_until) where state <> 'stored' or settled = 0;
CREATE INDEX links_of_file on links (file_id) where file_id is not null;
CREATE UNIQUE INDEX domains_verified on domains (host) where state = 'verified';
CREATE UNIQUE INDEX domains_default on domains (tenant_id) where is_default = 1;
CREATE INDEX idempotency_expired on idempotency (expires_at);
CREATE INDEX targets_due on targets (next_check_at);
CREATE INDEX abuse_reports_by_state on abuse_reports (state, id);
CREATE INDEX abuse_reports_by_link on abuse_reports (domain, code);
CREATE UNIQUE INDEX tenants_by_number on tenants (number);
CREATE INDEX click_values_by_day on click_values (seen_day);
CREATE INDEX click_salts on click_days (until) where salt is not null;
CREATE INDEX click_links_by_tenant on click_links (tenant_id, link);
CREATE INDEX click_history_by_tenant on click_history (tenant_id, start);
CREATE INDEX targets_dead on targets (link_id) where state = 'dead';
CREATE INDEX sessions_by_person on sessions (person_id);
CREATE INDEX person_tokens_by_person on person_tokens (person_id, kind);
CREATE INDEX person_tokens_by_end on person_tokens (expires_at);
CREATE INDEX known_devices_by_person on known_devices (person_id);
CREATE INDEX passkeys_by_person on passkeys (person_id);
CREATE INDEX identities_by_person on identities (person_id);
CREATE UNIQUE INDEX emails_once on emails (tenant_id, dedupe_key) where dedupe_key is not null;
CREATE INDEX emails_due on emails (due_at) where state in ('queued', 'sending');
CREATE INDEX emails_of_tenant on emails (tenant_id, id);
CREATE INDEX emails_handed on emails (provider, handed_at) where handed_at is not null;
CREATE UNIQUE INDEX emails_by_provider_id on emails (provider_id) where provider_id is not null;
CREATE INDEX members_by_person on members (person_id);
CREATE INDEX invitations_by_tenant on invitations (tenant_id);
CREATE INDEX history_by_tenant on history (tenant_id, id);
CREATE INDEX history_by_subject on history (tenant_id, subject_id, version);
CREATE INDEX history_by_actor on history (actor_id, tenant_id, id) where actor_id is not null;
CREATE INDEX trashed_links_by_tenant on trashed_links (tenant_id, deleted_at, id);
CREATE INDEX trashed_links_by_time on trashed_links (deleted_at);
CREATE INDEX history_by_mailbox on history (mailbox) where mailbox is not null;
CREATE INDEX annotations_by_time on annotations (tenant_id, at, id);
CREATE INDEX annotations_by_link on annotations (link_id) where link_id is not null;
CREATE INDEX branding_by_logo on branding (logo_hash) where logo_hash is not null;
CREATE INDEX stats_shares_by_tenant on stats_shares (tenant_id, id);
CREATE INDEX stats_shares_by_link on stats_shares (link_id) where link_id is not null;
CREATE INDEX link_imports_by_tenant on link_imports (tenant_id, id);
CREATE INDEX link_imports_to_do on link_imports (updated_at) where state in ('checking', 'running');
CREATE INDEX click_rollups_periods on click_rollups (subject, grain, start, until);
CREATE INDEX files_announced on files (tenant_id, upload_until, created_at, size_bytes) where state = 'pending';
CREATE TRIGGER links_number after insert on links when new.number is null begin
    update counters set next = next + 1 where name = 'links';
    update links set number = (select next from counters where name = 'links') where id = new.id;
  end;
CREATE TRIGGER tenants_number after insert on tenants when new.number is null begin
    update counters set next = next - 1 where name = 'groups';
    update tenants set number = (select next from counters where name = 'groups') where id = new.id;
  end;
CREATE TRIGGER click_groups_number after insert on click_groups when new.number is null begin
    update counters set next = next - 1 where name = 'groups';
    update click_groups set number = (select next from counters where name = 'groups') where tenant_id = new.tenant_id and kind = new.kind and name = new.name;
  end;
insert into schema_migrations (name, timestamp) values ('0001-foundation', '');
insert into schema_migrations (name, timestamp) values ('0002-hits', '');
insert into schema_migrations (name, timestamp) values ('0003-usage', '');
insert into schema_migrations (name, timestamp) values ('0004-instances', '');
insert into schema_migrations (name, timestamp) values ('0005-lent-until', '');
insert into schema_migrations (name, timestamp) values ('0006-hot-links', '');
insert into schema_migrations (name, timestamp) values ('0007-jobs', '');
insert into schema_migrations (name, timestamp) values ('0008-email', '');
insert into schema_migrations (name, timestamp) values ('0009-files', '');
insert into schema_migrations (name, timestamp) values ('0010-rules', '');
insert into schema_migrations (name, timestamp) values ('0011-domains', '');
insert into schema_migrations (name, timestamp) values ('0012-idempotency', '');
insert into schema_migrations (name, timestamp) values ('0013-targets', '');
insert into schema_migrations (name, timestamp) values ('0014-abuse', '');
insert into schema_migrations (name, timestamp) values ('0015-imports', '');
insert into schema_migrations (name, timestamp) values ('0016-webhook-secret', '');
insert into schema_migrations (name, timestamp) values ('0017-blocked-targets', '');
insert into schema_migrations (name, timestamp) values ('0018-file-count', '');
insert into schema_migrations (name, timestamp) values ('0019-change-kinds', '');
insert into schema_migrations (name, timestamp) values ('0020-job-runs', '');
insert into schema_migrations (name, timestamp) values ('0021-clicks', '');
insert into schema_migrations (name, timestamp) values ('0022-click-notices', '');
insert into schema_migrations (name, timestamp) values ('0023-people', '');
insert into schema_migrations (name, timestamp) values ('0024-groups-since', '');
insert into schema_migrations (name, timestamp) values ('0025-packed-rollups', '');
insert into schema_migrations (name, timestamp) values ('0026-history-mailboxes', '');
insert into schema_migrations (name, timestamp) values ('0027-annotations', '');
insert into schema_migrations (name, timestamp) values ('0028-branding', '');
insert into schema_migrations (name, timestamp) values ('0029-link-imports', '');
insert into schema_migrations (name, timestamp) values ('0030-overflow-rows', '');
insert into schema_migrations (name, timestamp) values ('0031-target-times', '');
insert into schema_migrations (name, timestamp) values ('0032-rollup-rows', '');
insert into schema_migrations (name, timestamp) values ('0033-announced-files', '');
insert into schema_migrations (name, timestamp) values ('0034-deleted-events', '');
insert into schema_migrations (name, timestamp) values ('0035-click-weeks', '');
insert into schema_migrations (name, timestamp) values ('0036-changes-by-order', '');
insert into schema_migrations (name, timestamp) values ('0037-quarter-years', '');
insert into schema_migrations (name, timestamp) values ('0038-imported-totals', '');
insert into schema_migrations_lock (id, is_locked) values ('migration_lock', 0);
insert into counters (name, next) values ('codes', 0);
insert into counters (name, next) values ('links', 0);
insert into counters (name, next) values ('groups', 0);
insert into click_values (id, tenant, dimension, value, seen_day) values (1, 0, '', '', 0);
