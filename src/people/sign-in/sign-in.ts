import { invalid, Problem } from "../../base/errors.ts";
import type { AccountAttempt, AccountAttempts, GrantedTry } from "../../limits/account-attempts.ts";
import type { Trx } from "../../sql/tenant-db.ts";
import { isPossiblePassword, passwordMostBytes } from "../password-rules.ts";
import { type Account, emailMostChars, type People } from "../people.ts";
import { mailboxOf, type Person } from "../person.ts";
import type { AccountPasswords } from "./account-password.ts";
import { type CompanyDomains, refuseCompanyDomain } from "./company-domains.ts";
import { type FinishedSignIn, type FinishSignIn, type SignInProof, signInFailed } from "./finish.ts";
import type { KnownBrowsers } from "./known-browsers.ts";
import type { RefusedSignIns } from "./refused-sign-ins.ts";
import type { FirstStep, SecondFactor } from "./second-factor.ts";

/**
 * Signs in with an email address and a password. Whether there is no such account, it is disabled, it has no password or
 * the password is wrong: the answer is the same, after the same work.
 */
export interface SignIn {
  withPassword(given: GivenPassword): Promise<SignInAnswer>;
  /** What follows a first step that went well: a session, or the request for a second factor. */
  proceed(person: Person, step: FirstStep, request: Request, more?: Partial<SignInProof>): Promise<SignInAnswer>;
  /** Whether this is the person's password, within the limits of guessing. */
  checkPassword(account: Account, password: string, from: AskedFrom): Promise<boolean>;
}

/** Where a request came from, and what its browser sends. */
export interface AskedFrom {
  readonly request: Request;
  readonly address: string | undefined;
}

export interface GivenPassword extends AskedFrom {
  readonly email: string;
  readonly password: string;
  readonly isLasting: boolean;
}

export type SignInAnswer =
  | ({ readonly kind: "signed_in" } & FinishedSignIn)
  /** The session comes after the second factor, for which the token is needed. */
  | { readonly kind: "second_factor"; readonly token: string };

export interface SignInSettings {
  readonly people: People;
  readonly passwords: AccountPasswords;
  readonly attempts: AccountAttempts;
  readonly browsers: KnownBrowsers;
  readonly secondFactor: SecondFactor;
  readonly companies: CompanyDomains;
  readonly finish: FinishSignIn;
  readonly refused: RefusedSignIns;
}

export function createSignIn(settings: SignInSettings): SignIn {
  const { people, passwords, attempts, browsers, secondFactor, finish, refused } = settings;

  function browserOf(account: Account | undefined, { request }: AskedFrom): string | undefined {
    return account && browsers.nameFor(request.headers.get("cookie"), account.person.id);
  }

  /** Counts the try first. A try that could not be checked is given back. */
  async function tryPassword(mailbox: string, account: Account | undefined, password: string, from: AskedFrom) {
    const tried = { account: mailbox, address: from.address, browser: browserOf(account, from) };
    const attempt = requireGranted(await attempts.begin(tried));
    const isRight = await passwords.matches(password, account?.passwordHash, from).catch(async (error: unknown) => {
      await attempt.undo();
      throw error;
    });
    const isAllowed = isRight && account?.disabledAt === null;
    if (isAllowed) await attempt.right();
    else if (account !== undefined) {
      refused.note({ person: account.person.id, method: "password", reason: isRight ? "disabled" : "password" });
    }
    return isAllowed;
  }

  const proceed: SignIn["proceed"] = async (person, step, request, more) => {
    if (await secondFactor.isNeeded(person, request)) {
      return { kind: "second_factor", token: await secondFactor.challenge(person, step, more?.before) };
    }
    return { kind: "signed_in", ...(await finish({ person: person.id, ...step, request, ...more })) };
  };

  return {
    proceed,

    async withPassword({ email, password, isLasting, request, address }) {
      const mailbox = requireMailbox(email);
      requirePossible(password);
      refuseCompanyDomain(settings.companies, mailbox);
      const account = await people.byEmail(email);
      const isRight = await tryPassword(mailbox, account, password, { request, address });
      if (!isRight || account === undefined) throw signInFailed();
      const before = (trx: Trx) => requireUnchanged(trx, account);
      return await proceed(account.person, { method: "password", isLasting }, request, { before });
    },

    async checkPassword(account, password, from) {
      requirePossible(password);
      return await tryPassword(requireMailbox(account.person.email), account, password, from);
    },
  };
}

/**
 * Checking a password takes a while, in which a reset may have ended all sessions: the old password must not start another one
 * after that. The caller has locked the person.
 */
async function requireUnchanged(trx: Trx, { person, passwordHash }: Account): Promise<void> {
  const row = trx.selectFrom("people").select("password_hash").where("id", "=", person.id);
  if ((await row.executeTakeFirst())?.password_hash !== passwordHash) throw signInFailed();
}

export function requireMailbox(email: string): string {
  const mailbox = email.length <= emailMostChars ? mailboxOf(email) : undefined;
  if (mailbox === undefined)
    throw invalid("email", "bad_address", "Must be an email address, such as ann@example.com.");
  return mailbox;
}

function requirePossible(password: string): void {
  if (isPossiblePassword(password)) return;
  throw invalid("password", "too_long", `Must be valid Unicode of at most ${passwordMostBytes} bytes.`);
}

/** Throws how long to wait. */
export function requireGranted(attempt: AccountAttempt): GrantedTry {
  if (attempt.kind === "granted") return attempt;
  const { retryAfterSeconds } = attempt;
  if (attempt.kind === "denied") {
    const wait = `Too many wrong attempts. Try again in ${retryAfterSeconds} s, or reset your password.`;
    throw new Problem("too_many_attempts", wait, { retryAfterSeconds });
  }
  throw new Problem("unavailable", "Attempts cannot be counted right now. Try again shortly.", { retryAfterSeconds });
}
