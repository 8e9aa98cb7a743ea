import { createLater, type Later } from "../base/later.ts";
import type { Api } from "../http/route.ts";
import { createSessionCookie, type SessionCookie } from "../http/session-cookie.ts";
import { createAccountAttempts } from "../limits/account-attempts.ts";
import type { Guesses } from "../limits/guesses.ts";
import { createMailRequests, type MailRequests } from "../limits/mail-requests.ts";
import { accountRoutes } from "../people/account-api.ts";
import { createAccountChanges } from "../people/account-changes.ts";
import type { Proofs } from "../people/factors/proof.ts";
import { createPersonMails, type PersonMails } from "../people/person-mails.ts";
import { type AccountPasswords, createAccountPasswords } from "../people/sign-in/account-password.ts";
import { signInRoutes } from "../people/sign-in/api.ts";
import type { CompanyDomains } from "../people/sign-in/company-domains.ts";
import { createFinish, type FinishSignIn } from "../people/sign-in/finish.ts";
import { createKnownBrowsers, type KnownBrowsers } from "../people/sign-in/known-browsers.ts";
import { createRefusedSignIns } from "../people/sign-in/refused-sign-ins.ts";
import { createPasswordReset } from "../people/sign-in/reset.ts";
import { createSignIn, type SignIn } from "../people/sign-in/sign-in.ts";
import { createSignUp } from "../people/sign-in/sign-up.ts";
import { createAgents } from "../redirect/user-agents.ts";
import type { OpenCounters } from "./counters.ts";
import type { Mail } from "./email.ts";
import { openFactors } from "./factors.ts";
import type { Wiring } from "./wiring.ts";

/** Wires how people sign in, and their own accounts. */
export interface OpenPeople {
  readonly cookie: SessionCookie;
  readonly browsers: KnownBrowsers;
  readonly finish: FinishSignIn;
  readonly signIn: SignIn;
  readonly proofs: Proofs;
  readonly passwords: AccountPasswords;
  readonly mails: PersonMails;
  readonly companies: CompanyDomains;
  /** How often strangers can have mail sent. */
  readonly requests: MailRequests;
  readonly later: Later;
  readonly routes: readonly ((api: Api) => void)[];
}

export interface PeopleParts {
  readonly counters: OpenCounters;
  readonly guesses: Guesses;
  readonly mail: Pick<Mail, "outbox">;
}

const browserCookie = "quicklink-browser";

export function openPeople({ core, log, opened }: Wiring, { counters, guesses, mail }: PeopleParts): OpenPeople {
  const { config, sql, clock, sessions, people, personTokens: tokens, setUp } = core;
  const { baseUrl, QL_SIGN_UP: rule } = config;
  const limited = { counters: counters.signIns, clock, secretFor: core.secretFor };
  const requests = createMailRequests(limited, "mail");
  const later = createLater(log);
  opened.defer(() => later.finish());

  const cookie = createSessionCookie(baseUrl);
  const browserSigner = core.signing.signerFor("browsers that signed in");
  const browsers = createKnownBrowsers(createSessionCookie(baseUrl, browserCookie), browserSigner, clock);
  const mails = createPersonMails({ outbox: config.SMTP_URL === undefined ? undefined : mail.outbox, baseUrl, log });
  const passwords = createAccountPasswords(core.passwords);

  const refused = createRefusedSignIns({ sql, clock, later });
  const agentOf = createAgents();
  const finish = createFinish({
    ...{ sql, clock, sessions, cookie, browsers, agentOf, refused },
    async newBrowser(id, { device, createdAt: at }) {
      const account = await people.byId(id);
      if (account === undefined || !mails.isSetUp || !(await requests.mayTell(id))) return;
      await mails.send("signIn", account.person.email, { device, at, url: mails.pageUrl("account") });
    },
  });
  const factors = openFactors({ core, log }, { limited, guesses, browsers, finish, agentOf, mails, refused });
  const { secondFactor, companies, offers } = factors;
  const attempts = createAccountAttempts(limited, "signIn");
  const signIn = createSignIn({
    ...{ people, passwords, attempts, browsers, secondFactor, companies, finish, refused },
  });
  const proofs = factors.proofsWith(signIn);
  const changes = createAccountChanges({
    ...{ sql, clock, people, sessions, tokens, passwords, proofs, mails, requests, companies },
  });
  const reset = createPasswordReset({
    ...{ sql, clock, people, tokens, sessions, passwords, signIn, mails, companies, baseUrl },
  });
  const signUp = createSignUp({ sql, rule, people, tokens, passwords, signIn, mails });
  const signingIn = {
    ...{ people, passwords, signIn, setUp, signUp, rule, reset, changes, companies, mails, requests, guesses, later },
    offers,
  };
  const personOf = async (id: Parameters<typeof people.byId>[0]) => (await people.byId(id))?.person;
  return {
    ...{ cookie, browsers, finish, signIn, proofs, passwords, mails, companies, requests, later },
    routes: [
      (api) => signInRoutes(api, signingIn),
      (api) => accountRoutes(api, { sessions, changes, personOf, cookie, guesses }),
      ...factors.routesWith(proofs),
    ],
  };
}
