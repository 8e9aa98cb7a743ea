import { beforeAll, expect, test } from "bun:test";
import { manualClock } from "../../src/base/clock.ts";
import { Problem } from "../../src/base/errors.ts";
import { newId, type PersonId, type TenantId } from "../../src/base/ids.ts";
import { createIdentities, type Identities } from "../../src/people/factors/identities.ts";
import type { OidcPerson } from "../../src/people/factors/oidc.ts";
import { createPasskeyRows, passkeysMost } from "../../src/people/factors/passkey-rows.ts";
import { createPeople } from "../../src/people/people.ts";
import { createSessions, type Sessions } from "../../src/people/sessions.ts";
import { createPersonTokens } from "../../src/people/tokens.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { ofTenant } from "../../src/sql/tenant-db.ts";
import { onEachDatabase } from "./databases.ts";

const clock = manualClock(Date.UTC(2026, 10, 17, 12));
const issuer = "https://login.example.com";
const isOfCompany = (mailbox: string) => mailbox.endsWith("@example.com");

onEachDatabase((database) => {
  let sql: Sql;
  let other: Sql;
  let sessions: Sessions;

  beforeAll(async () => {
    [sql, other] = await database.openTwo();
    sessions = sessionsOf(sql);
  });

  const sessionsOf = (on: Sql) =>
    createSessions({ sql: on, clock, publish() {}, access: { peek: () => undefined, lookup: () => never() } });
  const never = (): never => {
    throw new Error("nothing is looked up");
  };

  const identitiesOn = (on: Sql, allowsSignUp = false): Identities =>
    createIdentities({
      ...{ sql: on, clock, sessions: sessionsOf(on), isOfCompany, allowsSignUp },
      people: createPeople({ sql: on, clock, sessions: sessionsOf(on), tokens: createPersonTokens(clock) }),
    });

  let last = 0;
  const claimed = (more: Partial<OidcPerson> = {}): OidcPerson => {
    const name = `person${++last}`;
    const email = `${name}@example.com`;
    return {
      issuer,
      subject: `sub ${name}`,
      email,
      mailbox: email,
      name: "Ann",
      isLasting: false,
      returnTo: "/",
      ...more,
    };
  };

  async function addPerson(mailbox: string, verified: boolean, more: object = {}): Promise<PersonId> {
    const id = newId("person", clock);
    const row = { id, email: mailbox, mailbox, name: "Ann", verified_at: verified ? 1 : null, disabled_at: null };
    const rest = { password_hash: "a hash", totp: "a secret", totp_step: 5, created_at: clock.now(), ...more };
    await sql.db
      .insertInto("people")
      .values({ ...row, ...rest })
      .execute();
    return id;
  }

  const personRow = (id: PersonId) =>
    sql.db.selectFrom("people").selectAll().where("id", "=", id).executeTakeFirstOrThrow();

  const refusal = async (work: Promise<unknown>) => {
    const error = await work.catch((thrown: unknown) => thrown);
    return error instanceof Problem ? error.code : error;
  };

  test("the verified account with the address is linked, and found again by its subject alone", async () => {
    const person = claimed();
    const id = await addPerson(person.mailbox, true);
    expect(await identitiesOn(sql).accountFor(person)).toBe(id);
    const renamed = { ...person, email: "other@example.com", mailbox: "other@example.com" };
    expect(await identitiesOn(sql).accountFor(renamed)).toBe(id);
    expect(await personRow(id)).toMatchObject({ password_hash: "a hash", totp: "a secret", mailbox: person.mailbox });
  });

  test("the same subject of another provider is somebody else", async () => {
    const person = claimed();
    await addPerson(person.mailbox, true);
    await identitiesOn(sql).accountFor(person);
    const elsewhere = { ...person, issuer: "https://evil.example", mailbox: "nobody@example.com" };
    expect(await refusal(identitiesOn(sql).accountFor(elsewhere))).toBe("oidc_refused");
  });

  test("whoever waits in an account with an address that is not theirs is locked out of it", async () => {
    const person = claimed();
    const id = await addPerson(person.mailbox, false);
    const bystander = await addPerson(claimed().mailbox, false);
    for (const owner of [id, bystander]) {
      await sql.transaction(async (trx) => {
        await sessions.start(trx, { personId: owner, method: "password", device: "Firefox", isLasting: true });
        const rows = createPasskeyRows(sql.db, clock);
        await rows.add(trx, owner, { id: `key of ${owner}`, public_key: "k", counter: 0, transports: "[]" }, "a key");
        await trx.insertInto("recovery_codes").values({ person_id: owner, hash: "h", used_at: null }).execute();
        await trx
          .insertInto("identities")
          .values({ issuer: "https://other.example", subject: owner, person_id: owner, created_at: 1 })
          .execute();
      });
    }
    expect(await identitiesOn(sql).accountFor(person)).toBe(id);
    expect(await personRow(id)).toMatchObject({ password_hash: null, totp: null, verified_at: clock.now() });
    expect(await personRow(bystander)).toMatchObject({ password_hash: "a hash", verified_at: null });
    const counts = async (owner: PersonId) => {
      const count = async (table: "sessions" | "passkeys" | "recovery_codes" | "identities") =>
        (await sql.db.selectFrom(table).select("person_id").where("person_id", "=", owner).execute()).length;
      return [
        await count("sessions"),
        await count("passkeys"),
        await count("recovery_codes"),
        await count("identities"),
      ];
    };
    expect(await counts(id)).toEqual([0, 0, 0, 1]);
    expect(await counts(bystander)).toEqual([1, 1, 1, 1]);
  });

  test("unknown people get an account if they were invited, or everybody may come", async () => {
    const person = claimed({ name: "Ann\u0000 \u202eExample" });
    expect(await refusal(identitiesOn(sql).accountFor(person))).toBe("oidc_refused");
    const id = await identitiesOn(sql, true).accountFor(person);
    expect(await personRow(id)).toMatchObject({ name: "Ann   Example", password_hash: null, verified_at: clock.now() });
    expect(await identitiesOn(sql).accountFor(person)).toBe(id);

    const invited = claimed({ name: undefined });
    await invite(invited.mailbox, clock.now() - 1);
    expect(await refusal(identitiesOn(sql).accountFor(invited))).toBe("oidc_refused");
    await invite(invited.mailbox, clock.now() + 1_000);
    const theirs = await identitiesOn(sql).accountFor(invited);
    expect((await personRow(theirs)).name).toBe(invited.mailbox.split("@", 1)[0] ?? "");
  });

  async function invite(mailbox: string, until: number): Promise<void> {
    const tenant = newId("tenant", clock);
    const slug = tenant.slice(-12);
    await sql.db
      .insertInto("tenants")
      .values({ id: tenant as TenantId, name: slug, slug, created_at: "2026-01-01T00:00:00Z" as never })
      .execute();
    await ofTenant(sql.db, tenant as TenantId)
      .insertInto("invitations")
      .values({
        ...{ id: newId("invitation", clock), hash: slug, email: mailbox, mailbox, role: "member", inviter_id: null },
        ...{ created_at: 1, expires_at: until },
      })
      .execute();
  }

  test("an account whose address has left the company is not opened by its provider", async () => {
    const person = claimed();
    const id = await addPerson(person.mailbox, true);
    await identitiesOn(sql).accountFor(person);
    await sql.db
      .updateTable("people")
      .set({ mailbox: `${id}@home.example` })
      .where("id", "=", id)
      .execute();
    expect(await refusal(identitiesOn(sql).accountFor(person))).toBe("oidc_refused");
  });

  test("somebody who comes twice at once gets one account", async () => {
    for (let round = 0; round < 5; round++) {
      const person = claimed();
      const both = [identitiesOn(sql, true), identitiesOn(other, true)];
      const ids = await Promise.all(both.map((identities) => identities.accountFor(person)));
      expect(new Set(ids).size).toBe(1);
    }
  });

  test("somebody who comes twice at once to an account that exists gets in both times", async () => {
    for (const verified of [true, false]) {
      for (let round = 0; round < 5; round++) {
        const person = claimed();
        const id = await addPerson(person.mailbox, verified);
        const both = [identitiesOn(sql), identitiesOn(other)];
        expect(await Promise.all(both.map((identities) => identities.accountFor(person)))).toEqual([id, id]);
      }
    }
  });

  test("a passkey counts up, belongs to one person, and there is an end to their number", async () => {
    const rows = createPasskeyRows(sql.db, clock);
    const [ann, bob] = [await addPerson(claimed().mailbox, true), await addPerson(claimed().mailbox, true)];
    const passkey = (id: string, counter = 0) => ({ id, public_key: "k", counter, transports: "[]" });
    const add = (person: PersonId, id: string, counter = 0) =>
      sql.transaction((trx) => rows.add(trx, person, passkey(id, counter), "My phone"));
    expect(await add(ann, `a ${ann}`, 5)).toMatchObject({ name: "My phone", lastUsedAt: null });
    expect(await add(bob, `a ${ann}`)).toBe("taken");
    const use = (person: PersonId, counter: number, on = sql) => rows.use(on.db, { id: `a ${ann}`, person, counter });
    expect(await use(bob, 6)).toBe(false);
    expect(await use(ann, 5)).toBe(false);
    expect((await Promise.all([use(ann, 6), use(ann, 6, other)])).filter(Boolean)).toEqual([true]);
    expect(await use(ann, 0)).toBe(false);
    // A device that does not count.
    await add(bob, `b ${bob}`);
    const useUncounted = () => rows.use(sql.db, { id: `b ${bob}`, person: bob, counter: 0 });
    expect([await useUncounted(), await useUncounted()]).toEqual([true, true]);

    expect(await rows.rename(bob, `a ${ann}`, "mine")).toBeUndefined();
    expect(await sql.transaction((trx) => rows.remove(trx, bob, `a ${ann}`))).toBe(false);
    expect(await rows.rename(ann, `a ${ann}`, "Key ring")).toMatchObject({ name: "Key ring" });
    for (let i = 1; i < passkeysMost; i++) await add(ann, `${i} ${ann}`);
    expect(await add(ann, `more ${ann}`)).toBe("full");
    expect(await sql.transaction((trx) => rows.remove(trx, ann, `a ${ann}`))).toBe(true);
    expect((await rows.list(ann)).length).toBe(passkeysMost - 1);
  });
});
