import type { ColumnType, Generated } from "kysely";
import type {
  AnnotationId,
  DeviceId,
  EmailId,
  FileId,
  HistoryId,
  ImportId,
  InvitationId,
  KeyId,
  LinkId,
  PersonId,
  ReportId,
  SessionId,
  ShareId,
  TenantId,
  UtmTemplateId,
} from "../base/ids.ts";
import type { Change, KeyVersion } from "../cache/feed.ts";

/**
 * The tables as the program sees them. The DDL is in `migrations/`. Times are milliseconds since 1970, flags are 0 and
 * 1, lists and objects are JSON text: stored and compared the same way by both databases.
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
  click_tenants: ClickTenantTable;
  click_notices: ClickNoticeTable;
  click_groups: ClickGroupTable;
  click_values: ClickValueTable;
  clicks: ClickTable;
  click_overflow: ClickOverflowTable;
  click_days: ClickDayTable;
  click_visitors: ClickVisitorTable;
  click_rollups: ClickRollupTable;
  click_links: ClickLinkTable;
  click_drops: ClickDropTable;
  click_history: ClickHistoryTable;
  people: PersonTable;
  sessions: SessionTable;
  person_tokens: PersonTokenTable;
  known_devices: KnownDeviceTable;
  recovery_codes: RecoveryCodeTable;
  passkeys: PasskeyTable;
  identities: IdentityTable;
  members: MemberTable;
  invitations: InvitationTable;
  history: HistoryTable;
  trashed_links: TrashedLinkTable;
  annotations: AnnotationTable;
  utm_templates: UtmTemplateTable;
  branding: BrandingTable;
  stats_shares: StatsShareTable;
  link_imports: LinkImportTable;
  link_import_rows: LinkImportRowTable;
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
  /** Assigned by the database: its name in the tables of clicks. */
  number: ColumnType<TenantNumber, never, never>;
  /** Deleted by an owner, and gone for good then. */
  delete_at: ColumnType<number | null, number | null | undefined, number | null>;
}

/** A group of links in the tables of clicks: a tenant, or one of its domains or tags. Negative. */
export type GroupNumber = number & { readonly [groupBrand]: "group" };
declare const groupBrand: unique symbol;
export type TenantNumber = GroupNumber & { readonly [tenantBrand]: "tenant" };
declare const tenantBrand: unique symbol;
/** A link in the tables of clicks. Positive, and never used again when the link is deleted. */
export type LinkNumber = number & { readonly [linkBrand]: "link" };
declare const linkBrand: unique symbol;

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
  /** The first characters, so that users can tell their keys apart. */
  hint: string;
  /** SHA-256 of the key, in hex. The key itself is not stored. */
  hash: string;
  /** JSON array. */
  scopes: string;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
  /** The key's own limit, within the tenant's. */
  api_per_minute: number | null;
  /** The person who created it, if one did. */
  created_by: PersonId | null;
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
 * One row for every (domain, code) that ever existed, which outlives its link: the version must keep growing when a
 * code is reused, or a cache could mistake the old link for the new one.
 */
export interface LinkVersionTable {
  domain: string;
  code: string;
  version: number;
  state: CodeState;
  /** The last owner: only they may reuse a deleted code. */
  tenant_id: TenantId;
}

/** The versions of everything that is not a link, and outlive it in the same way. */
export interface VersionTable {
  kind: KeyVersion["kind"];
  key: string;
  version: number;
}

/** `live`: of a link, or of one in the trash. `deleted`: for good. `purged`: a year past expiry, free for anyone. */
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
  /** The link leads to this file; `url` is empty then. */
  file_id: FileId | null;
  /** JSON array of rules, in order. */
  rules: string | null;
  /** JSON array of URLs and weights. */
  split: string | null;
  /** JSON object: parameters added to every URL. */
  utm: string | null;
  forward_query: Flag;
  /** Assigned by the database; a restored link has the one it had. */
  number: ColumnType<LinkNumber, LinkNumber | undefined, never>;
  /** Whether facts of its clicks are recorded. */
  facts: Generated<Flag>;
  /** Who created it, as in the history. */
  made_by_kind: ColumnType<string | null, string | null | undefined, never>;
  made_by: ColumnType<string | null, string | null | undefined, never>;
}

/** The change feed: a row for every new version, committed with it. */
export interface ChangeTable {
  id: Generated<number>;
  /** PostgreSQL only: the transaction that wrote the row. */
  xid: ColumnType<string, never, never>;
  /** What the version belongs to: a link, new links with all their codes in `code`, or something with its key in `domain` and no code. */
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
  /** Out on lease: spent but not yet recorded, unspent, or lost in a crash. */
  reserved: number;
  /** When the last of them expires. */
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
  /** The last recorded batch. */
  sequence: number;
  seen_at: number;
}

/** One of the hottest links of a server. */
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
  /** Not run before this; while a process is running it, when another may take over. */
  due_at: number;
  holder: string | null;
  /** Of the last run. */
  started_at: ColumnType<number | null, number | null | undefined, number | null>;
  ended_at: ColumnType<number | null, number | null | undefined, number | null>;
  succeeded_at: ColumnType<number | null, number | null | undefined, number | null>;
  /** Failed runs since the last success, and the error of the last one. */
  failures: Generated<number>;
  error: ColumnType<string | null, string | null | undefined, string | null>;
}

export type EmailState = "queued" | "sending" | "sent" | "failed";
export type Delivery = "delivered" | "bounced" | "complaint";

export interface EmailTable {
  id: EmailId;
  tenant_id: TenantId;
  kind: string;
  /** Unique per tenant, forever. */
  dedupe_key: string | null;
  recipient: string;
  reply_to: string | null;
  subject: string;
  /** Text and HTML are kept until its outcome is known. */
  text: string | null;
  html: string | null;
  /** Whether it has an unsubscribe link. */
  unsubscribe: Flag;
  state: EmailState;
  /** The provider of its last or next hand-over. */
  provider: string | null;
  attempts: number;
  /** Hand-overs with an unknown outcome: the process ended, or no answer came. */
  unsure: number;
  due_at: number;
  claimed_by: string | null;
  claimed_until: number | null;
  /** When the current or last hand-over started. */
  handed_at: number | null;
  /** Our header, the same on every attempt. */
  message_id: string | null;
  /** The provider's ID for it. */
  provider_id: string | null;
  delivery: Delivery | null;
  delivery_at: number | null;
  /** Why it failed, or why it waits. */
  reason: string | null;
  detail: string | null;
  created_at: number;
  finished_at: number | null;
}

/** Addresses that get no more email. The empty tenant is for all: addresses that bounced at the platform's SMTP. */
export interface SuppressionTable {
  tenant_id: TenantId | "";
  address: string;
  reason: "bounced" | "complaint" | "unsubscribed" | "manual";
  created_at: number;
}

export interface EmailSettingsTable {
  tenant_id: TenantId;
  /** Address for notices about the tenant. */
  contact: string | null;
  /** Sender of its emails through its SendGrid key. */
  sender: string | null;
  /** Encrypted; the hint is the key's last characters, so that users can identify it. */
  sendgrid_key: string | null;
  sendgrid_hint: string | null;
  sendgrid_checked_at: number | null;
  /** The public key of SendGrid's event signatures. */
  webhook_key: string | null;
  /** The secret part of the webhook URL. */
  webhook_secret: string | null;
  /** JSON: which emails about clicks it wants, where it has chosen. */
  notices: string | null;
  updated_at: number;
}

export type FileState = "pending" | "stored" | "deleting";

export interface FileTable {
  id: FileId;
  tenant_id: TenantId;
  name: string;
  size_bytes: number;
  type: string;
  /** In hex; given by its owner, or computed when it was stored. */
  sha256: string | null;
  state: FileState;
  /** Whether the counters have settled its hold. */
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

/** A custom domain that a tenant claims or has verified. */
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

/** Result of a destination check. May outlive its link until it is due. */
export interface TargetTable {
  link_id: LinkId;
  /** Of the checked URL: the link may have another by now. */
  url_hash: string | null;
  state: TargetState | null;
  http_status: number | null;
  reason: string | null;
  /** Consecutive failures. */
  failures: number;
  /** Its owner asked for the title, and there was none yet. */
  wants_title: Flag;
  /** Until its answer was read. Null: there was none. */
  response_ms: number | null;
  /** The first of the consecutive failures. Null: it works. */
  failing_since: number | null;
  checked_at: number | null;
  next_check_at: number;
}

/** Progress of a walk over all links. */
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
  /** The reporter's address, if they want an answer. */
  email: string | null;
  /** The destination when it was reported; null if there was none. */
  url: string | null;
  state: AbuseState;
  created_at: number;
  closed_at: number | null;
  closed_by: string | null;
}

export interface SuspendedLinkTable {
  domain: string;
  code: string;
  /** What the blocklist suspended, the blocklist may restore. */
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

/** A request that must run once, by the client's Idempotency-Key. */
export interface IdempotencyTable {
  tenant_id: TenantId;
  /** SHA-256 of the key, in hex. The key itself is not stored: it decrypts the response. */
  key_hash: string;
  /** SHA-256 of the request. */
  fingerprint: string;
  /** Random, in hex: together with the key, the source of the IDs and secrets of this request. */
  seed: string;
  state: "running" | "done";
  /** The process that works on it, and until when others leave it alone. */
  claim: string;
  claimed_until: number;
  /** Encrypted; null while it runs, and if it is too large to keep. */
  answer: string | null;
  created_at: number;
  expires_at: number;
}

/** Progress of the import of a file. */
export interface ImportTable {
  /** A hash of the tenant and the file's content. */
  id: string;
  tenant_id: TenantId;
  /** Records processed so far, and the line of the last one. */
  records: number;
  line: number;
  /** Links created, links already present, and rejected rows. */
  made: number;
  present: number;
  refused: number;
  started_at: number;
  finished_at: number | null;
}

/** Settings and progress of a tenant's clicks. A tenant without a row has the defaults. */
export interface ClickTenantTable {
  tenant_id: TenantId;
  /** IANA time zone of its days. */
  zone: string;
  facts: Flag;
  /** How long events are kept, if not as its plan says. */
  event_days: number | null;
  /** Raised by every batch with late clicks; its row is the lock between them and condensing. */
  late: number;
  /** Condensed up to here. The first is that of parts of a day. */
  hours_until: number;
  days_until: number;
  weeks_until: Generated<number>;
  months_until: number;
  quarter_years_until: Generated<number>;
  /** All events from here on are there. Older ones are being deleted, or are. */
  events_from: Generated<number>;
  /** Older events are deleted. */
  deleted_until: Generated<number>;
}

/** A domain or tag with roll-ups. */
export interface ClickGroupTable {
  tenant_id: TenantId;
  kind: "domain" | "tag";
  name: string;
  /** Days that ended before this may have clicks of the group and no roll-up of it. */
  since: ColumnType<number, number | undefined, never>;
  number: ColumnType<GroupNumber, never, never>;
}

/** A single value of a fact, such as one referrer. Id 0 means "none", 1 means "other". */
export interface ClickValueTable {
  id: Generated<number>;
  /** 0: shared by all tenants. */
  tenant: TenantNumber | 0;
  dimension: string;
  value: string;
  /** The last day on which it was used, so that it is kept as long as its events. */
  seen_day: number;
}

/** The columns of an event that are ids in `click_values`. */
export const factColumns = [
  ...(["country", "region", "city", "device", "browser", "os", "referrer", "language"] as const),
  ...(["utm_source", "utm_medium", "utm_campaign", "source", "variant", "bot"] as const),
] as const;
export type FactColumn = (typeof factColumns)[number];

/** An event: one click. */
export interface ClickTable extends Record<FactColumn, number> {
  /** Days since 1970, in UTC. */
  day: number;
  tenant: TenantNumber;
  /** Its shelf (`clicks/event-shelves.ts`): a random level, and for low levels also the time of day. */
  level: number;
  link: LinkNumber;
  at: number;
  /** Distinguishes clicks of the same millisecond. */
  seq: number;
  domain: GroupNumber;
  /** The link's tags when it was clicked: a list in `click_values` (clicks/events/tag-list.ts). */
  tags: number;
  /** Index in `hitReasons`. */
  reason: number;
  /** The day's first visit: 1 to the link, 2 to the tenant, 3 both. 4: it came too late to tell. */
  first: number;
}

/** Clicks that have no event, counted by one server. */
export interface ClickOverflowTable {
  day: number;
  tenant: TenantNumber;
  link: LinkNumber;
  quarter: number;
  domain: GroupNumber;
  tags: number;
  writer: string;
  /**
   * A `StoredOverflow` (`clicks/events/overflow-text.ts`). An older version wrote a `Tally`, whose visitors are the day's first visits
   * to the link.
   */
  tally: string;
  /** Empty. An older version wrote the same clicks, with the day's first visits to the tenant, if these were others. */
  tenant_tally: string;
}

export interface ClickDayTable {
  tenant: TenantNumber;
  start: number;
  until: number;
  /** Null once the day is over. */
  salt: string | null;
  /** Since when a server does not recognise new visitors, because there were too many. */
  visitors_full_at: number | null;
}

export interface ClickVisitorTable {
  /** The end of the tenant's day. */
  until: number;
  subject: LinkNumber | GroupNumber;
  hash: number;
}

/** A condensed period of a link or group. */
export interface ClickRollupTable {
  subject: LinkNumber | GroupNumber;
  /** Which period it is: `grains` in `clicks/rollups/periods.ts`. */
  grain: number;
  start: number;
  until: number;
  /** JSON list: clicks by reason, in the order of `hitReasons`. */
  reasons: string;
  visitors: number;
  /** How many of the clicks have, or had, an event. */
  itemised: number;
  /** JSON: clicks by quarter hour; by day in a week, month or quarter year. */
  series: string;
  /** Clicks and visitors by dimension and value, of rows that were written before `packed` (`packed.ts`). Empty otherwise. */
  facts: string;
  /** The same as numbers, and the names of the values (`packed-values.ts`). */
  packed: Uint8Array | null;
  names: Uint8Array | null;
  /** So much of `packed`, from its beginning, has the values of people. Null: not known. */
  people_bytes: Generated<number | null>;
}

export interface ClickLinkTable {
  link: LinkNumber;
  tenant_id: TenantId;
  domain: string;
  code: string;
  /** Counted clicks since ever. */
  clicks: number;
  first_at: number | null;
  last_at: number | null;
}

export interface ClickDropTable {
  day: number;
  writer: string;
  dropped: number;
  excluded: number;
}

export interface ClickHistoryTable {
  tenant_id: TenantId;
  link: LinkNumber;
  start: number;
  until: number;
  source: string;
  clicks: number;
  visitors: number | null;
  /** 0: the clicks of a day. */
  is_total: Generated<Flag>;
}

/** Something about a link's clicks that its tenant is told by email. */
export interface ClickNoticeTable {
  tenant_id: TenantId;
  kind: "firstClick" | "spike" | "drop" | "deadTarget" | "digest";
  /** 0: all of them. */
  link: LinkNumber | 0;
  /** When it began. */
  since: number;
  /** When it was last seen to go on. */
  seen_at: number;
  /** JSON: the numbers that the email shows. */
  facts: string;
  /** The key of its email. Null: it waits for the next one. */
  mail: string | null;
  /** 1 once its email is in the outbox. */
  told: Flag;
}

export interface PersonTable {
  id: PersonId;
  /** As they wrote it. */
  email: string;
  /** The same for all spellings of one address. */
  mailbox: string;
  name: string;
  /** Null: signs in otherwise. */
  password_hash: string | null;
  verified_at: number | null;
  operator: Generated<Flag>;
  disabled_at: number | null;
  /** The secret of the second factor, encrypted. */
  totp: string | null;
  /** The last accepted step: none is accepted twice. */
  totp_step: number | null;
  created_at: number;
}

export type SignInMethod = "setup" | "sign-up" | "password" | "passkey" | "oidc" | "invitation" | "reset";

export interface SessionTable {
  id: SessionId;
  person_id: PersonId;
  hash: string;
  method: SignInMethod;
  device: string;
  workspace_id: TenantId | null;
  created_at: number;
  /** When the person last proved who they are. */
  proved_at: number;
  seen_at: number;
  idle_ms: number;
  expires_at: number;
}

export interface PersonTokenTable {
  hash: string;
  kind: string;
  person_id: PersonId | null;
  data: string | null;
  created_at: number;
  expires_at: number;
}

export interface KnownDeviceTable {
  id: DeviceId;
  person_id: PersonId;
  hash: string;
  device: string;
  created_at: number;
  expires_at: number;
}

export interface RecoveryCodeTable {
  person_id: PersonId;
  hash: string;
  used_at: number | null;
}

export interface PasskeyTable {
  /** Of the credential. */
  id: string;
  person_id: PersonId;
  name: string;
  public_key: string;
  counter: number;
  transports: string;
  created_at: number;
  last_used_at: number | null;
}

export interface IdentityTable {
  issuer: string;
  subject: string;
  person_id: PersonId;
  created_at: number;
}

export type StoredRole = "owner" | "admin" | "member" | "viewer";

export interface MemberTable {
  tenant_id: TenantId;
  person_id: PersonId;
  role: StoredRole;
  created_at: number;
}

export interface InvitationTable {
  id: InvitationId;
  tenant_id: TenantId;
  hash: string;
  email: string | null;
  mailbox: string | null;
  role: StoredRole;
  inviter_id: PersonId | null;
  created_at: number;
  expires_at: number;
}

export interface HistoryTable {
  id: HistoryId;
  /** Empty: belongs to no workspace. */
  tenant_id: TenantId | "";
  at: number;
  actor_kind: "person" | "key" | "command" | "job" | "nobody";
  actor_id: string | null;
  actor_name: string | null;
  action: string;
  subject_kind: string;
  subject_id: string;
  subject_name: string | null;
  /** Of the link, after the change. */
  version: number | null;
  before_change: string | null;
  after_change: string | null;
  /** Whose address is in one of these, other than of the account that the row is about. */
  mailbox: string | null;
}

export interface TrashedLinkTable {
  id: LinkId;
  tenant_id: TenantId;
  domain: string;
  code: string;
  link: string;
  deleted_at: number;
}

export interface AnnotationTable {
  id: AnnotationId;
  tenant_id: TenantId;
  /** Null: about the whole workspace. */
  link_id: LinkId | null;
  at: number;
  text: string;
  created_at: number;
  created_by: PersonId | null;
}

export interface UtmTemplateTable {
  id: UtmTemplateId;
  tenant_id: TenantId;
  name: string;
  /** JSON. */
  utm: string;
  created_at: number;
  updated_at: number;
}

export interface BrandingTable {
  tenant_id: TenantId;
  name: string | null;
  /** `#rrggbb` */
  colour: string | null;
  /** Base64. */
  logo: string | null;
  logo_type: "image/png" | "image/webp" | "image/svg+xml" | null;
  /** SHA-256 of the bytes. */
  logo_hash: string | null;
  updated_at: number;
}

export interface StatsShareTable {
  id: ShareId;
  tenant_id: TenantId;
  token: string;
  /** Of a link, or of a tag. */
  link_id: LinkId | null;
  tag: string | null;
  title: string | null;
  /** How many days the page covers. */
  days: number;
  /** JSON. */
  filters: string;
  /** JSON. */
  breakdowns: string;
  password_hash: string | null;
  expires_at: number | null;
  created_at: number;
  created_by: PersonId | null;
}

export type ImportRunState = "checking" | "checked" | "running" | "done" | "cancelled" | "failed";

export interface LinkImportTable {
  id: ImportId;
  tenant_id: TenantId;
  file_id: FileId;
  name: string;
  size_bytes: number;
  only_format: string | null;
  format: string | null;
  state: ImportRunState;
  problem: string | null;
  /** JSON: what the check found. */
  counts: string | null;
  /** JSON. */
  actor: string;
  created_at: number;
  updated_at: number;
}

export interface LinkImportRowTable {
  import_id: ImportId;
  tenant_id: TenantId;
  phase: "check" | "import";
  line: number;
  problem: string;
}
