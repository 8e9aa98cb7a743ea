import { Problem } from "../../base/errors.ts";
import type { Sql } from "../../sql/sql.ts";
import { requireGoodPassword } from "../password-rules.ts";
import { type People, requireEmail } from "../people.ts";
import type { PersonMails } from "../person-mails.ts";
import type { PersonTokens } from "../tokens.ts";
import type { AccountPasswords } from "./account-password.ts";
import { invalidToken } from "./setup.ts";
import { type AskedFrom, requireMailbox, type SignIn, type SignInAnswer } from "./sign-in.ts";

/**
 * Accounts for people without an invitation, if the operator allows it. The mailbox comes first and the account second: there is
 * no account whose address was not proved, so nobody can prepare one for somebody else and wait.
 */
export interface SignUp {
  /** Throws `sign_up_closed` if this address may not, whether or not it has an account. */
  requireOpen(email: string): void;
  /** Mails a link; or, if there is an account, says so to its mailbox. */
  mail(email: string): Promise<void>;
  complete(given: NewAccount, from: AskedFrom): Promise<SignInAnswer>;
}

export interface NewAccount {
  readonly token: string;
  readonly name: string;
  readonly password: string;
}

/** Who may create an account without an invitation. */
export type SignUpRule =
  | { readonly kind: "invitation" }
  | { readonly kind: "everyone" }
  | { readonly kind: "domains"; readonly domains: ReadonlySet<string> };

export interface SignUpSettings {
  readonly sql: Sql;
  readonly rule: SignUpRule;
  readonly people: People;
  readonly tokens: PersonTokens;
  readonly passwords: AccountPasswords;
  readonly signIn: Pick<SignIn, "proceed">;
  readonly mails: PersonMails;
}

export const signUpMs = 24 * 3_600_000;

export function createSignUp({ sql, rule, people, tokens, passwords, signIn, mails }: SignUpSettings): SignUp {
  function mayJoin(mailbox: string): boolean {
    if (!mails.isSetUp) return false;
    if (rule.kind !== "domains") return rule.kind === "everyone";
    return rule.domains.has(mailbox.slice(mailbox.lastIndexOf("@") + 1));
  }

  function requireOpen(email: string): void {
    if (mayJoin(requireMailbox(email))) return;
    throw new Problem("sign_up_closed", "Accounts are created by invitation here. Ask a member of your workspace.");
  }

  return {
    requireOpen,

    async mail(given) {
      const email = requireEmail(given);
      const hours = signUpMs / 3_600_000;
      const account = await people.byEmail(email);
      if (account !== undefined) {
        const url = mails.pageUrl("sign-in");
        return await mails.send("verification", account.person.email, { purpose: "existing", url, hours });
      }
      const token = await tokens.issue(sql.db, { kind: "sign-up", person: null, data: { email }, lifeMs: signUpMs });
      await mails.send("verification", email, { purpose: "sign-up", url: mails.pageUrl("sign-up", token), hours });
    },

    async complete({ token, name, password }, from) {
      const email = (await tokens.peek(sql.db, "sign-up", token))?.data.email;
      if (typeof email !== "string") throw invalidToken();
      requireOpen(email); // the rule may have changed since
      requireGoodPassword(password, [email, name]);
      const passwordHash = await passwords.hash(password, from);
      const id = await sql.transaction(async (trx) => {
        if ((await tokens.use(trx, "sign-up", token)) === undefined) throw invalidToken();
        return await people.createIn(trx, { email, name, passwordHash, isVerified: true }, { kind: "nobody" });
      });
      const account = await people.byId(id);
      if (account === undefined) throw invalidToken();
      return await signIn.proceed(account.person, { method: "sign-up", isLasting: false }, from.request);
    },
  };
}
