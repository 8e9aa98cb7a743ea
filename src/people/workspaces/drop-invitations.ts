import type { KeyId, PersonId, TenantId } from "../../base/ids.ts";
import { ofTenant, type Trx } from "../../sql/tenant-db.ts";
import { mayGrant, type Role, roles } from "../roles.ts";

/**
 * Deletes what a person may no longer grant, with the role that they have from now on: an invitation that a removed admin
 * kept would let them in again.
 */
export async function dropInvitations(trx: Trx, tenant: TenantId, inviter: PersonId, role: Role | null): Promise<void> {
  const lost = role === null ? roles : roles.filter((other) => !mayGrant(role, other));
  if (lost.length === 0) return;
  const made = ofTenant(trx, tenant).deleteFrom("invitations").where("inviter_id", "=", inviter);
  await made.where("role", "in", lost).execute();
}

/**
 * Deletes what was made or sent again with these keys, which are revoked: whoever had one may have the link. The history says
 * who did it, and keeps that for longer than an invitation lives.
 */
export async function dropInvitationsOfKeys(trx: Trx, tenant: TenantId, keys: readonly KeyId[]): Promise<void> {
  const own = ofTenant(trx, tenant);
  const open = (await own.selectFrom("invitations").select("id").execute()).map(({ id }) => id);
  if (open.length === 0 || keys.length === 0) return;
  const rows = own.selectFrom("history").select("subject_id").where("subject_id", "in", open);
  const had = new Set((await rows.where("actor_id", "in", keys).execute()).map(({ subject_id }) => subject_id));
  const lost = open.filter((id) => had.has(id));
  if (lost.length > 0) await own.deleteFrom("invitations").where("id", "in", lost).execute();
}
