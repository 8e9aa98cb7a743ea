import type { PersonId, SessionId, TenantId } from "../base/ids.ts";
import type { Source } from "../cache/cache.ts";
import type { SignInMethod } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";
import { type Params, statement } from "../sql/statement.ts";
import { acrossTenants, type Db } from "../sql/tenant-db.ts";
import { type Person, personColumns, toPerson } from "./person.ts";
import type { Role } from "./roles.ts";

/**
 * What decides every answer to a person: the account, its sessions, and the workspaces it belongs to. It has one version,
 * in the change feed under the kind `session`, and is kept in memory as one entry: whatever ends a session, changes a role
 * or disables an account raises it, and is seen everywhere within the promise of an edit.
 */
export interface PersonAccess {
  readonly person: Person;
  /** By the hash of their secret. */
  readonly sessions: ReadonlyMap<string, Session>;
  readonly memberships: readonly Membership[];
}

export interface Session {
  readonly id: SessionId;
  readonly personId: PersonId;
  readonly method: SignInMethod;
  readonly device: string;
  /** The workspace that was chosen last. */
  readonly workspace: TenantId | null;
  readonly createdAt: number;
  /** When the person last proved who they are. */
  readonly provedAt: number;
  /** As stored: up to some minutes old. */
  readonly seenAt: number;
  /** Ends after so long without use. */
  readonly idleMs: number;
  readonly expiresAt: number;
}

export interface Membership {
  readonly tenant: TenantId;
  readonly slug: string;
  readonly name: string;
  readonly role: Role;
}

/** Of one person. The oldest end when there are more. */
export const sessionsMost = 50;

/** Reads the version first: what is read after it can only be newer, never older. */
export const accessSource = ({ db }: Sql): Source<PersonAccess> => ({
  async load(key) {
    const id = key as PersonId;
    const version = (await selectVersion.first(db, { id }))?.version ?? 0;
    const row = await selectPerson.first(db, { id });
    if (row === undefined || row.disabled_at !== null) return { version, value: undefined };
    const [sessions, memberships] = [await selectSessions.all(db, { id }), await selectMemberships.all(db, { id })];
    return {
      version,
      value: {
        person: toPerson(row),
        sessions: new Map(sessions.map(({ hash, ...session }) => [hash, session])),
        memberships,
      },
    };
  },
});

export const sizeOfAccess = ({ sessions, memberships }: PersonAccess): number =>
  500 + 600 * sessions.size + 300 * memberships.length;

const selectVersion = statement((db: Db, { id }: Params<{ id: PersonId }>) =>
  db.selectFrom("versions").select("version").where("kind", "=", "session").where("key", "=", id),
);

const selectPerson = statement((db: Db, { id }: Params<{ id: PersonId }>) =>
  db.selectFrom("people").select(personColumns).where("id", "=", id),
);

const selectSessions = statement((db: Db, { id }: Params<{ id: PersonId }>) =>
  db
    .selectFrom("sessions")
    .select(["hash", "id", "person_id as personId", "method", "device", "workspace_id as workspace"])
    .select(["created_at as createdAt", "proved_at as provedAt", "seen_at as seenAt", "idle_ms as idleMs"])
    .select("expires_at as expiresAt")
    .where("person_id", "=", id)
    .orderBy("id", "desc")
    .limit(sessionsMost),
);

const selectMemberships = statement((db: Db, { id }: Params<{ id: PersonId }>) =>
  acrossTenants(db)
    .selectFrom("members as m")
    .innerJoin("tenants as t", "t.id", "m.tenant_id")
    .select(["t.id as tenant", "t.slug", "t.name", "m.role"])
    .where("m.person_id", "=", id)
    .where("t.delete_at", "is", null)
    .orderBy("t.name"),
);
