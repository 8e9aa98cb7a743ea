import type { Clock } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import type { Actor } from "../history/history.ts";
import type { MailRequests } from "../limits/mail-requests.ts";
import type { Sql } from "../sql/sql.ts";
import type { Trx } from "../sql/tenant-db.ts";
import type { Session } from "./access.ts";
import type { Proofs } from "./factors/proof.ts";
import { requireGoodPassword } from "./password-rules.ts";
import { type Account, type People, requireEmail } from "./people.ts";
import { mailboxOf, type Person } from "./person.ts";
import type { PersonMails } from "./person-mails.ts";
import type { Publishing, Sessions, SignedIn } from "./sessions.ts";
import type { AccountPasswords } from "./sign-in/account-password.ts";
import { type CompanyDomains, refuseCompanyDomain } from "./sign-in/company-domains.ts";
import { invalidToken } from "./sign-in/setup.ts";
import type { AskedFrom } from "./sign-in/sign-in.ts";
import type { PersonTokens } from "./tokens.ts";

/** What people change about their own account. */
export interface AccountChanges {
  rename(signedIn: SignedIn, name: string): Promise<void>;
  /** Ends all other sessions. */
  changePassword(signedIn: SignedIn, given: { current?: string; password: string }, from: AskedFrom): Promise<void>;
  /**
   * The new address is used once its mailbox confirmed it; without a mail server at once. Whether another account has it is
   * told to the mailbox only. Nobody takes an account out of their company: it would work after the company has let them go.
   */
  changeEmail(
    signedIn: SignedIn,
    given: { email: string; password?: string | undefined; code?: string | undefined },
    from: AskedFrom,
  ): Promise<"mailed" | "changed">;
  /** In a session of the same person: nobody can have somebody else confirm an address for them. */
  confirmEmail(signedIn: SignedIn, token: string): Promise<void>;
  askVerification(signedIn: SignedIn, from: AskedFrom): Promise<void>;
  verify(token: string): Promise<void>;
}

export interface AccountChangeSettings {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly people: People;
  readonly sessions: Pick<Sessions, "touch" | "endIn" | "requireIn">;
  readonly tokens: PersonTokens;
  readonly passwords: AccountPasswords;
  readonly proofs: Proofs;
  readonly companies: CompanyDomains;
  readonly mails: PersonMails;
  readonly requests: MailRequests;
}

export const confirmMs = 24 * 3_600_000;
const hours = confirmMs / 3_600_000;

export function createAccountChanges(settings: AccountChangeSettings): AccountChanges {
  const { sql, clock, people, sessions, tokens, passwords, proofs, mails, requests } = settings;
  const by = ({ id }: Person): Actor => ({ kind: "person", id });

  /** `session`: in which it was asked for. It may have been ended since then, by a reset for example. */
  async function inTurn(
    person: Person,
    session: Session | null,
    work: (trx: Trx, account: Account) => Promise<void>,
  ): Promise<void> {
    let published: Publishing = () => {};
    await sql.transaction(async (trx) => {
      const account = await people.lock(trx, person.id);
      if (account === undefined || account.disabledAt !== null) throw invalidToken();
      published = await sessions.touch(trx, [person.id]);
      if (session !== null) await sessions.requireIn(trx, session);
      await work(trx, account);
    });
    published();
  }

  const tell = (to: string, what: "password" | "email") =>
    mails.send("account", to, { what, at: clock.now(), url: mails.pageUrl("account") });

  /** Whether to send. */
  async function mayMail(mailbox: string, address: string | undefined): Promise<boolean> {
    const request = await requests.ask(mailbox, address);
    if (request.kind === "granted" || request.kind === "ignored") return request.kind === "granted";
    throw tooManyMails(request);
  }

  return {
    async rename({ person }, name) {
      await people.change(person.id, { name }, by(person));
    },

    async changePassword(signedIn, { current, password }, from) {
      const { person, session } = signedIn;
      requireGoodPassword(password, [person.email, person.name]);
      await proofs.require({ signedIn, from, password: current, acceptsFresh: !person.hasPassword });
      const passwordHash = await passwords.hash(password, from);
      await inTurn(person, session, async (trx, account) => {
        await sessions.endIn(trx, person.id, { except: session.id });
        await people.changeIn(trx, account, { passwordHash }, by(person));
      });
      await tell(person.email, "password");
    },

    async changeEmail(signedIn, given, from) {
      const { person, session } = signedIn;
      const email = requireEmail(given.email);
      const { companies } = settings;
      if (!companies.isRequired(mailboxOf(email) ?? "")) refuseCompanyDomain(companies, mailboxOf(person.email) ?? "");
      const { password, code } = given;
      await proofs.require({ signedIn, from, password, code, acceptsFresh: !person.hasPassword });
      if (!mails.isSetUp) {
        await inTurn(person, session, (trx, account) => people.changeIn(trx, account, { email }, by(person)));
        return "changed";
      }
      if (!(await mayMail(mailboxOf(email) ?? email, from.address))) return "mailed";
      const other = await people.byEmail(email);
      if (other !== undefined && other.person.id !== person.id) {
        const url = mails.pageUrl("sign-in");
        await mails.send("verification", other.person.email, { purpose: "existing", url, hours });
        return "mailed";
      }
      const token = await tokens.issue(sql.db, {
        ...{ kind: "email", person: person.id, data: { email }, lifeMs: confirmMs },
      });
      await mails.send("verification", email, { purpose: "change", url: mails.pageUrl("email", token), hours });
      return "mailed";
    },

    async confirmEmail({ person, session }, token) {
      const peeked = await tokens.peek(sql.db, "email", token);
      if (peeked?.person !== person.id) throw invalidToken();
      let former = person.email;
      await inTurn(person, session, async (trx, account) => {
        const email = (await tokens.use(trx, "email", token))?.data.email;
        if (typeof email !== "string") throw invalidToken();
        former = account.person.email;
        await people.changeIn(trx, account, { email, isVerified: true }, by(person));
        // Links in the old mailbox.
        await tokens.void(trx, person.id);
      });
      await tell(former, "email");
    },

    async askVerification({ person }, from) {
      if (!mails.isSetUp) throw new Problem("not_set_up", "This server sends no email, so addresses are not verified.");
      if (person.isVerified || !(await mayMail(mailboxOf(person.email) ?? person.email, from.address))) return;
      const data = { email: person.email };
      const token = await tokens.issue(sql.db, { kind: "verification", person: person.id, data, lifeMs: confirmMs });
      await mails.send("verification", person.email, {
        purpose: "account",
        url: mails.pageUrl("verify", token),
        hours,
      });
    },

    async verify(token) {
      const found = (await tokens.peek(sql.db, "verification", token))?.person;
      const known = found && (await people.byId(found));
      if (!known) throw invalidToken();
      await inTurn(known.person, null, async (trx, account) => {
        const email = (await tokens.use(trx, "verification", token))?.data.email;
        if (email !== account.person.email) throw invalidToken();
        await people.changeIn(trx, account, { isVerified: true }, by(account.person));
      });
    },
  };
}

export function tooManyMails(request: { readonly kind: "denied" | "unavailable"; readonly retryAfterSeconds: number }) {
  const { retryAfterSeconds } = request;
  if (request.kind === "denied") {
    const wait = `Too many requests for emails from your IP address. Try again in ${retryAfterSeconds} s.`;
    return new Problem("email_limited", wait, { retryAfterSeconds });
  }
  return new Problem("unavailable", "Requests cannot be counted right now. Try again shortly.", { retryAfterSeconds });
}
