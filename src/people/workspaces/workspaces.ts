import { type Clock, dayMs } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import type { PersonId, TenantId } from "../../base/ids.ts";
import type { Publish } from "../../cache/feed.ts";
import { type Actor, recordHistory } from "../../history/history.ts";
import type { Sql } from "../../sql/sql.ts";
import { acrossTenants, ofTenant, type Trx } from "../../sql/tenant-db.ts";
import { raiseVersions } from "../../sql/versions.ts";
import { createOneAtATime } from "../../tenants/one-at-a-time.ts";
import { raisedTenant } from "../../tenants/tenant-number.ts";
import { insertTenant, requireSlug, whileUnique } from "../../tenants/tenants.ts";
import type { Role } from "../roles.ts";
import type { Sessions } from "../sessions.ts";
import { roleOf } from "./current-role.ts";

/**
 * Workspaces as their people see them: create, rename, delete, restore.
 *
 * A deleted workspace stops at once: its links and API keys answer like those of a suspended one, and its members no
 * longer see it. Nothing is lost for 30 days, in which an owner or the operator can restore it. Then a job erases it
 * (`erase.ts`).
 */
export interface Workspaces {
  create(by: PersonId, workspace: NewWorkspace): Promise<TenantId>;
  change(tenant: TenantId, by: Actor, change: WorkspaceChange): Promise<void>;
  /** When it will be erased. Deleting it again changes nothing. */
  remove(tenant: TenantId, by: WorkspaceRight): Promise<number>;
  restore(tenant: TenantId, by: WorkspaceRight): Promise<void>;
  /** Those of a person, deleted ones too. */
  ofPerson(person: PersonId): Promise<PersonsWorkspace[]>;
}

export interface NewWorkspace {
  readonly slug: string;
  readonly name: string;
}

export interface WorkspaceChange {
  readonly slug?: string | undefined;
  readonly name?: string | undefined;
}

/** An operator needs to be no member. */
export interface WorkspaceRight {
  readonly actor: Actor;
  readonly isOperator: boolean;
}

export interface PersonsWorkspace {
  readonly id: TenantId;
  readonly slug: string;
  readonly name: string;
  readonly role: Role;
  readonly isSuspended: boolean;
  readonly deleteAt: number | null;
}

/** Of one person: all of them are read with each of their sessions. */
export const workspacesMost = 100;
const graceMs = 30 * dayMs;

export interface WorkspaceSettings {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly sessions: Pick<Sessions, "touch">;
  readonly publish: Publish;
}

export function createWorkspaces({ sql, clock, sessions, publish }: WorkspaceSettings): Workspaces {
  const { db } = sql;
  const inTurn = createOneAtATime(sql);

  const peopleOf = async (trx: Trx, tenant: TenantId): Promise<PersonId[]> =>
    (await ofTenant(trx, tenant).selectFrom("members").select("person_id").execute()).map((row) => row.person_id);

  /** With its domains and its members: all that answers differently once it is deleted or restored. */
  async function setDeleteAt(tenant: TenantId, by: WorkspaceRight, deleteAt: number | null): Promise<number | null> {
    const { changes, before } = await inTurn(tenant, async (trx) => {
      await requireOwner(sql, trx, tenant, by);
      const row = await trx
        .selectFrom("tenants")
        .select(["slug", "delete_at"])
        .where("id", "=", tenant)
        .executeTakeFirst();
      if (row === undefined) throw noSuchWorkspace();
      const isDeleted = row.delete_at !== null;
      if (isDeleted === (deleteAt !== null)) return { changes: [], before: row.delete_at };
      if (row.delete_at !== null && row.delete_at <= clock.now()) throw noSuchWorkspace();
      const domains = ofTenant(trx, tenant).selectFrom("domains").select("host").where("state", "=", "verified");
      const hosts = (await domains.execute()).map(({ host }) => host);
      const people = await peopleOf(trx, tenant);
      const raises = [{ kind: "domain", keys: hosts } as const, { kind: "session", keys: people } as const];
      const changes = await raiseVersions(sql, trx, [...raises, await raisedTenant(trx, tenant)], clock.now());
      await trx.updateTable("tenants").set({ delete_at: deleteAt }).where("id", "=", tenant).execute();
      await recordHistory(trx, clock, {
        ...{ tenant, actor: by.actor, action: deleteAt === null ? "workspace.restore" : "workspace.delete" },
        ...{ subject: { kind: "workspace", id: tenant }, after: { deleteAt } },
      });
      return { changes, before: deleteAt };
    });
    for (const change of changes) publish(change);
    return before;
  }

  return {
    async create(by, { slug, name }) {
      const { id, published } = await sql.transaction(async (trx) => {
        await requireRoom(sql, trx, by);
        // Before the versions: it is one of the rows that others wait for.
        const id = await insertTenant(trx, clock, { slug, name });
        const published = await sessions.touch(trx, [by]);
        const own = ofTenant(trx, id);
        await own.insertInto("members").values({ person_id: by, role: "owner", created_at: clock.now() }).execute();
        const actor: Actor = { kind: "person", id: by };
        await recordHistory(trx, clock, {
          ...{
            tenant: id,
            actor,
            action: "workspace.create",
            subject: { kind: "workspace", id },
            after: { slug, name },
          },
        });
        return { id, published };
      });
      published();
      return id;
    },

    async change(tenant, by, { slug, name }) {
      if (slug !== undefined) requireSlug(slug);
      const published = await inTurn(tenant, async (trx) => {
        const before = await trx
          .selectFrom("tenants")
          .select(["slug", "name"])
          .where("id", "=", tenant)
          .executeTakeFirst();
        if (before === undefined) throw noSuchWorkspace();
        const after = { slug: slug ?? before.slug, name: name ?? before.name };
        if (after.slug === before.slug && after.name === before.name) return () => {};
        const published = await sessions.touch(trx, await peopleOf(trx, tenant), await raisedTenant(trx, tenant));
        await whileUnique(after.slug, () => trx.updateTable("tenants").set(after).where("id", "=", tenant).execute());
        await recordHistory(trx, clock, {
          ...{
            tenant,
            actor: by,
            action: "workspace.update",
            subject: { kind: "workspace", id: tenant },
            before,
            after,
          },
        });
        return published;
      });
      published();
    },

    remove: async (tenant, by) => (await setDeleteAt(tenant, by, clock.now() + graceMs)) ?? 0,

    async restore(tenant, by) {
      await setDeleteAt(tenant, by, null);
    },

    async ofPerson(person) {
      const rows = await acrossTenants(db)
        .selectFrom("members as m")
        .innerJoin("tenants as t", "t.id", "m.tenant_id")
        .leftJoin("suspended_tenants as s", "s.tenant_id", "t.id")
        .select(["t.id", "t.slug", "t.name", "m.role", "t.delete_at as deleteAt", "s.suspended_at"])
        .where("m.person_id", "=", person)
        .orderBy("t.name")
        .orderBy("t.id")
        .limit(workspacesMost)
        .execute();
      return rows.map(({ suspended_at, ...row }) => ({ ...row, isSuspended: suspended_at !== null }));
    },
  };
}

/** Locks the person, so that two requests at once cannot exceed the number together. */
export async function requireRoom(sql: Sql, trx: Trx, person: PersonId): Promise<void> {
  const row = trx.selectFrom("people").select("id").where("id", "=", person);
  if ((await sql.forUpdate(row).executeTakeFirst()) === undefined) {
    throw new Problem("unauthorized", "Your account was deleted.");
  }
  const own = acrossTenants(trx).selectFrom("members").select("tenant_id").where("person_id", "=", person);
  if ((await own.limit(workspacesMost).execute()).length < workspacesMost) return;
  throw new Problem("collection_full", `A person can be in at most ${workspacesMost} workspaces. Leave one first.`);
}

async function requireOwner(
  sql: Sql,
  trx: Trx,
  tenant: TenantId,
  { actor, isOperator }: WorkspaceRight,
): Promise<void> {
  if (isOperator || (await roleOf(sql, trx, tenant, actor)) === "owner") return;
  throw new Problem("forbidden", "Only owners of the workspace can do this.");
}

const noSuchWorkspace = (): Problem =>
  new Problem("not_found", "There is no such workspace, or you are not a member of it.");
