import type { Clock } from "../base/clock.ts";
import { invalid, Problem } from "../base/errors.ts";
import { newId, type PersonId } from "../base/ids.ts";
import { parseAddress } from "../email/address.ts";
import { type Actor, recordHistory } from "../history/history.ts";
import { isUniqueViolation, type Sql } from "../sql/sql.ts";
import { type Params, statement } from "../sql/statement.ts";
import type { Db, Trx } from "../sql/tenant-db.ts";
import { mailboxOf, type Person, type PersonRow, personColumns, toPerson } from "./person.ts";
import type { Publishing, Sessions } from "./sessions.ts";
import type { PersonTokens } from "./tokens.ts";

/**
 * Accounts. A person has one for all workspaces; who belongs to which is not decided here. Every change is a row of
 * history, and raises the person's version, so that all servers see it.
 */
export interface People {
  byId(id: PersonId): Promise<Account | undefined>;
  /** However the address is spelled. */
  byEmail(email: string): Promise<Account | undefined>;
  /** By ID, oldest first; `after` is the last of the previous page. */
  list(limit: number, after?: PersonId): Promise<Account[]>;
  /** Throws `email_taken` if the mailbox has an account. */
  createIn(trx: Trx, person: NewPerson, actor: Actor): Promise<PersonId>;
  /** The caller's transaction has locked the row with `lock`, and raises the version. */
  changeIn(trx: Trx, account: Account, change: PersonChange, actor: Actor): Promise<void>;
  /** The account's row, so that nothing else changes it meanwhile. Lock order: before versions. */
  lock(trx: Trx, id: PersonId): Promise<Account | undefined>;
  change(id: PersonId, change: PersonChange, actor: Actor): Promise<Account>;
  /** Its sessions end at once. Enabled again, the person signs in as before. */
  setDisabled(id: PersonId, isDisabled: boolean, actor: Actor): Promise<void>;
  /** The same in a transaction that has locked the row and raises the version. */
  setDisabledIn(trx: Trx, account: Account, isDisabled: boolean, actor: Actor): Promise<void>;
  /** TOTP, its recovery codes and remembered devices. Returns whether there was one. */
  removeSecondFactor(id: PersonId, actor: Actor): Promise<boolean>;
}

export interface Account {
  readonly person: Person;
  /** Null: enabled. */
  readonly disabledAt: number | null;
  /** Null: signs in otherwise. Never shown. */
  readonly passwordHash: string | null;
}

export interface NewPerson {
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string | null;
  readonly isVerified: boolean;
  readonly isOperator?: boolean;
}

export interface PersonChange {
  readonly name?: string;
  /** Verified only if `isVerified` says so. */
  readonly email?: string;
  readonly isVerified?: true;
  readonly passwordHash?: string;
  readonly isOperator?: boolean;
}

export interface PeopleSettings {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly sessions: Pick<Sessions, "touch" | "endIn">;
  readonly tokens: PersonTokens;
}

export const nameMostChars = 100;

/** The address as mail is sent to it. Disguised characters become what they stand for: no mail goes to a look-alike. */
export function requireEmail(email: string, field = "email"): string {
  const address = email.length <= emailMostChars ? parseAddress(email.trim().normalize("NFKC")) : undefined;
  if (address === undefined) throw invalid(field, "bad_address", "Must be an email address, such as ann@example.com.");
  return address;
}

/** Before it is parsed. */
export const emailMostChars = 320;

export function createPeople({ sql, clock, sessions, tokens }: PeopleSettings): People {
  const { db } = sql;

  async function lock(trx: Trx, id: PersonId): Promise<Account | undefined> {
    const row = await sql
      .forUpdate(trx.selectFrom("people").select(personColumns).where("id", "=", id))
      .executeTakeFirst();
    return row && toAccount(row);
  }

  async function changeIn(trx: Trx, { person }: Account, change: PersonChange, actor: Actor): Promise<void> {
    const { name, email, isVerified, passwordHash, isOperator } = change;
    const now = clock.now();
    await rejectTaken(
      trx
        .updateTable("people")
        .set({
          ...(name !== undefined && { name }),
          ...(email !== undefined && { email, mailbox: mailboxFor(email), verified_at: null }),
          ...(isVerified && { verified_at: now }),
          ...(passwordHash !== undefined && { password_hash: passwordHash }),
          ...(isOperator !== undefined && { operator: isOperator ? 1 : 0 }),
        })
        .where("id", "=", person.id)
        .execute(),
    );
    if (passwordHash !== undefined) {
      // Whoever has a link to a mailbox, or a remembered browser, got it under the old password.
      await tokens.void(trx, person.id);
      await trx.deleteFrom("known_devices").where("person_id", "=", person.id).execute();
    }
    await recordHistory(trx, clock, {
      ...{ tenant: "", actor, action: "person.update", subject: { kind: "person", id: person.id } },
      before: {
        ...(name !== undefined && { name: person.name }),
        ...(email !== undefined && { email: person.email }),
        ...(isOperator !== undefined && { operator: person.isOperator }),
      },
      after: {
        ...(name !== undefined && { name }),
        ...(email !== undefined && { email }),
        ...(isVerified && { verified: true }),
        ...(passwordHash !== undefined && { password: "changed" }),
        ...(isOperator !== undefined && { operator: isOperator }),
      },
    });
  }

  async function setDisabledIn(trx: Trx, account: Account, isDisabled: boolean, actor: Actor): Promise<void> {
    const { id } = account.person;
    if ((account.disabledAt !== null) === isDisabled) return;
    if (isDisabled) {
      await sessions.endIn(trx, id, "all");
      await tokens.void(trx, id);
    }
    const disabled_at = isDisabled ? clock.now() : null;
    await trx.updateTable("people").set({ disabled_at }).where("id", "=", id).execute();
    const action = isDisabled ? "person.disable" : "person.enable";
    await recordHistory(trx, clock, { tenant: "", actor, action, subject: { kind: "person", id } });
  }

  /** Locks, raises the version, changes. */
  async function inTurn(id: PersonId, work: (trx: Trx, account: Account) => Promise<void>): Promise<void> {
    let published: Publishing = () => {};
    await sql.transaction(async (trx) => {
      const account = await lock(trx, id);
      if (account === undefined) throw new Problem("not_found", "There is no such person.");
      published = await sessions.touch(trx, [id]);
      await work(trx, account);
    });
    published();
  }

  const byId: People["byId"] = async (id) => {
    const row = await selectPersonById.first(db, { id });
    return row && toAccount(row);
  };

  return {
    byId,
    lock,
    changeIn,

    async byEmail(email) {
      const mailbox = email.length <= emailMostChars ? mailboxOf(email) : undefined;
      const row = mailbox === undefined ? undefined : await selectByMailbox.first(db, { mailbox });
      return row && toAccount(row);
    },

    async list(limit, after = "" as PersonId) {
      return (await selectPeople.all(db, { limit, after })).map(toAccount);
    },

    async createIn(trx, { email, name, passwordHash, isVerified, isOperator = false }, actor) {
      const [id, now] = [newId("person", clock), clock.now()];
      await rejectTaken(
        trx
          .insertInto("people")
          .values({
            ...{ id, email, mailbox: mailboxFor(email), name, password_hash: passwordHash, created_at: now },
            ...{ verified_at: isVerified ? now : null, operator: isOperator ? 1 : 0 },
          })
          .execute(),
      );
      await recordHistory(trx, clock, {
        ...{ tenant: "", actor: actor.kind === "nobody" ? { kind: "person", id } : actor, action: "person.create" },
        ...{ subject: { kind: "person", id }, after: { operator: isOperator } },
      });
      return id;
    },

    async change(id, change, actor) {
      await inTurn(id, (trx, account) => changeIn(trx, account, change, actor));
      const account = await byId(id);
      if (account === undefined) throw new Problem("not_found", "There is no such person.");
      return account;
    },

    setDisabled: (id, isDisabled, actor) =>
      inTurn(id, (trx, account) => setDisabledIn(trx, account, isDisabled, actor)),
    setDisabledIn,

    async removeSecondFactor(id, actor) {
      let hadOne = false;
      await inTurn(id, async (trx, { person }) => {
        hadOne = person.hasTotp;
        if (!hadOne) return;
        await trx.updateTable("people").set({ totp: null, totp_step: null }).where("id", "=", id).execute();
        await trx.deleteFrom("recovery_codes").where("person_id", "=", id).execute();
        await trx.deleteFrom("known_devices").where("person_id", "=", id).execute();
        await tokens.void(trx, id, "second-factor");
        const action = "person.second_factor_reset";
        await recordHistory(trx, clock, { tenant: "", actor, action, subject: { kind: "person", id } });
      });
      return hadOne;
    },
  };
}

function mailboxFor(email: string): string {
  const mailbox = mailboxOf(email);
  if (mailbox === undefined) throw new Error("the address was not checked");
  return mailbox;
}

async function rejectTaken<Result>(written: Promise<Result>): Promise<Result> {
  try {
    return await written;
  } catch (error) {
    if (isUniqueViolation(error)) throw new Problem("email_taken", "This email address already has an account.");
    throw error;
  }
}

const toAccount = (row: PersonRow): Account => ({
  ...{ person: toPerson(row), disabledAt: row.disabled_at, passwordHash: row.password_hash },
});

const selectPersonById = statement((db: Db, { id }: Params<{ id: PersonId }>) =>
  db.selectFrom("people").select(personColumns).where("id", "=", id),
);

const selectByMailbox = statement((db: Db, { mailbox }: Params<{ mailbox: string }>) =>
  db.selectFrom("people").select(personColumns).where("mailbox", "=", mailbox),
);

const selectPeople = statement((db: Db, { limit, after }: Params<{ limit: number; after: PersonId }>) =>
  db.selectFrom("people").select(personColumns).where("id", ">", after).orderBy("id").limit(limit),
);
