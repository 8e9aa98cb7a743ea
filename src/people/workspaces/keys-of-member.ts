import { Problem } from "../../base/errors.ts";
import type { KeyId, PersonId, TenantId } from "../../base/ids.ts";
import { ofTenant, type Trx } from "../../sql/tenant-db.ts";
import { dropInvitationsOfKeys } from "./drop-invitations.ts";

/**
 * API keys belong to the workspace, and somebody who created one may still have its secret. So removing a person asks what
 * becomes of the keys that they created and that still work.
 */
export type KeysOfMember = "keep" | "revoke";

/** Returns those that it revoked. */
export async function decideKeys(
  trx: Trx,
  { tenant, person, now }: { readonly tenant: TenantId; readonly person: PersonId; readonly now: number },
  keys: KeysOfMember | undefined,
): Promise<readonly KeyId[]> {
  const own = ofTenant(trx, tenant);
  const working = own
    .selectFrom("api_keys")
    .select("id")
    .where("created_by", "=", person)
    .where("revoked_at", "is", null)
    .where((is) => is.or([is("expires_at", "is", null), is("expires_at", ">", now)]));
  const ids = (await working.orderBy("id").execute()).map(({ id }) => id);
  if (ids.length === 0 || keys === "keep") return [];
  if (keys === undefined) {
    const count = ids.length === 1 ? "an API key that works" : `${ids.length} API keys that work`;
    throw new Problem(
      "keys_undecided",
      `This person created ${count}. Say what becomes of ${ids.length === 1 ? "it" : "them"}: keys=keep or keys=revoke.`,
      { figures: { keys: ids.length } },
    );
  }
  await own.updateTable("api_keys").set({ revoked_at: now }).where("id", "in", ids).execute();
  await dropInvitationsOfKeys(trx, tenant, ids);
  return ids;
}
