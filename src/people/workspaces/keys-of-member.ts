import { Problem } from "../../base/errors.ts";
import type { KeyId, PersonId, TenantId } from "../../base/ids.ts";
import { acrossTenants, ofTenant, type Trx } from "../../sql/tenant-db.ts";
import type { RaiseKeys } from "../../sql/versions.ts";
import { dropInvitationsOfKeys } from "./drop-invitations.ts";

/**
 * API keys belong to the workspace, and somebody who created one may still have its secret. So removing a person asks what
 * becomes of the keys that they created and that still work.
 */
export type KeysOfMember = "keep" | "revoke";

interface Removed {
  readonly tenant: TenantId;
  readonly person: PersonId;
  readonly now: number;
}

/** Those to revoke; throws if nobody has decided. The workspace is locked, so that it gets no others meanwhile. */
export async function keysToRevoke(
  trx: Trx,
  { tenant, person, now }: Removed,
  keys: KeysOfMember | undefined,
): Promise<readonly KeyId[]> {
  const working = ofTenant(trx, tenant)
    .selectFrom("api_keys")
    .select("id")
    .where("created_by", "=", person)
    .where("revoked_at", "is", null)
    .where((is) => is.or([is("expires_at", "is", null), is("expires_at", ">", now)]));
  const ids = (await working.orderBy("id").execute()).map(({ id }) => id);
  if (ids.length === 0 || keys === "keep") return [];
  if (keys === "revoke") return ids;
  const count = ids.length === 1 ? "an API key that works" : `${ids.length} API keys that work`;
  throw new Problem(
    "keys_undecided",
    `This person created ${count}. Say what becomes of ${ids.length === 1 ? "it" : "them"}: keys=keep or keys=revoke.`,
    { figures: { keys: ids.length } },
  );
}

/** The versions of all keys that a person has created, in any workspace: each may be revoked now, or lose its creator. */
export async function raisedKeysOf(trx: Trx, person: PersonId): Promise<RaiseKeys> {
  const own = acrossTenants(trx).selectFrom("api_keys").select("hash").where("created_by", "=", person);
  return { kind: "key", keys: (await own.execute()).map(({ hash }) => hash) };
}

/** The caller has raised their versions. */
export async function revokeKeys(trx: Trx, { tenant, now }: Removed, ids: readonly KeyId[]): Promise<void> {
  if (ids.length === 0) return;
  await ofTenant(trx, tenant).updateTable("api_keys").set({ revoked_at: now }).where("id", "in", ids).execute();
  await dropInvitationsOfKeys(trx, tenant, ids);
}
