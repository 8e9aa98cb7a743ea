import type { Clock } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import type { PersonId } from "../../base/ids.ts";
import { recordHistory } from "../../history/history.ts";
import { isUniqueViolation, type Sql } from "../../sql/sql.ts";
import { type Params, statement } from "../../sql/statement.ts";
import { acrossTenants, type Db, type Trx } from "../../sql/tenant-db.ts";
import { nameMostChars, type People, requireEmail } from "../people.ts";
import type { Publishing, Sessions } from "../sessions.ts";
import type { OidcPerson } from "./oidc.ts";
import { OidcRefused } from "./oidc-refused.ts";

/**
 * Which account belongs to somebody whom the company's provider has identified.
 *
 * 1. The account that was linked to this subject of the provider before, whatever address the provider names now.
 * 2. The account with the address, which is linked then. If nobody has ever shown that the address is theirs, somebody else
 *    may have opened the account to wait there: all other ways into it end first.
 * 3. A new account, if the person was invited or the operator allows everybody of the company in.
 *
 * An account whose address is no longer one of the company is not the company's any more, and its provider cannot open it.
 */
export interface Identities {
  /** Throws a `Problem` if there is none. */
  accountFor(person: OidcPerson): Promise<PersonId>;
}

export interface IdentitySettings {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly people: Pick<People, "createIn">;
  readonly sessions: Pick<Sessions, "touch" | "endIn">;
  readonly isOfCompany: (mailbox: string) => boolean;
  /** Whether people who were not invited get an account. */
  readonly allowsSignUp: boolean;
}

export function createIdentities(settings: IdentitySettings): Identities {
  const { sql, clock, people, sessions, isOfCompany, allowsSignUp } = settings;
  const { db } = sql;

  async function known({ issuer, subject }: OidcPerson): Promise<PersonId | undefined> {
    const row = await selectIdentity.first(db, { issuer, subject });
    if (row === undefined) return undefined;
    if (isOfCompany(row.mailbox)) return row.id;
    throw new OidcRefused("moved", { person: row.id });
  }

  async function link(person: OidcPerson, id: PersonId): Promise<void> {
    let published: Publishing = () => {};
    await sql.transaction(async (trx) => {
      const locked = trx.selectFrom("people").select("verified_at").where("id", "=", id);
      const { verified_at: verifiedAt } = await sql.forUpdate(locked).executeTakeFirstOrThrow();
      if (await isLinked(trx, person, id)) return; // another request of the same person was first
      published = await sessions.touch(trx, [id]);
      const takenOver = verifiedAt === null && (await endOtherWays(trx, id));
      if (verifiedAt === null) {
        await trx.updateTable("people").set({ verified_at: clock.now() }).where("id", "=", id).execute();
      }
      await insert(trx, person, id);
      await record(trx, id, "person.link_identity", { issuer: person.issuer, ...(takenOver && { takenOver }) });
    });
    published();
  }

  /** An address that the company gave to somebody else does not bring along the account of the one before. */
  async function isLinked(trx: Trx, { issuer, subject }: OidcPerson, id: PersonId): Promise<boolean> {
    const linked = await trx
      .selectFrom("identities")
      .select("subject")
      .where("issuer", "=", issuer)
      .where("person_id", "=", id)
      .executeTakeFirst();
    if (linked === undefined) return false;
    if (linked.subject === subject) return true;
    throw new OidcRefused("taken", { person: id });
  }

  /** Returns whether there was one. */
  async function endOtherWays(trx: Trx, id: PersonId): Promise<boolean> {
    const { numUpdatedRows } = await trx
      .updateTable("people")
      .set({ password_hash: null, totp: null, totp_step: null })
      .where("id", "=", id)
      .where((row) => row.or([row("password_hash", "is not", null), row("totp", "is not", null)]))
      .executeTakeFirst();
    let ended = Number(numUpdatedRows) + (await sessions.endIn(trx, id, "all"));
    for (const table of ["passkeys", "identities", "recovery_codes", "known_devices", "person_tokens"] as const) {
      const { numDeletedRows } = await trx.deleteFrom(table).where("person_id", "=", id).executeTakeFirst();
      ended += Number(numDeletedRows);
    }
    return ended > 0;
  }

  async function create(person: OidcPerson): Promise<PersonId> {
    const { email, mailbox, issuer } = person;
    return await sql.transaction(async (trx) => {
      const invitation = selectInvitation.first(trx, { mailbox, now: clock.now() });
      if (!allowsSignUp && (await invitation) === undefined) throw new OidcRefused("uninvited");
      const account = { email: requireEmail(email), name: nameOf(person), passwordHash: null, isVerified: true };
      const id = await people.createIn(trx, account, { kind: "nobody" });
      await insert(trx, person, id);
      await record(trx, id, "person.link_identity", { issuer });
      return id;
    });
  }

  async function insert(trx: Trx, { issuer, subject }: OidcPerson, id: PersonId): Promise<void> {
    const row = { issuer, subject, person_id: id, created_at: clock.now() };
    await trx.insertInto("identities").values(row).execute();
  }

  const record = (trx: Trx, id: PersonId, action: string, after: Readonly<Record<string, unknown>>) =>
    recordHistory(trx, clock, {
      ...{ tenant: "", actor: { kind: "person", id }, action, subject: { kind: "person", id }, after },
    });

  async function find(person: OidcPerson): Promise<PersonId> {
    const linked = await known(person);
    if (linked !== undefined) return linked;
    const row = await selectByMailbox.first(db, { mailbox: person.mailbox });
    if (row === undefined) return await create(person);
    await link(person, row.id);
    return row.id;
  }

  return {
    async accountFor(person) {
      try {
        return await find(person);
      } catch (error) {
        const isTaken = error instanceof Problem ? error.code === "email_taken" : isUniqueViolation(error);
        if (!isTaken) throw error;
        return await find(person); // another request of the same person was first
      }
    },
  };
}

/** What the provider calls them, else the first part of their address. */
function nameOf({ name, mailbox }: OidcPerson): string {
  const readable = (name ?? "").replace(/\p{C}/gu, " ").trim().slice(0, nameMostChars).toWellFormed();
  return readable === "" ? mailbox.slice(0, mailbox.lastIndexOf("@")) : readable;
}

const selectIdentity = statement((db: Db, { issuer, subject }: Params<{ issuer: string; subject: string }>) =>
  db
    .selectFrom("identities as i")
    .innerJoin("people as p", "p.id", "i.person_id")
    .select(["p.id", "p.mailbox"])
    .where("i.issuer", "=", issuer)
    .where("i.subject", "=", subject),
);

const selectByMailbox = statement((db: Db, { mailbox }: Params<{ mailbox: string }>) =>
  db.selectFrom("people").select("id").where("mailbox", "=", mailbox),
);

const selectInvitation = statement((db: Db, { mailbox, now }: Params<{ mailbox: string; now: number }>) =>
  acrossTenants(db)
    .selectFrom("invitations")
    .select("id")
    .where("mailbox", "=", mailbox)
    .where("expires_at", ">", now)
    .limit(1),
);
