import type { Clock } from "../../base/clock.ts";
import type { PersonId } from "../../base/ids.ts";
import type { Actor } from "../../history/history.ts";
import type { Sql } from "../../sql/sql.ts";
import type { Db, Trx } from "../../sql/tenant-db.ts";
import { requireGoodPassword } from "../password-rules.ts";
import type { Account, People } from "../people.ts";
import type { PersonMails } from "../person-mails.ts";
import { pageUrl } from "../person-pages.ts";
import type { Publishing, Sessions } from "../sessions.ts";
import type { PersonTokens } from "../tokens.ts";
import type { AccountPasswords } from "./account-password.ts";
import { type CompanyDomains, refuseCompanyDomain } from "./company-domains.ts";
import { invalidToken } from "./setup.ts";
import { type AskedFrom, requireMailbox, type SignIn, type SignInAnswer } from "./sign-in.ts";

/**
 * A forgotten password. The link proves the mailbox, which is as good as the password; a second factor is still asked for. It
 * ends all sessions, because whoever lost a password may have lost it to somebody.
 */
export interface PasswordReset {
  /** Mails a link, if there is such an account and it may have a password. */
  mail(account: Account): Promise<void>;
  complete(token: string, password: string, from: AskedFrom): Promise<SignInAnswer>;
}

export interface PasswordResetSettings {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly people: People;
  readonly tokens: PersonTokens;
  readonly sessions: Pick<Sessions, "touch" | "endIn">;
  readonly passwords: AccountPasswords;
  readonly signIn: Pick<SignIn, "proceed">;
  readonly mails: PersonMails;
  readonly companies: CompanyDomains;
  readonly baseUrl: string;
}

export const resetMs = 3_600_000;

/** `isMailed`: only the mailbox gets it, so that using it proves the address. */
export async function resetLink(
  { tokens, db, baseUrl }: { readonly tokens: PersonTokens; readonly db: Db; readonly baseUrl: string },
  person: PersonId,
  isMailed: boolean,
): Promise<string> {
  const token = await tokens.issue(db, { kind: "reset", person, data: { isMailed }, lifeMs: resetMs });
  return pageUrl(baseUrl, "reset", token);
}

/**
 * Nobody had shown before that the address is theirs, so somebody else may have opened the account and left a way in. The app
 * of a second factor stays: a mailbox alone must not lift it.
 */
async function endOtherWays(trx: Trx, id: PersonId): Promise<void> {
  for (const table of ["passkeys", "identities", "known_devices"] as const) {
    await trx.deleteFrom(table).where("person_id", "=", id).execute();
  }
}

export function createPasswordReset(settings: PasswordResetSettings): PasswordReset {
  const { sql, clock, people, tokens, sessions, passwords, signIn, mails } = settings;

  /** Locks the person before the token: whoever changes the password voids the tokens in that order. */
  async function apply(id: PersonId, token: string, passwordHash: string): Promise<Account> {
    let published: Publishing = () => {};
    const changed = await sql.transaction(async (trx: Trx) => {
      const account = await people.lock(trx, id);
      const used = await tokens.use(trx, "reset", token);
      if (account === undefined || account.disabledAt !== null || used?.person !== id) throw invalidToken();
      published = await sessions.touch(trx, [id]);
      await sessions.endIn(trx, id, "all");
      const actor: Actor = { kind: "person", id };
      // The link was in the mailbox, so the address is theirs.
      const isMailed = used.data.isMailed === true;
      if (isMailed && !account.person.isVerified) await endOtherWays(trx, id);
      const verified = isMailed ? { isVerified: true as const } : {};
      await people.changeIn(trx, account, { passwordHash, ...verified }, actor);
      return account;
    });
    published();
    return changed;
  }

  return {
    async mail({ person }) {
      const url = await resetLink({ tokens, db: sql.db, baseUrl: settings.baseUrl }, person.id, true);
      await mails.send("reset", person.email, { url, hours: resetMs / 3_600_000 });
    },

    async complete(token, password, from) {
      const found = (await tokens.peek(sql.db, "reset", token))?.person;
      const account = found && (await people.byId(found));
      if (!account || account.disabledAt !== null) throw invalidToken();
      refuseCompanyDomain(settings.companies, requireMailbox(account.person.email));
      requireGoodPassword(password, [account.person.email, account.person.name]);
      const { person } = await apply(account.person.id, token, await passwords.hash(password, from));
      await mails.send("account", person.email, { what: "password", at: clock.now(), url: mails.pageUrl("account") });
      return await signIn.proceed(person, { method: "reset", isLasting: false }, from.request);
    },
  };
}
