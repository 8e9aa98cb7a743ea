import { createHash, randomInt } from "node:crypto";
import type { Selectable } from "kysely";
import type { Clock } from "../base/clock.ts";
import { type KeyId, newId, type TenantId } from "../base/ids.ts";
import type { ApiKeyTable } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";
import { acrossTenants, ofTenant } from "../sql/tenant-db.ts";

/**
 * API keys: `ql_` and 256 bits of chance, shown once. SQL has only their SHA-256. A slow hash would protect guessable
 * secrets; these cannot be guessed, and the lookup by hash is one point read without comparing secrets anywhere.
 */
export const scopes = [
  ...(["links:read", "links:write", "files:read", "files:write"] as const),
  ...(["usage:read", "email:read", "email:send", "admin"] as const),
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
  /** Calls per minute that this key may make of the tenant's; null is as many as the tenant may. */
  readonly apiPerMinute: number | null;
}

export interface NewKey {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt?: number | null;
  readonly apiPerMinute?: number | null;
  /** Chosen before it was first asked for: asked for again, the key that has it is the answer. */
  readonly once?: { readonly id: KeyId; readonly chance: Uint8Array };
}

export interface Keys {
  /** The secret is in this answer and never again. */
  create(tenantId: TenantId, key: NewKey): Promise<{ key: ApiKey; secret: string }>;
  /** Whose key this is, if it is one that still works. */
  authenticate(secret: string): Promise<ApiKey | undefined>;
  list(tenantId: TenantId): Promise<ApiKey[]>;
  /** False when there is no such key; revoking twice is the same as once. */
  revoke(tenantId: TenantId, id: KeyId): Promise<boolean>;
  /** Writes the times of last use that were kept back. */
  flush(): Promise<void>;
}

export const keyPerMinuteMost = 1_000_000;

/** Admin covers everything; everything else covers itself. */
export const allows = (key: ApiKey, scope: Scope): boolean =>
  key.scopes.includes(scope) || key.scopes.includes("admin");

// Letters and digits only: a double click selects the whole key.
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const secretLength = 43; // × log2(62) = 256 bits
const pattern = /^ql_[A-Za-z0-9]{43}$/;

function newSecret(): string {
  let secret = "ql_";
  for (let i = 0; i < secretLength; i++) secret += alphabet.charAt(randomInt(alphabet.length));
  return secret;
}

/** The one that these 256 bits give. */
function secretFrom(chance: Uint8Array): string {
  let rest = BigInt(`0x${Buffer.from(chance).toString("hex")}`);
  let secret = "ql_";
  for (let i = 0; i < secretLength; i++) {
    secret += alphabet.charAt(Number(rest % BigInt(alphabet.length)));
    rest /= BigInt(alphabet.length);
  }
  return secret;
}

const hashOf = (secret: string): string => createHash("sha256").update(secret).digest("hex");

export function createKeys(sql: Sql, clock: Clock): Keys {
  const { db } = sql;
  // A key is used far more often than anybody asks when it was: times wait here, one per key, for the next flush.
  const lastUsed = new Map<KeyId, number>();

  /** The row that an earlier run of the same request left. */
  const made = ({ tenant_id, id, hash }: ApiKeyTable) =>
    ofTenant(db, tenant_id)
      .selectFrom("api_keys")
      .selectAll()
      .where((expression) => expression.and({ id, hash }))
      .executeTakeFirstOrThrow();

  return {
    async create(tenantId, { name, scopes, expiresAt = null, apiPerMinute = null, once }) {
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
      };
      const inserted = await ofTenant(db, tenantId)
        .insertInto("api_keys")
        .values(row)
        .onConflict((conflict) => conflict.column("id").doNothing())
        .returning("id")
        .executeTakeFirst();
      return { key: toKey(inserted ? row : await made(row)), secret };
    },

    async authenticate(secret) {
      if (!pattern.test(secret)) return undefined;
      const row = await acrossTenants(db)
        .selectFrom("api_keys")
        .selectAll()
        .where("hash", "=", hashOf(secret))
        .executeTakeFirst();
      if (!row || row.revoked_at !== null) return undefined;
      if (row.expires_at !== null && row.expires_at <= clock.now()) return undefined;
      lastUsed.set(row.id, clock.now());
      return toKey(row);
    },

    async list(tenantId) {
      const rows = await ofTenant(db, tenantId).selectFrom("api_keys").selectAll().orderBy("id", "desc").execute();
      return rows.map(toKey);
    },

    async revoke(tenantId, id) {
      const { numUpdatedRows } = await ofTenant(db, tenantId)
        .updateTable("api_keys")
        .set((expression) => ({ revoked_at: expression.fn.coalesce("revoked_at", expression.val(clock.now())) }))
        .where("id", "=", id)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async flush() {
      for (const [id, at] of [...lastUsed]) {
        await acrossTenants(db)
          .updateTable("api_keys")
          .set({ last_used_at: at })
          .where("id", "=", id)
          .where((expression) =>
            expression.or([expression("last_used_at", "is", null), expression("last_used_at", "<", at)]),
          )
          .execute();
        // Only what was written, and only if it was not used again meanwhile.
        if (lastUsed.get(id) === at) lastUsed.delete(id);
      }
    },
  };
}

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
  };
}
