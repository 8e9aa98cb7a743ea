import type { InvitationId, TenantId } from "../../base/ids.ts";
import type { Sql } from "../../sql/sql.ts";
import { requireGoodPassword } from "../password-rules.ts";
import { type People, requireEmail } from "../people.ts";
import { mailboxOf, type Person } from "../person.ts";
import type { PersonMails } from "../person-mails.ts";
import type { SignedIn } from "../sessions.ts";
import type { AccountPasswords } from "../sign-in/account-password.ts";
import { type CompanyDomains, refuseCompanyDomain } from "../sign-in/company-domains.ts";
import { invalidToken } from "../sign-in/setup.ts";
import { type AskedFrom, requireMailbox, type SignIn, type SignInAnswer } from "../sign-in/sign-in.ts";
import type { PersonTokens } from "../tokens.ts";
import type { ByToken, Invitations, OpenInvitation } from "./invitations.ts";

/**
 * How somebody with an invitation joins: with their account if they are signed in, else with a new one.
 *
 * A new account for a link without an address needs an address, which strangers could make up. So with a mail server the
 * mailbox is asked first, with a token of its own, and the account is created when it comes back. The answer is the same
 * whether or not the mailbox has an account. Without a mail server nothing can be asked.
 */
export interface Join {
  /** `undefined` if it does not work, or no longer. */
  show(token: string): Promise<ShownInvitation | undefined>;
  asPerson(token: string, signedIn: SignedIn): Promise<TenantId>;
  /** Whether an address must be asked first, with `ask`. */
  mustAsk(token: string): Promise<boolean>;
  ask(token: string, email: string): Promise<void>;
  asNewPerson(token: string, given: NewMember, from: AskedFrom): Promise<SignInAnswer>;
}

export interface ShownInvitation extends Pick<OpenInvitation, "workspace" | "role" | "inviter" | "expiresAt"> {
  /** Of the account that can use it; null for any. */
  readonly email: string | null;
}

export interface NewMember {
  readonly name: string;
  readonly password: string;
  /** For an invitation without one. */
  readonly email?: string | undefined;
}

export interface JoinSettings {
  readonly sql: Sql;
  readonly invitations: Invitations;
  readonly people: People;
  readonly tokens: PersonTokens;
  readonly passwords: AccountPasswords;
  readonly companies: CompanyDomains;
  readonly signIn: Pick<SignIn, "proceed">;
  readonly mails: PersonMails;
}

const askedMs = 24 * 3_600_000;
const hours = askedMs / 3_600_000;

interface Found {
  readonly invitation: OpenInvitation;
  readonly which: ByToken;
  /** The token came to this address by mail. */
  readonly proved: string | null;
}

export function createJoin(settings: JoinSettings): Join {
  const { sql, invitations, people, tokens, passwords, companies, signIn, mails } = settings;

  async function find(token: string): Promise<Found | undefined> {
    const invitation = await invitations.open(token);
    if (invitation !== undefined) return { invitation, which: token, proved: mails.isSetUp ? invitation.email : null };
    const { invitation: id, madeAt, email } = (await tokens.peek(sql.db, "invitation", token))?.data ?? {};
    if (typeof id !== "string" || typeof email !== "string") return undefined;
    const which = { id: id as InvitationId };
    const asked = await invitations.open(which);
    // One that was sent again is another: its old link may have been in the wrong hands.
    return asked && asked.createdAt === madeAt ? { invitation: asked, which, proved: email } : undefined;
  }

  async function require(token: string): Promise<Found> {
    const found = await find(token);
    if (found === undefined) throw invalidToken();
    return found;
  }

  const inviteeOf = ({ id, email }: Person) => ({ id, mailbox: mailboxOf(email) ?? "" });

  return {
    async show(token) {
      const found = await find(token);
      if (found === undefined) return undefined;
      const { workspace, role, inviter, expiresAt, email } = found.invitation;
      return { workspace, role, inviter, expiresAt, email: email ?? found.proved };
    },

    async asPerson(token, { person }) {
      const { which } = await require(token);
      const tenant = await invitations.accept(which, inviteeOf(person));
      if (tenant === undefined) throw invalidToken();
      return tenant;
    },

    async mustAsk(token) {
      const { invitation, proved } = await require(token);
      return mails.isSetUp && invitation.email === null && proved === null;
    },

    async ask(token, given) {
      const email = requireEmail(given);
      const account = await people.byEmail(email);
      if (account !== undefined) {
        const url = mails.pageUrl("sign-in");
        return await mails.send("verification", account.person.email, { purpose: "existing", url, hours });
      }
      const { invitation } = await require(token);
      const data = { invitation: invitation.id, madeAt: invitation.createdAt, email };
      const own = await tokens.issue(sql.db, { kind: "invitation", person: null, data, lifeMs: askedMs });
      await mails.send("verification", email, { purpose: "sign-up", url: mails.pageUrl("invitation", own), hours });
    },

    async asNewPerson(token, { name, password, email: given }, from) {
      const { invitation, which, proved } = await require(token);
      const email = requireEmail(invitation.email ?? proved ?? given ?? "");
      const mailbox = requireMailbox(email);
      refuseCompanyDomain(companies, mailbox);
      requireGoodPassword(password, [email, name]);
      const passwordHash = await passwords.hash(password, from);
      const joined = await sql.transaction(async (trx) => {
        await tokens.use(trx, "invitation", token);
        const who = { email, name, passwordHash, isVerified: proved !== null };
        const id = await people.createIn(trx, who, { kind: "nobody" });
        const accepted = await invitations.acceptIn(trx, which, { id, mailbox });
        if (accepted === undefined) throw invalidToken();
        return { id, ...accepted };
      });
      joined.published();
      const account = await people.byId(joined.id);
      if (account === undefined) throw invalidToken();
      const step = { method: "invitation", isLasting: false } as const;
      return await signIn.proceed(account.person, step, from.request, { workspace: joined.tenant });
    },
  };
}
