import type { TenantId } from "../base/ids.ts";
import type { KeyVersion, LinkVersion } from "../cache/feed.ts";
import {
  type BulkAppend,
  type BulkInsert,
  type BulkSettings,
  type BulkValue,
  bulkAppend,
  bulkInsert,
  ofDialect,
  prepareDuring,
} from "./bulk.ts";
import type { CodeState } from "./schema.ts";
import type { Sql } from "./sql.ts";
import { type Params, rowBatches, statement } from "./statement.ts";
import type { Db, Trx } from "./tenant-db.ts";

/**
 * Raises versions and writes them to the change feed, in the transaction of the change. Every caller uses
 * `raiseVersions`, and no other code writes to `link_versions`, `versions` or `changes`.
 *
 * PostgreSQL locks each row it raises until the commit. Two transactions that lock the same two rows in opposite orders
 * deadlock, and PostgreSQL ends one of them with an error. So there is one order for all:
 *
 * 1. rows that must not change meanwhile: the tenant, its plan, domains, files by ID, and the links that are edited, by ID;
 * 2. versions, by domain and code, or by key: this function sorts them;
 * 3. the rest: new links by ID, suspensions, the tenant's usage this month, the position of an import.
 *
 * A transaction calls this function once, with everything it raises: a second call could lock a row that sorts before
 * those of the first. `test/conformance/lock-order.test.ts` runs all callers against each other.
 */
type Raise = RaiseLinks | ClaimCodes | FirstCodes | MoveCode | RaiseKeys | readonly RaiseKeys[];

export interface Place {
  readonly domain: string;
  readonly code: string;
}

/** Links that exist, or did: those that never existed are left out of the answer. */
interface RaiseLinks {
  readonly links: readonly Place[];
  /** The new state of their codes; omitted: unchanged. */
  readonly state?: CodeState;
}

/** Codes for new links, of one tenant or several. Codes that a tenant cannot have are left out of the answer. */
interface ClaimCodes {
  readonly claims: readonly Claim[];
}

/**
 * Codes that were never used, each once: they get `firstVersion`. It throws a unique violation if one was, and nothing of the
 * transaction can be kept. Without a decision and an answer for each code it takes half as long as claims.
 */
interface FirstCodes {
  readonly firsts: readonly string[];
  readonly domain: string;
  readonly tenant: TenantId;
}

export const firstVersion = 1;

export interface Claim extends Place {
  readonly tenant: TenantId;
  /** A generated code must be new or purged; a chosen one may also be one that its owner deleted. */
  readonly generated: boolean;
}

export interface ClaimedCode extends LinkVersion {
  readonly tenant: TenantId;
}

/**
 * A link gets another place. Its owner keeps the old code, without a link. Both places are answered, or only the old one if
 * the new one is not free: then the transaction must not commit. The new version is higher than both old ones, so that the
 * versions of the link keep growing.
 */
interface MoveCode {
  readonly from: Place;
  readonly to: Place;
  readonly tenant: TenantId;
}

/** Everything else: a key without a version gets its first. */
export interface RaiseKeys {
  readonly kind: KeyVersion["kind"];
  readonly keys: readonly string[];
}

const statementRows = 64;
/** New codes in one row of the feed. PostgreSQL compresses a row of 2,000 characters or more, or stores it apart. */
const [codesOfChange, charactersOfChange] = [64, 1_900] as const;
const raised = new WeakSet<Trx>();

export async function raiseVersions(sql: Sql, trx: Trx, what: ClaimCodes, at: number): Promise<ClaimedCode[]>;
export async function raiseVersions(sql: Sql, trx: Trx, what: FirstCodes, at: number): Promise<readonly never[]>;
export async function raiseVersions(
  sql: Sql,
  trx: Trx,
  what: RaiseLinks | MoveCode,
  at: number,
): Promise<LinkVersion[]>;
export async function raiseVersions(
  sql: Sql,
  trx: Trx,
  what: RaiseKeys | readonly RaiseKeys[],
  at: number,
): Promise<KeyVersion[]>;
export async function raiseVersions(sql: Sql, trx: Trx, what: Raise, at: number): Promise<readonly Raised[]> {
  if (raised.has(trx)) throw new Error("a transaction raises all of its versions at once");
  raised.add(trx);
  if ("firsts" in what) return takeFirsts(sql, trx, what, at);
  if ("claims" in what && sql.dialect === "postgres") return claimCodes(sql, trx, what, at);
  const changes = await raise(sql, trx, what, at);
  await insertChanges[sql.dialect]().run(trx, toRows(changes, at));
  return changes;
}

type Raised = LinkVersion | KeyVersion;

function raise(sql: Sql, trx: Trx, what: Exclude<Raise, FirstCodes>, at: number): Promise<Raised[]> {
  if ("links" in what) return raiseLinks(sql, trx, what);
  if ("claims" in what) return claimCodes(sql, trx, what, at);
  if ("from" in what) return moveCode(sql, trx, what);
  return raiseKeys(trx, "kind" in what ? [what] : what);
}

/**
 * A page of links has few domains, so each takes two statements: an `update` of several rows locks them in any order.
 */
async function raiseLinks(sql: Sql, trx: Trx, { links, state }: RaiseLinks): Promise<LinkVersion[]> {
  const changes: LinkVersion[] = [];
  const domains = Map.groupBy(links.toSorted(byPlace), ({ domain }) => domain);
  for (const [domain, some] of domains) {
    const codes = some.map(({ code }) => code);
    if (codes.length > 1) {
      const those = trx.selectFrom("link_versions").select("code").where("domain", "=", domain);
      await sql.forUpdate(those.where("code", "in", codes).orderBy("code")).execute();
    }
    const rows = await (state === undefined
      ? raiseCodes.all(trx, { domain, codes })
      : raiseCodesTo.all(trx, { domain, codes, state }));
    changes.push(...rows.map(toLinkVersion).sort(byPlace));
  }
  return changes;
}

/**
 * One statement for many codes: on PostgreSQL that created eight times as many links per second as a statement for
 * each, on SQLite twice as many. A statement of PostgreSQL may touch a row only once, so a code that a tenant claims
 * twice goes to the first. Several tenants share a statement only on SQLite, which tries their claims one after the
 * other.
 */
async function claimCodes({ dialect }: Sql, trx: Trx, { claims }: ClaimCodes, at: number): Promise<ClaimedCode[]> {
  const values: BulkValue[] = [];
  const chosen: string[] = [];
  let before: Claim | undefined;
  const sorted = claims.toSorted(byPlace);
  for (const claim of sorted) {
    if (before !== undefined && isSameClaim(before, claim)) continue;
    before = claim;
    values.push(claim.domain, firstVersion, "live", claim.tenant, claim.code);
    if (!claim.generated) chosen.push(claim.code);
  }
  const claim = dialect === "postgres" ? claimAndFeed : claimPlaces;
  const rows = await claim[dialect]().run(trx, values, chosen, at);
  return rows.map(({ domain, code, version, tenant_id: tenant }) => ({ kind: "link", domain, code, version, tenant }));
}

async function takeFirsts(
  { dialect }: Sql,
  trx: Trx,
  { firsts, domain, tenant }: FirstCodes,
  at: number,
): Promise<readonly never[]> {
  const codes = firsts.toSorted();
  const writing = appendPlaces[dialect]().prepared([domain, firstVersion, "live", tenant], codes)(trx);
  const writeChanges = await prepareDuring(writing, () =>
    appendChanges[dialect]().prepared(
      ["links", domain, firstVersion, at],
      joined(codes, charactersOfChange - domain.length),
    ),
  );
  await writeChanges(trx);
  return [];
}

async function moveCode({ dialect }: Sql, trx: Trx, { from, to, tenant }: MoveCode): Promise<LinkVersion[]> {
  const leave = () => raiseCodesTo.first(trx, { domain: from.domain, codes: [from.code], state: "deleted" });
  const claim = async () =>
    (await claimPlaces[dialect]().run(trx, [to.domain, 1, "live", tenant, to.code], [to.code]))[0];
  const isFirst = byPlace(from, to) < 0;
  const early = await (isFirst ? leave() : claim());
  const late = await (isFirst ? claim() : leave());
  const [left, claimed] = isFirst ? [early, late] : [late, early];
  if (left === undefined || claimed === undefined) return left === undefined ? [] : [toLinkVersion(left)];
  const version = Math.max(claimed.version, left.version + 1);
  if (version > claimed.version) await setVersion.run(trx, { ...to, version });
  return [left, { ...claimed, version }].map(toLinkVersion);
}

async function raiseKeys(trx: Trx, raises: readonly RaiseKeys[]): Promise<KeyVersion[]> {
  const changes: KeyVersion[] = [];
  for (const { kind, keys } of raises.toSorted((a, b) => (a.kind < b.kind ? -1 : 1))) {
    const rows = [...new Set(keys)].sort().map((key) => ({ kind, key }));
    for (const some of rowBatches(rows, statementRows)) {
      const raised = await raiseKeyed.all(trx, { rows: some });
      changes.push(...raised.map(({ key, version }) => ({ kind, key, version })));
    }
  }
  return changes;
}

function joined(codes: readonly string[], charactersMost: number): string[] {
  const rows: string[] = [];
  let [row, inRow] = ["", 0];
  for (const code of codes) {
    const isFull = inRow === codesOfChange || row.length + code.length >= charactersMost;
    if (isFull) rows.push(row);
    row = row === "" || isFull ? code : `${row} ${code}`;
    inRow = isFull ? 1 : inRow + 1;
  }
  if (row !== "") rows.push(row);
  return rows;
}

/** Anything but a link has its key in `domain`, and no code. */
function toRows(changes: readonly Raised[], at: number): BulkValue[] {
  const values: BulkValue[] = [];
  for (const change of changes) {
    const isLink = change.kind === "link";
    values.push(change.kind, isLink ? change.domain : change.key, change.version, at, isLink ? change.code : "");
  }
  return values;
}

const toLinkVersion = (row: Place & { readonly version: number }): LinkVersion => ({
  kind: "link",
  domain: row.domain,
  code: row.code,
  version: row.version,
});

/** Both databases compare byte by byte, and so does this: hosts and codes are ASCII. */
function byPlace(a: Place, b: Place): number {
  if (a.domain !== b.domain) return a.domain < b.domain ? -1 : 1;
  return a.code === b.code ? 0 : a.code < b.code ? -1 : 1;
}

const isSameClaim = (a: Claim, b: Claim): boolean => a.tenant === b.tenant && byPlace(a, b) === 0;

interface Codes {
  readonly domain: string;
  readonly codes: readonly string[];
}

const raiseCodes = statement((db: Db, { domain, codes }: Params<Codes>) =>
  db
    .updateTable("link_versions")
    .set((row) => ({ version: row("version", "+", 1) }))
    .where("domain", "=", domain)
    .where("code", "in", codes)
    .returning(["domain", "code", "version"]),
);

const raiseCodesTo = statement((db: Db, { domain, codes, state }: Params<Codes & { readonly state: CodeState }>) =>
  db
    .updateTable("link_versions")
    .set((row) => ({ version: row("version", "+", 1), state }))
    .where("domain", "=", domain)
    .where("code", "in", codes)
    .returning(["domain", "code", "version"]),
);

const setVersion = statement((db: Db, { domain, code, version }: Params<Place & { readonly version: number }>) =>
  db.updateTable("link_versions").set({ version }).where("domain", "=", domain).where("code", "=", code),
);

interface ClaimedRow extends Place {
  readonly version: number;
  readonly tenant_id: TenantId;
}

/**
 * Codes that were never used or were purged, and those of the given list that their owner deleted. A custom domain passes
 * to another tenant with all its codes; on the server's own domain they keep their owner.
 */
const claiming = {
  into: "link_versions",
  same: { domain: "text", version: "bigint", state: "text", tenant_id: "text" },
  columns: { code: "text" },
  tail: (isChosen) => `on conflict (domain, code) do update
    set version = link_versions.version + 1, state = 'live', tenant_id = excluded.tenant_id
    where link_versions.state = 'purged' or (link_versions.state = 'deleted'
      and (link_versions.tenant_id = excluded.tenant_id or link_versions.domain <> '')
      and link_versions.code ${isChosen})
    returning domain, code, version, tenant_id`,
} as const satisfies BulkSettings<"link_versions">;

const claimPlaces = ofDialect<BulkInsert<Db, ClaimedRow>>((dialect) => bulkInsert(dialect, claiming));

/** With their rows of the feed. */
const claimAndFeed = ofDialect<BulkInsert<Db, ClaimedRow>>((dialect) =>
  bulkInsert(dialect, {
    ...claiming,
    also: {
      returned: "domain, code, version, tenant_id",
      write: (at) => `insert into "changes" ("kind", "domain", "code", "version", "at")
        select 'link', domain, code, version, ${at}::bigint from returned`,
    },
  }),
);

const raiseKeyed = statement(
  (db: Db, { rows }: Params<{ rows: readonly { kind: KeyVersion["kind"]; key: string }[] }>) =>
    db
      .insertInto("versions")
      .values(rows.map((row) => ({ ...row, version: 1 })))
      .onConflict((conflict) =>
        conflict.columns(["kind", "key"]).doUpdateSet((row) => ({ version: row("versions.version", "+", 1) })),
      )
      .returning(["key", "version"]),
);

const changing = {
  into: "changes",
  same: { kind: "text", domain: "text", version: "bigint", at: "bigint" },
  columns: { code: "text" },
} as const satisfies BulkSettings<"changes">;

const insertChanges = ofDialect<BulkInsert<Db, never>>((dialect) => bulkInsert(dialect, changing));

const appendPlaces = ofDialect<BulkAppend<Db>>((dialect) => bulkAppend(dialect, claiming));
const appendChanges = ofDialect<BulkAppend<Db>>((dialect) => bulkAppend(dialect, changing));
