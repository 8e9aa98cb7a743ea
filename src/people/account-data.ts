import type { Clock } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import type { HistoryId, PersonId, TenantId } from "../base/ids.ts";
import { type Actor, recordHistory } from "../history/history.ts";
import { withoutJsonField } from "../sql/json-field.ts";
import type { Sql } from "../sql/sql.ts";
import { acrossTenants, ofTenant, type Trx } from "../sql/tenant-db.ts";
import { requireOtherOperator } from "./operator/operators.ts";
import { mailboxOf } from "./person.ts";
import type { Publishing, Sessions } from "./sessions.ts";
import { dropInvitations } from "./workspaces/drop-invitations.ts";
import { type KeysOfMember, keysToRevoke, raisedKeysOf, revokeKeys } from "./workspaces/keys-of-member.ts";

/**
 * A person's data: what is stored about them, without secrets; and its end. An account that is deleted leaves its links,
 * files and keys to their workspaces. Its name, address and sessions go, and rows of history keep an ID that nothing leads to.
 */
export interface AccountData {
  read(person: PersonId): Promise<StoredAboutPerson>;
  /** Throws if a workspace with other members, or the server, would be left without anybody who runs it. */
  erase(person: PersonId, keys?: KeysOfMember): Promise<void>;
}

export interface StoredAboutPerson {
  readonly keys: readonly StoredKey[];
  readonly passkeys: readonly { name: string; createdAt: number; lastUsedAt: number | null }[];
  readonly identities: readonly { issuer: string; createdAt: number }[];
  readonly devices: readonly { device: string; createdAt: number; expiresAt: number }[];
  /** What they did, and what was done to their account: the newest, at most `historyMost` of each. */
  readonly did: readonly StoredHistory[];
  readonly about: readonly StoredHistory[];
}

export interface StoredKey {
  readonly workspace: TenantId;
  readonly name: string;
  readonly hint: string;
  readonly createdAt: number;
  readonly revokedAt: number | null;
}

export interface StoredHistory {
  readonly at: number;
  /** Null: of no workspace. */
  readonly workspace: TenantId | null;
  readonly action: string;
  readonly subject: string;
  readonly before: unknown;
  readonly after: unknown;
}

export const historyMost = 10_000;
const rowsAtOnce = 500;
const keysMost = 1_000;

export interface AccountDataSettings {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly sessions: Pick<Sessions, "touch">;
}

export function createAccountData({ sql, clock, sessions }: AccountDataSettings): AccountData {
  const { db } = sql;

  /** In pages, so that no statement takes long. */
  async function historyOf(tenant: TenantId | "", column: "actor_id" | "subject_id", id: PersonId, most: number) {
    const rows: StoredHistory[] = [];
    for (let before: HistoryId | undefined; rows.length < most; ) {
      let query = ofTenant(db, tenant)
        .selectFrom("history")
        .select(["id", "at", "tenant_id", "action", "subject_id", "before_change", "after_change"])
        .where(column, "=", id);
      if (before !== undefined) query = query.where("id", "<", before);
      const page = await query
        .orderBy("id", "desc")
        .limit(Math.min(rowsAtOnce, most - rows.length))
        .execute();
      rows.push(...page.map(toStored));
      before = page.at(-1)?.id;
      if (page.length < rowsAtOnce) break;
    }
    return rows;
  }

  /** In all workspaces, also those that they left. */
  async function didOf(id: PersonId): Promise<StoredHistory[]> {
    const places = acrossTenants(db).selectFrom("history").select("tenant_id").distinct().where("actor_id", "=", id);
    const rows: StoredHistory[] = [];
    for (const { tenant_id: tenant } of await places.execute()) {
      rows.push(...(await historyOf(tenant, "actor_id", id, historyMost - rows.length)));
    }
    return rows.sort((one, other) => other.at - one.at);
  }

  return {
    async read(id) {
      const keys = await acrossTenants(db)
        .selectFrom("api_keys")
        .select(["tenant_id as workspace", "name", "hint", "created_at as createdAt", "revoked_at as revokedAt"])
        .where("created_by", "=", id)
        .limit(keysMost)
        .execute();
      const passkeys = await db
        .selectFrom("passkeys")
        .select(["name", "created_at as createdAt", "last_used_at as lastUsedAt"])
        .where("person_id", "=", id)
        .execute();
      const identities = await db
        .selectFrom("identities")
        .select(["issuer", "created_at as createdAt"])
        .where("person_id", "=", id)
        .execute();
      const devices = await db
        .selectFrom("known_devices")
        .select(["device", "created_at as createdAt", "expires_at as expiresAt"])
        .where("person_id", "=", id)
        .execute();
      const [did, about] = [await didOf(id), await historyOf("", "subject_id", id, historyMost)];
      return { keys, passkeys, identities, devices, did, about };
    },

    async erase(id, keys) {
      const actor: Actor = { kind: "person", id };
      const published = await sql.transaction(async (trx): Promise<Publishing> => {
        const tenants = await lockWorkspaces(sql, trx, id);
        for (const tenant of tenants) await requireOwnerAfter(trx, tenant, id);
        await requireOtherOperator(sql, trx, id); // locks the person, who can join nothing from now on
        await requireThere(trx, id);
        if ((await workspacesOf(trx, id)).length !== tenants.length) throw changedMeanwhile();
        const published = await sessions.touch(trx, [id], await raisedKeysOf(trx, id));
        for (const tenant of tenants) {
          const removed = { tenant, person: id, now: clock.now() };
          const revoked = await keysToRevoke(trx, removed, keys);
          await revokeKeys(trx, removed, revoked);
          await dropInvitations(trx, tenant, id, null);
          await recordHistory(trx, clock, {
            ...{ tenant, actor, action: "member.leave", subject: { kind: "person", id } },
            after: revoked.length === 0 ? null : { revokedKeys: revoked },
          });
        }
        await acrossTenants(trx)
          .updateTable("api_keys")
          .set({ created_by: null })
          .where("created_by", "=", id)
          .execute();
        await dropAddress(sql, trx, id);
        // Names and addresses as they were before a change.
        await ofTenant(trx, "")
          .updateTable("history")
          .set({ before_change: null, after_change: null })
          .where("subject_id", "=", id)
          .execute();
        // Sessions, memberships, tokens and factors go with it.
        await trx.deleteFrom("people").where("id", "=", id).execute();
        await recordHistory(trx, clock, {
          ...{ tenant: "", actor, action: "person.delete", subject: { kind: "person", id } },
        });
        return published;
      });
      published();
    },
  };
}

/** All workspaces of the person, so that nobody joins or leaves them meanwhile. */
async function lockWorkspaces(sql: Sql, trx: Trx, person: PersonId): Promise<TenantId[]> {
  const ids = await workspacesOf(trx, person);
  if (ids.length === 0) return [];
  const rows = trx.selectFrom("tenants").select("id").where("id", "in", ids).orderBy("id");
  return (await sql.forUpdate(rows).execute()).map((row) => row.id);
}

async function workspacesOf(trx: Trx, person: PersonId): Promise<TenantId[]> {
  const own = acrossTenants(trx).selectFrom("members").select("tenant_id").where("person_id", "=", person);
  return (await own.orderBy("tenant_id").execute()).map((row) => row.tenant_id);
}

/** Out of the history of workspaces that had invited them, under any address that the account had. */
async function dropAddress(sql: Sql, trx: Trx, person: PersonId): Promise<void> {
  const own = trx.selectFrom("people").select("mailbox").where("id", "=", person);
  const changes = ofTenant(trx, "")
    .selectFrom("history")
    .select(["before_change", "after_change"])
    .where("subject_id", "=", person)
    .where("action", "=", "person.update")
    .orderBy("id", "desc")
    .limit(historyMost);
  const former = (await changes.execute()).flatMap(({ before_change, after_change }) => [
    emailIn(before_change),
    emailIn(after_change),
  ]);
  const mailboxes = new Set([...(await own.execute()).map(({ mailbox }) => mailbox), ...former.map(mailboxOf)]);
  for (const mailbox of mailboxes) {
    await acrossTenants(trx)
      .updateTable("history")
      .set({
        before_change: withoutJsonField(sql, "before_change", "email"),
        after_change: withoutJsonField(sql, "after_change", "email"),
        mailbox: null,
      })
      .where("mailbox", "=", mailbox ?? "")
      .execute();
  }
}

function emailIn(text: string | null): string {
  const { email } = (text === null ? {} : JSON.parse(text)) as { email?: unknown };
  return typeof email === "string" ? email : "";
}

/** Of two requests at once, the second finds nobody. */
async function requireThere(trx: Trx, person: PersonId): Promise<void> {
  const row = await trx.selectFrom("people").select("id").where("id", "=", person).executeTakeFirst();
  if (row === undefined) throw new Problem("unauthorized", "Your account was deleted.");
}

/** They joined or left a workspace while it was asked for, whose owners and keys were not looked at. */
const changedMeanwhile = (): Problem =>
  new Problem("busy", "Your workspaces just changed. Try again.", { retryAfterSeconds: 1 });

async function requireOwnerAfter(trx: Trx, tenant: TenantId, person: PersonId): Promise<void> {
  const members = await ofTenant(trx, tenant)
    .selectFrom("members")
    .innerJoin("people", "people.id", "members.person_id")
    .select(["people.id", "members.role", "people.disabled_at"])
    .execute();
  const isOwner = members.some(({ id, role }) => id === person && role === "owner");
  const others = members.filter(({ id }) => id !== person);
  const remains = others.some(({ role, disabled_at }) => role === "owner" && disabled_at === null);
  if (!isOwner || others.length === 0 || remains) return;
  const row = await trx.selectFrom("tenants").select("name").where("id", "=", tenant).executeTakeFirst();
  throw new Problem(
    "last_owner",
    `You are the only owner of the workspace ${row?.name ?? tenant}, which has other members. Make one of them owner first.`,
  );
}

interface HistoryRow {
  readonly at: number;
  readonly tenant_id: TenantId | "";
  readonly action: string;
  readonly subject_id: string;
  readonly before_change: string | null;
  readonly after_change: string | null;
}

const parsed = (text: string | null): unknown => (text === null ? null : JSON.parse(text));

const toStored = (row: HistoryRow): StoredHistory => ({
  ...{
    at: row.at,
    workspace: row.tenant_id === "" ? null : row.tenant_id,
    action: row.action,
    subject: row.subject_id,
  },
  ...{ before: parsed(row.before_change), after: parsed(row.after_change) },
});
