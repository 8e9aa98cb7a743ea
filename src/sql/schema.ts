import type { ColumnType, Generated } from "kysely";
import type { KeyId, LinkId, TenantId } from "../base/ids.ts";

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
  links: LinkTable;
  changes: ChangeTable;
  quotas: QuotaTable;
  leases: LeaseTable;
  hits: HitTable;
  recorders: RecorderTable;
  instances: InstanceTable;
  hot_links: HotLinkTable;
  tenant_usage: TenantUsageTable;
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
}

/** The change feed: a row for every new version, committed with it. */
export interface ChangeTable {
  id: Generated<number>;
  /** PostgreSQL only: the transaction that wrote the row. */
  xid: ColumnType<string, never, never>;
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
