import type { Types } from "../migrate.ts";

/**
 * The outbox: every email is stored as a row first, and sent from there. Text and HTML are deleted when its outcome is
 * known; the rest stays for statistics.
 */
export const email = (t: Types): string[] => [
  `create table emails (
    id ${t.key} primary key,
    tenant_id ${t.key} not null references tenants (id),
    kind ${t.key} not null,
    dedupe_key ${t.key},
    recipient ${t.text} not null,
    reply_to ${t.text},
    subject ${t.text} not null,
    text ${t.text},
    html ${t.text},
    unsubscribe ${t.integer} not null default 0 check (unsubscribe in (0, 1)),
    state ${t.key} not null check (state in ('queued', 'sending', 'sent', 'failed')),
    provider ${t.key},
    attempts ${t.integer} not null default 0,
    unsure ${t.integer} not null default 0,
    due_at ${t.time} not null,
    claimed_by ${t.key},
    claimed_until ${t.time},
    handed_at ${t.time},
    message_id ${t.key},
    provider_id ${t.key},
    delivery ${t.key} check (delivery in ('delivered', 'bounced', 'complaint')),
    delivery_at ${t.time},
    reason ${t.key},
    detail ${t.text},
    created_at ${t.time} not null,
    finished_at ${t.time}
  ) ${t.table}`,
  "create unique index emails_once on emails (tenant_id, dedupe_key) where dedupe_key is not null",
  "create index emails_due on emails (due_at) where state in ('queued', 'sending')",
  "create index emails_of_tenant on emails (tenant_id, id)",
  "create index emails_handed on emails (provider, handed_at) where handed_at is not null",
  "create unique index emails_by_provider_id on emails (provider_id) where provider_id is not null",
  `create table suppressions (
    tenant_id ${t.key} not null,
    address ${t.key} not null,
    reason ${t.key} not null check (reason in ('bounced', 'complaint', 'unsubscribed', 'manual')),
    created_at ${t.time} not null,
    primary key (tenant_id, address)
  ) ${t.clusteredTable}`,
  `create table email_settings (
    tenant_id ${t.key} primary key references tenants (id),
    contact ${t.text},
    sender ${t.text},
    sendgrid_key ${t.text},
    sendgrid_hint ${t.text},
    sendgrid_checked_at ${t.time},
    webhook_key ${t.text},
    updated_at ${t.time} not null
  ) ${t.clusteredTable}`,
];
