import { createHash, randomInt } from "node:crypto";
import { setImmediate as letOthers } from "node:timers/promises";
import type { Selectable } from "kysely";
import type { Clock } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import { type KeyId, newId, type PersonId, type TenantId } from "../base/ids.ts";
import type { Cache, Source } from "../cache/cache.ts";
import type { Publish } from "../cache/feed.ts";
import { type Actor, type HistoryEntry, recordHistory } from "../history/history.ts";
import { roleAllows } from "../people/roles.ts";
import { roleOf } from "../people/workspaces/current-role.ts";
import { dropInvitationsOfKeys } from "../people/workspaces/drop-invitations.ts";
import type { ApiKeyTable } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";
import { type Params, statement } from "../sql/statement.ts";
import { acrossTenants, type Db, ofTenant, type TenantDb, type Trx } from "../sql/tenant-db.ts";
import { raiseVersions } from "../sql/versions.ts";
import { createOneAtATime } from "./one-at-a-time.ts";

/**
 * API keys: `ql_` and 256 random bits, shown once. SQL stores only their SHA-256. A slow hash would protect guessable
 * secrets; these cannot be guessed, and the lookup by hash is a point read that compares no secrets.
 *
 * Keys are kept in memory by their hash, with a version in the change feed: whatever changes a key raises it in the same
 * transaction, so a revoked key ends everywhere within the promise of an edit. A key that has expired ends by the clock.
 */
export const scopes = [
  ...(["links:read", "links:write", "files:read", "files:write"] as const),
  ...(["stats:read", "usage:read", "email:read", "email:send", "admin"] as const),
] as const;
export type Scope = (typeof scopes)[number];

export interface ApiKey {
  readonly id: KeyId;
  readonly tenantId: TenantId;
  readonly name: string;
  readonly hint: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly lastUsedAt: number | null;
  /** This key's calls per minute, within the tenant's limit; null for the tenant's limit. */
  readonly apiPerMinute: number | null;
  /** The person who created it; null if none did, or their account is gone. */
  readonly createdBy: PersonId | null;
}

export interface NewKey {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt?: number | null;
  readonly apiPerMinute?: number | null;
  /** Whose it is. By default the person who creates it. */
  readonly createdBy?: PersonId | null;
  /** Chosen before the first attempt: a repeated request returns the key that has this ID. */
  readonly once?: { readonly id: KeyId; readonly chance: Uint8Array };
}

export interface Keys {
  /** The secret is in this answer and never again. */
  create(tenantId: TenantId, key: NewKey, by: Actor): Promise<{ key: ApiKey; secret: string }>;
  /** The key, if it exists and is valid. */
  authenticate(secret: string): Promise<ApiKey | undefined>;
  /** Whether a key that was valid still is. */
  isValid(tenantId: TenantId, id: KeyId): Promise<boolean>;
  /** Newest first; `before` is the last one of the previous page. */
  list(tenantId: TenantId, limit: number, before?: KeyId): Promise<ApiKey[]>;
  /** False when there is no such key; revoking twice is the same as once. */
  revoke(tenantId: TenantId, id: KeyId, by: Actor): Promise<boolean>;
  /** Writes the buffered times of last use. */
  flush(): Promise<void>;
}

/** Valid keys per tenant; and as many revoked or expired ones, of which the oldest are deleted first. */
export const keysMost = 1_000;
const forgottenAtOnce = 100;

// If more keys than this are used between two flushes, some show an older time of last use.
const lastUsedMost = 10_000;
const writtenAtOnce = 100;

export const keyPerMinuteMost = 1_000_000;

/** `admin` includes all scopes. A key that may read links may read their clicks, as keys from before `stats:read` do. */
export const allows = ({ scopes }: ApiKey, scope: Scope): boolean =>
  scopes.includes(scope) || scopes.includes("admin") || (scope === "stats:read" && scopes.includes("links:read"));

// Letters and digits only: a double click selects the whole key.
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const secretLength = 43; // × log2(62) = 256 bits
const pattern = /^ql_[A-Za-z0-9]{43}$/;

function newSecret(): string {
  let secret = "ql_";
  for (let i = 0; i < secretLength; i++) secret += alphabet.charAt(randomInt(alphabet.length));
  return secret;
}

/** The secret made from these 256 bits. */
function secretFrom(chance: Uint8Array): string {
  let rest = BigInt(`0x${Buffer.from(chance).toString("hex")}`);
  let secret = "ql_";
  for (let i = 0; i < secretLength; i++) {
    secret += alphabet.charAt(Number(rest % BigInt(alphabet.length)));
    rest /= BigInt(alphabet.length);
  }
  return secret;
}

const hashOf = (secret: string): KeyHash => createHash("sha256").update(secret).digest("hex") as KeyHash;

/** Of the secret. */
export type KeyHash = string & { readonly [brand]: "key hash" };
declare const brand: unique symbol;

export interface KeySettings {
  readonly sql: Sql;
  readonly clock: Clock;
  /** Without it, SQL is asked for every call. */
  readonly known?: Pick<Cache<ApiKey, KeyHash>, "peek" | "lookup">;
  readonly publish?: Publish;
}

export function createKeys({ sql, clock, known, publish = () => {} }: KeySettings): Keys {
  const { db } = sql;
  // Keys are used far more often than their last use is read: times are buffered, one per key, until the next flush.
  const lastUsed = new Map<KeyId, number>();
  const inTurn = createOneAtATime(sql);

  const of = (from: Db, tenantId: TenantId) => ofTenant(from, tenantId).selectFrom("api_keys");

  /** Limits a tenant's revoked and expired keys. */
  async function forgetOldest(trx: Trx, tenantId: TenantId, now: number): Promise<void> {
    const dead = of(trx, tenantId)
      .select("id")
      .where((is) => is.or([is("revoked_at", "is not", null), is("expires_at", "<=", now)]))
      .orderBy("id", "desc")
      .offset(keysMost)
      .limit(forgottenAtOnce);
    const ids = (await dead.execute()).map(({ id }) => id);
    if (ids.length > 0) await ofTenant(trx, tenantId).deleteFrom("api_keys").where("id", "in", ids).execute();
  }

  /** Returns the stored row; that of an earlier run of the same request if there is one. */
  const insert = (row: ApiKeyTable, by: Actor): Promise<Selectable<ApiKeyTable>> =>
    inTurn(row.tenant_id, async (trx) => {
      const { tenant_id: tenantId, id, hash, created_at: now } = row;
      const made = await of(trx, tenantId).selectAll().where("id", "=", id).where("hash", "=", hash).executeTakeFirst();
      if (made) return made;
      await requireStillAllowed(trx, tenantId, by, toKey(row).scopes);
      const working = of(trx, tenantId)
        .select("id")
        .where("revoked_at", "is", null)
        .where((is) => is.or([is("expires_at", "is", null), is("expires_at", ">", now)]))
        .limit(keysMost);
      if ((await working.execute()).length >= keysMost) {
        throw new Problem(
          "collection_full",
          `A workspace can have at most ${keysMost.toLocaleString("en")} active API keys. Revoke one you do not use.`,
        );
      }
      await forgetOldest(trx, tenantId, now);
      await ofTenant(trx, tenantId).insertInto("api_keys").values(row).execute();
      const { name, hint, scopes, expiresAt, apiPerMinute } = toKey(row);
      await record(trx, row, by, "key.create", { after: { name, hint, scopes, expiresAt, apiPerMinute } });
      return row;
    });

  /**
   * Removing somebody asks about the keys that they have, so a call that began before must not make another one after it. Nor may
   * a role that was taken away, or a key that was revoked.
   */
  async function requireStillAllowed(trx: Trx, tenant: TenantId, by: Actor, scopes: readonly Scope[]): Promise<void> {
    if (by.kind !== "person" && by.kind !== "key") return;
    const role = await roleOf(sql, trx, tenant, by);
    if (by.kind === "key" || (roleAllows(role, "admin") && scopes.every((scope) => roleAllows(role, scope)))) return;
    throw new Problem("forbidden", "Your role in this workspace no longer allows this.");
  }

  const record = (
    trx: Trx,
    { tenant_id: tenant, id, name }: Pick<ApiKeyTable, "tenant_id" | "id" | "name">,
    actor: Actor,
    action: string,
    change: Pick<HistoryEntry, "before" | "after">,
  ) => recordHistory(trx, clock, { tenant, actor, action, subject: { kind: "key", id, name }, ...change });

  return {
    async create(tenantId, { name, scopes, expiresAt = null, apiPerMinute = null, createdBy, once }, by) {
      const secret = once ? secretFrom(once.chance) : newSecret();
      const row: ApiKeyTable = {
        id: once?.id ?? newId("key", clock),
        tenant_id: tenantId,
        name,
        hint: `${secret.slice(0, 8)}…`,
        hash: hashOf(secret),
        scopes: JSON.stringify([...new Set(scopes)]),
        created_at: clock.now(),
        expires_at: expiresAt,
        revoked_at: null,
        last_used_at: null,
        api_per_minute: apiPerMinute,
        created_by: createdBy ?? (by.kind === "person" ? by.id : null),
      };
      return { key: toKey(await insert(row, by)), secret };
    },

    async authenticate(secret) {
      if (!pattern.test(secret)) return undefined;
      const hash = hashOf(secret);
      const { value: key } = known?.peek(hash) ?? (await (known?.lookup(hash) ?? keySource(sql).load(hash, 0)));
      if (key === undefined || (key.expiresAt ?? Infinity) <= clock.now()) return undefined;
      if (lastUsed.size < lastUsedMost || lastUsed.has(key.id)) lastUsed.set(key.id, clock.now());
      return key;
    },

    async isValid(tenantId, id) {
      const row = await selectEnd.first(ofTenant(db, tenantId), { id });
      return row !== undefined && row.revoked_at === null && (row.expires_at ?? Infinity) > clock.now();
    },

    async list(tenantId, limit, before) {
      let query = of(db, tenantId).selectAll();
      if (before !== undefined) query = query.where("id", "<", before);
      return (await query.orderBy("id", "desc").limit(limit).execute()).map(toKey);
    },

    async revoke(tenantId, id, by) {
      const changes = await sql.transaction(async (trx) => {
        const columns = ["id", "tenant_id", "name", "hint", "hash", "revoked_at"] as const;
        const key = of(trx, tenantId).select(columns).where("id", "=", id);
        const row = await sql.forUpdate(key).executeTakeFirst();
        if (row === undefined) return undefined;
        if (row.revoked_at !== null) return [];
        const changes = await raiseVersions(sql, trx, { kind: "key", keys: [row.hash] }, clock.now());
        const revoked = { revoked_at: clock.now() };
        await ofTenant(trx, tenantId).updateTable("api_keys").set(revoked).where("id", "=", id).execute();
        await dropInvitationsOfKeys(trx, tenantId, [id]);
        await record(trx, row, by, "key.revoke", { before: { name: row.name, hint: row.hint } });
        return changes;
      });
      for (const change of changes ?? []) publish(change);
      return changes !== undefined;
    },

    async flush() {
      // Sorted by ID: two servers that write the same keys wait for each other without a deadlock.
      const waiting = [...lastUsed].toSorted(([a], [b]) => (a < b ? -1 : 1));
      for (let start = 0; start < waiting.length; start += writtenAtOnce) {
        if (start > 0) await letOthers();
        const some = waiting.slice(start, start + writtenAtOnce);
        await sql.transaction(async (trx) => {
          for (const [id, at] of some) {
            await setLastUsed.run(trx, { id, at });
          }
        });
        // Only what was written, and only if it was not used again meanwhile.
        for (const [id, at] of some) if (lastUsed.get(id) === at) lastUsed.delete(id);
      }
    },
  };
}

/** A revoked key is like one that never was. Reads the version first: the row can only be newer. */
export const keySource = ({ db }: Sql): Source<ApiKey> => ({
  async load(hash) {
    const version = (await selectVersion.first(db, { hash }))?.version ?? 0;
    const row = await selectByHash.first(db, { hash });
    return { version, value: row === undefined || row.revoked_at !== null ? undefined : toKey(row) };
  },
});

/** Estimated, in bytes. */
export const sizeOfKey = ({ name, scopes }: ApiKey): number => 700 + 2 * name.length + 50 * scopes.length;

const selectVersion = statement((db: Db, { hash }: Params<{ hash: string }>) =>
  db.selectFrom("versions").select("version").where("kind", "=", "key").where("key", "=", hash),
);

const columns = [
  ...(["id", "tenant_id", "name", "hint", "hash", "scopes", "created_at", "expires_at", "revoked_at"] as const),
  ...(["last_used_at", "api_per_minute", "created_by"] as const),
] as const;

const selectByHash = statement((db: Db, { hash }: Params<{ hash: string }>) =>
  acrossTenants(db).selectFrom("api_keys").select(columns).where("hash", "=", hash),
);

const selectEnd = statement((own: TenantDb, { id }: Params<{ id: KeyId }>) =>
  own.selectFrom("api_keys").select(["revoked_at", "expires_at"]).where("id", "=", id),
);

const setLastUsed = statement((db: Db, { id, at }: Params<{ id: KeyId; at: number }>) =>
  acrossTenants(db)
    .updateTable("api_keys")
    .set({ last_used_at: at })
    .where("id", "=", id)
    .where((is) => is.or([is("last_used_at", "is", null), is("last_used_at", "<", at)])),
);

function toKey(row: Selectable<ApiKeyTable>): ApiKey {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    name: row.name,
    hint: row.hint,
    scopes: JSON.parse(row.scopes) as Scope[],
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
    apiPerMinute: row.api_per_minute,
    createdBy: row.created_by,
  };
}
