/** People and workspaces in a database of a suite. */
import { type Clock, manualClock } from "../../src/base/clock.ts";
import { Problem } from "../../src/base/errors.ts";
import { newId, type PersonId, type TenantId } from "../../src/base/ids.ts";
import { type Actor, byCommand } from "../../src/history/history.ts";
import type { Role } from "../../src/people/roles.ts";
import type { Publishing } from "../../src/people/sessions.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { ofTenant, type Trx } from "../../src/sql/tenant-db.ts";
import { type RaiseKeys, raiseVersions } from "../../src/sql/versions.ts";
import { createKeys } from "../../src/tenants/keys.ts";
import { createTenants } from "../../src/tenants/tenants.ts";

export const clock = manualClock(Date.UTC(2026, 10, 17));
let names = 0;

/** What a change did, or the code of its refusal. */
export const outcome = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (error: unknown) => {
      if (error instanceof Problem) return error.code;
      throw error;
    },
  );

export const by = (id: PersonId): Actor => ({ kind: "person", id });
/** A key that works. */
export async function byNewKey(sql: Sql, tenant: TenantId): Promise<Extract<Actor, { kind: "key" }>> {
  const { key } = await createKeys({ sql, clock }).create(tenant, { name: "a key", scopes: ["admin"] }, byCommand);
  return { kind: "key", id: key.id, name: key.name };
}

/** Sessions whose changes are published to a list. */
export const touchOf = (sql: Sql, published: string[] = []) => ({
  async touch(trx: Trx, people: readonly PersonId[], ...others: readonly RaiseKeys[]): Promise<Publishing> {
    clock.advance(1); // rows of history sort by their time
    const changes = await raiseVersions(sql, trx, [{ kind: "session", keys: people }, ...others], clock.now());
    return () => published.push(...changes.map(({ key }) => key));
  },
});

export async function newWorkspace(sql: Sql): Promise<TenantId> {
  const { id } = await createTenants(sql, clock).create(`workspace-${++names}`, `Workspace ${names}`, byCommand);
  clock.advance(1);
  return id;
}

export interface SomePerson {
  readonly id: PersonId;
  readonly email: string;
  readonly mailbox: string;
}

export async function newPerson(
  sql: Sql,
  more: { readonly email?: string; readonly disabled?: boolean; readonly operator?: boolean } = {},
  at: Clock = clock,
): Promise<SomePerson> {
  const id = newId("person", at);
  const email = more.email ?? `person-${++names}@example.com`;
  const mailbox = email.toLowerCase();
  await sql.db
    .insertInto("people")
    .values({
      ...{ id, email, mailbox, name: `Person ${names}`, created_at: at.now(), operator: more.operator ? 1 : 0 },
      disabled_at: more.disabled ? at.now() : null,
    })
    .execute();
  return { id, email, mailbox };
}

export async function newMember(
  sql: Sql,
  tenant: TenantId,
  role: Role,
  more: { readonly disabled?: boolean } = {},
): Promise<PersonId> {
  const { id } = await newPerson(sql, more);
  await ofTenant(sql.db, tenant)
    .insertInto("members")
    .values({ person_id: id, role, created_at: clock.now() })
    .execute();
  return id;
}

export const lastHistory = (sql: Sql, tenant: TenantId | "") =>
  ofTenant(sql.db, tenant)
    .selectFrom("history")
    .select(["action", "actor_kind", "actor_id", "subject_id", "before_change", "after_change"])
    .orderBy("id", "desc")
    .executeTakeFirst();
