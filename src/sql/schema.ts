import type { ColumnType, Generated } from "kysely";
import type { EmailId, FileId, KeyId, LinkId, ReportId, TenantId } from "../base/ids.ts";
import type { Change, KeyVersion } from "../cache/feed.ts";

/**
 * The tables as the program sees them. The DDL is in `migrations/`. Times are milliseconds since 1970, flags are 0 and
 * 1, lists and objects are JSON text: what both dialects store and compare alike.
 */
export interface Schema {
  tenants: TenantTable;
  plans: PlanTable;
  api_keys: ApiKeyTable;
  counters: CounterTable;
  code_epochs: CodeEpochTable;
  link_versions: LinkVersionTable;
  versions: VersionTable;
  links: LinkTable;
  changes: ChangeTable;
  quotas: QuotaTable;
  leases: LeaseTable;
  hits: HitTable;
  recorders: RecorderTable;
  instances: InstanceTable;
  hot_links: HotLinkTable;
  tenant_usage: TenantUsageTable;
  jobs: JobTable;
  emails: EmailTable;
  suppressions: SuppressionTable;
  email_settings: EmailSettingsTable;
  files: FileTable;
  tenant_storage: TenantStorageTable;
  domains: DomainTable;
  targets: TargetTable;
  walks: WalkTable;
  abuse_reports: AbuseReportTable;
  suspended_links: SuspendedLinkTable;
  suspended_tenants: SuspendedTenantTable;
  idempotency: IdempotencyTable;
  imports: ImportTable;
}

type Flag = 0 | 1;

export interface TenantTable {
  id: TenantId;
  name: string;
  slug: string;
  logo: string | null;
  metadata: string | null;
  plan: Generated<string>;
  /** JSON: the limits that differ from the plan's. */
  limits: Generated<string>;
  /** Text on SQLite, a date on PostgreSQL: see the migration. */
  created_at: ColumnType<string | Date, string, never>;
}

export interface PlanTable {
  name: string;
  /** JSON: every limit of the plan. */
  limits: string;
  created_at: number;
}

export interface ApiKeyTable {
  id: KeyId;
  tenant_id: TenantId;
  name: string;
  /** The first characters, so that people can tell their keys apart. */
  hint: string;
  /** SHA-256 of the key, in hex. The key itself is nowhere. */
  hash: string;
  /** JSON array. */
  scopes: string;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
  /** A limit of its own, below the tenant's. */
  api_per_minute: number | null;
}

export interface CounterTable {
  name: string;
  next: number;
}

export interface CodeEpochTable {
  epoch: number;
  fingerprint: string;
  created_at: number;
}

/**
 * One row for every (domain, code) that ever was, which outlives its link: the version must keep growing when a code is
 * used again, or a cache could mistake the old link for the new one.
 */
export interface LinkVersionTable {
  domain: string;
  code: string;
  version: number;
  state: CodeState;
  /** Who had it last: a code that was deleted may be taken again by its former owner only. */
  tenant_id: TenantId;
}

/** The versions of everything that is not a link, and outlive it in the same way. */
export interface VersionTable {
  kind: KeyVersion["kind"];
  key: string;
  version: number;
}

/** `purged` is a year past expiry: free for anybody. */
export type CodeState = "live" | "deleted" | "purged";

export interface LinkTable {
  id: LinkId;
  tenant_id: TenantId;
  domain: string;
  code: string;
  url: string;
  permanent: Flag;
  status: "active" | "disabled";
  expires_at: number | null;
  title: string | null;
  notes: string | null;
  /** JSON array. */
  tags: string;
  fallback_url: string | null;
  password_hash: string | null;
  hits_per_month: number | null;
  created_at: number;
  updated_at: number;
  /** It leads to this file; `url` is empty then. */
  file_id: FileId | null;
  /** JSON array of rules, in their order. */
  rules: string | null;
  /** JSON array of addresses and weights. */
  split: string | null;
  /** JSON object: what is added to every address. */
  utm: string | null;
  forward_query: Flag;
}

/** The change feed: a row for every new version, committed with it. */
export interface ChangeTable {
  id: Generated<number>;
  /** PostgreSQL only: the transaction that wrote the row. */
  xid: ColumnType<string, never, never>;
  /** What has this version now: a link, or something with a key of its own in `domain` and no code. */
  kind: Change["kind"];
  domain: string;
  code: string;
  version: number;
  at: number;
}

/** A month of one of a link's two limits. */
export interface QuotaTable {
  domain: string;
  code: string;
  /** `2026-11` */
  month: string;
  draws: "hits" | "exempt";
  counted: number;
  /** Out on lease: spent and not yet written down, unspent, or lost in a crash. */
  reserved: number;
  /** Until when the last of them is good. */
  lent_until: Generated<number>;
}

export interface LeaseTable {
  id: string;
  month: string;
  size: number;
}

export interface HitTable {
  domain: string;
  code: string;
  month: string;
  reason: string;
  hits: number;
}

export interface RecorderTable {
  id: string;
  /** The last batch that was written down. */
  sequence: number;
  seen_at: number;
}

/** One of the hottest links of a server, as it last saw it. */
export interface HotLinkTable {
  instance: string;
  domain: string;
  code: string;
  per_minute: number;
  usual_per_minute: number;
  unusual: Flag;
  seen_at: number;
}

/** A server that uses this database. */
export interface InstanceTable {
  id: string;
  host: string;
  pid: number;
  /** Whether it has a Redis to share limits with others. */
  shares: Flag;
  started_at: number;
  seen_at: number;
}

/** A month of one of a tenant's limits. */
export interface TenantUsageTable {
  tenant_id: TenantId;
  name: MonthlyUse;
  month: string;
  used: number;
}

export type MonthlyUse = "links";

/** Work that one process does for all. */
export interface JobTable {
  name: string;
  /** Nobody begins it before; while somebody is at it, when another may take over. */
  due_at: number;
  holder: string | null;
}

export type EmailState = "queued" | "sending" | "sent" | "failed";
export type Delivery = "delivered" | "bounced" | "complaint";

export interface EmailTable {
  id: EmailId;
  tenant_id: TenantId;
  kind: string;
  /** One email of a tenant has it, ever. */
  dedupe_key: string | null;
  recipient: string;
  reply_to: string | null;
  subject: string;
  /** Text and HTML are kept until its fate is known. */
  text: string | null;
  html: string | null;
  /** Whether it offers to stop further ones. */
  unsubscribe: Flag;
  state: EmailState;
  /** Who it was last handed to, or is about to be. */
  provider: string | null;
  attempts: number;
  /** Hand-overs whose outcome nobody knows: the process ended, or the answer never came. */
  unsure: number;
  due_at: number;
  claimed_by: string | null;
  claimed_until: number | null;
  /** When the running or last hand-over began. */
  handed_at: number | null;
  /** Our own header, the same on every attempt. */
  message_id: string | null;
  /** The provider's name for it. */
  provider_id: string | null;
  delivery: Delivery | null;
  delivery_at: number | null;
  /** Why it failed, or why it waits. */
  reason: string | null;
  detail: string | null;
  created_at: number;
  finished_at: number | null;
}

/** Who gets no more email. The empty tenant is everybody's: addresses that bounced at the platform's SMTP. */
export interface SuppressionTable {
  tenant_id: TenantId | "";
  address: string;
  reason: "bounced" | "complaint" | "unsubscribed" | "manual";
  created_at: number;
}

export interface EmailSettingsTable {
  tenant_id: TenantId;
  /** Where notices about the tenant go. */
  contact: string | null;
  /** Who its emails are from, through its own SendGrid key. */
  sender: string | null;
  /** Sealed; the hint is the key's last characters, so that people can tell which it is. */
  sendgrid_key: string | null;
  sendgrid_hint: string | null;
  sendgrid_checked_at: number | null;
  /** The public key that SendGrid signs its events with. */
  webhook_key: string | null;
  /** The secret part of the address that they are sent to. */
  webhook_secret: string | null;
  updated_at: number;
}

export type FileState = "pending" | "stored" | "deleting";

export interface FileTable {
  id: FileId;
  tenant_id: TenantId;
  name: string;
  size_bytes: number;
  type: string;
  /** In hex; given by its owner, or found when it was stored. */
  sha256: string | null;
  state: FileState;
  /** The counters know what became of its hold. */
  settled: Flag;
  created_at: number;
  upload_until: number;
  stored_at: number | null;
}

/** The bytes of a tenant's stored files. */
export interface TenantStorageTable {
  tenant_id: TenantId;
  bytes: number;
  /** How many files these are. */
  files: Generated<number>;
  version: number;
}

/** A domain that a tenant claims, or has shown to be in charge of. */
export interface DomainTable {
  tenant_id: TenantId;
  host: string;
  state: "pending" | "verified";
  token: string;
  is_default: Flag;
  root_url: string | null;
  missing_url: string | null;
  root_blocked: Flag;
  missing_blocked: Flag;
  created_at: number;
  verified_at: number | null;
}

export type TargetState = "ok" | "failing" | "dead" | "unchecked";

/** What was found where a link leads to. May outlive its link until it is due. */
export interface TargetTable {
  link_id: LinkId;
  /** Of the address that was looked at: the link may have another by now. */
  url_hash: string | null;
  state: TargetState | null;
  http_status: number | null;
  reason: string | null;
  /** In a row. */
  failures: number;
  /** Its owner asked for it, and there was none yet. */
  wants_title: Flag;
  checked_at: number | null;
  next_check_at: number;
}

/** How far something that goes over all links has come. */
export interface WalkTable {
  name: string;
  position: string;
}

export type AbuseReason = "phishing" | "malware" | "spam" | "illegal" | "other";
export type AbuseState = "open" | "dismissed" | "suspended";

export interface AbuseReportTable {
  id: ReportId;
  domain: string;
  code: string;
  reason: AbuseReason;
  details: string | null;
  /** Of who reported it, if they want to hear back. */
  email: string | null;
  /** Where the link led when it was reported; null if there was none. */
  url: string | null;
  state: AbuseState;
  created_at: number;
  closed_at: number | null;
  closed_by: string | null;
}

export interface SuspendedLinkTable {
  domain: string;
  code: string;
  /** What the blocklist stopped, the blocklist may free. */
  cause: "operator" | "blocklist";
  reason: string;
  suspended_by: string;
  suspended_at: number;
}

export interface SuspendedTenantTable {
  tenant_id: TenantId;
  reason: string;
  suspended_by: string;
  suspended_at: number;
}

/** A request that must happen once, by the key that its sender chose. */
export interface IdempotencyTable {
  tenant_id: TenantId;
  /** SHA-256 of the key, in hex. The key itself is nowhere: it opens the answer. */
  key_hash: string;
  /** SHA-256 of what was asked. */
  fingerprint: string;
  /** Chance, in hex: with the key, what ids and secrets of this request are made from. */
  seed: string;
  state: "running" | "done";
  /** Who works on it, until when others leave it alone. */
  claim: string;
  claimed_until: number;
  /** Sealed; null while it runs, and when it is too large to be kept. */
  answer: string | null;
  created_at: number;
  expires_at: number;
}

/** How far the import of a file has come. */
export interface ImportTable {
  /** A hash of whose it is, and of all that is in the file. */
  id: string;
  tenant_id: TenantId;
  /** Of the file: this many were dealt with, the last of them on this line. */
  records: number;
  line: number;
  /** Links that were written, that were there already, and rows that could not be taken. */
  made: number;
  present: number;
  refused: number;
  started_at: number;
  finished_at: number | null;
}
