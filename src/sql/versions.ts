import type { TenantId } from "../base/ids.ts";
import type { Change, KeyVersion, LinkVersion } from "../cache/feed.ts";
import type { CodeState } from "./schema.ts";
import type { Sql } from "./sql.ts";
import type { Trx } from "./tenant-db.ts";

/**
 * Raises versions and writes them to the change feed, in the transaction of the change. Every caller uses
 * `raiseVersions`, and no other code writes to `link_versions`, `versions` or `changes`.
 *
 * PostgreSQL locks each row it raises until the commit. Two transactions that lock the same two rows in opposite orders
 * deadlock, and PostgreSQL ends one of them with an error. So there is one order for all:
 *
 * 1. rows that must not change meanwhile: the tenant, its note (`outdated-tenants.ts`), domains, files by ID, and the one
 *    link that is edited;
 * 2. versions, by domain and code, or by key: this function sorts them;
 * 3. the rest: new links by ID, suspensions, the tenant's usage this month, the position of an import.
 *
 * A transaction calls this function once, with everything it raises: a second call could lock a row that sorts before
 * those of the first. `test/conformance/lock-order.test.ts` runs all callers against each other.
 */
type Raise = RaiseLinks | ClaimCodes | RaiseKeys;

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

/** Codes for new links of a tenant. Codes that it cannot have are left out of the answer. */
interface ClaimCodes {
  readonly claims: readonly Claim[];
  readonly tenant: TenantId;
}

interface Claim extends Place {
  /** A generated code must be new or purged; a chosen one may also be one that its owner deleted. */
  readonly generated: boolean;
}

/** Everything else: a key without a version gets its first. */
interface RaiseKeys {
  readonly kind: KeyVersion["kind"];
  readonly keys: readonly string[];
}

const statementRows = 64;
const raised = new WeakSet<Trx>();

export async function raiseVersions(
  sql: Sql,
  trx: Trx,
  what: RaiseLinks | ClaimCodes,
  at: number,
): Promise<LinkVersion[]>;
export async function raiseVersions(sql: Sql, trx: Trx, what: RaiseKeys, at: number): Promise<KeyVersion[]>;
export async function raiseVersions(sql: Sql, trx: Trx, what: Raise, at: number): Promise<Change[]> {
  if (raised.has(trx)) throw new Error("a transaction raises all of its versions at once");
  raised.add(trx);
  const changes = await raise(sql, trx, what);
  for (const some of inStatements(changes)) await record(trx, some, at);
  return changes;
}

function raise(sql: Sql, trx: Trx, what: Raise): Promise<Change[]> {
  if ("links" in what) return raiseLinks(sql, trx, what);
  return "claims" in what ? claimCodes(trx, what) : raiseKeys(trx, what);
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
    const rows = await trx
      .updateTable("link_versions")
      .set((row) => ({ version: row("version", "+", 1), ...(state !== undefined && { state }) }))
      .where("domain", "=", domain)
      .where("code", "in", codes)
      .returning(["domain", "code", "version"])
      .execute();
    changes.push(...rows.map(toLinkVersion).sort(byPlace));
  }
  return changes;
}

/**
 * One statement for many codes: on PostgreSQL that created eight times as many links per second as a statement for
 * each, on SQLite twice as many. Lists in a single JSON parameter were no faster on PostgreSQL, and slower on SQLite. A
 * statement may touch a row only once, so a code that is claimed twice goes to the first.
 */
async function claimCodes(trx: Trx, { claims, tenant }: ClaimCodes): Promise<LinkVersion[]> {
  const changes: LinkVersion[] = [];
  const sorted = claims.toSorted(byPlace);
  const firsts = sorted.filter((claim, i) => i === 0 || byPlace(sorted[i - 1] as Claim, claim) !== 0);
  for (const some of inStatements(firsts)) {
    const chosen = some.filter(({ generated }) => !generated).map(({ code }) => code);
    const rows = await trx
      .insertInto("link_versions")
      .values(some.map(({ domain, code }) => ({ domain, code, version: 1, state: "live" as const, tenant_id: tenant })))
      .onConflict((conflict) =>
        conflict
          .columns(["domain", "code"])
          .doUpdateSet((row) => ({
            version: row("link_versions.version", "+", 1),
            state: "live" as const,
            tenant_id: tenant,
          }))
          .where((row) => {
            const purged = row("link_versions.state", "=", "purged");
            if (chosen.length === 0) return purged;
            return row.or([
              purged,
              row.and([
                row("link_versions.state", "=", "deleted"),
                // A custom domain passes to another tenant with all its codes; on the server's own domain they keep
                // their owner.
                row.or([row("link_versions.tenant_id", "=", tenant), row("link_versions.domain", "<>", "")]),
                ...(chosen.length < some.length ? [row("link_versions.code", "in", chosen)] : []),
              ]),
            ]);
          }),
      )
      .returning(["domain", "code", "version"])
      .execute();
    changes.push(...rows.map(toLinkVersion));
  }
  return changes;
}

async function raiseKeys(trx: Trx, { kind, keys }: RaiseKeys): Promise<KeyVersion[]> {
  const changes: KeyVersion[] = [];
  for (const some of inStatements([...new Set(keys)].sort())) {
    const rows = await trx
      .insertInto("versions")
      .values(some.map((key) => ({ kind, key, version: 1 })))
      .onConflict((conflict) =>
        conflict.columns(["kind", "key"]).doUpdateSet((row) => ({ version: row("versions.version", "+", 1) })),
      )
      .returning(["key", "version"])
      .execute();
    changes.push(...rows.map(({ key, version }) => ({ kind, key, version })));
  }
  return changes;
}

/** Anything but a link has its key in `domain`, and no code. */
async function record(trx: Trx, changes: readonly Change[], at: number): Promise<void> {
  const rows = changes.map((change) => {
    const { kind, version } = change;
    const { domain, code } = change.kind === "link" ? change : { domain: change.key, code: "" };
    return { kind, domain, code, version, at };
  });
  await trx.insertInto("changes").values(rows).execute();
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

/**
 * In groups for one statement each, in sizes of powers of two: each size is a separate statement, which the database
 * should have prepared already.
 */
export function inStatements<Row>(rows: readonly Row[]): Row[][] {
  const rest = [...rows];
  const groups: Row[][] = [];
  while (rest.length > 0) groups.push(rest.splice(0, Math.min(statementRows, 2 ** Math.floor(Math.log2(rest.length)))));
  return groups;
}
