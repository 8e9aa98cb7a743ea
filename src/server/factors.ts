import { Problem } from "../base/errors.ts";
import type { PersonId } from "../base/ids.ts";
import type { Api } from "../http/route.ts";
import { createSessionCookie } from "../http/session-cookie.ts";
import { createAccountAttempts } from "../limits/account-attempts.ts";
import { type AddressLimiterSettings, toRetrySeconds } from "../limits/address-limiter.ts";
import type { Guesses } from "../limits/guesses.ts";
import { createSignInSteps } from "../limits/sign-in-steps.ts";
import { factorRoutes } from "../people/factors/account-api.ts";
import { type BeginAttempt, createSecondFactorCodes } from "../people/factors/codes.ts";
import { createIdentities } from "../people/factors/identities.ts";
import { createKnownDevices, deviceCookieName } from "../people/factors/known-devices.ts";
import { createOidc, oidcCookieName } from "../people/factors/oidc.ts";
import { createOidcClient } from "../people/factors/oidc-client.ts";
import { passkeyRoutes } from "../people/factors/passkey-api.ts";
import { allowsPasskeys, createPasskeys } from "../people/factors/passkeys.ts";
import { createProofs, type Proofs } from "../people/factors/proof.ts";
import { createRecoveryCodes } from "../people/factors/recovery-codes.ts";
import { createSecondFactors } from "../people/factors/second-factors.ts";
import { createSecondStep } from "../people/factors/second-step.ts";
import { type CompanySignIn, factorSignInRoutes, oidcCallbackPath } from "../people/factors/sign-in-api.ts";
import { createTotp } from "../people/factors/totp.ts";
import { mailboxOf } from "../people/person.ts";
import type { PersonMails } from "../people/person-mails.ts";
import { type CompanyDomains, noCompanyDomains, refuseCompanyDomain } from "../people/sign-in/company-domains.ts";
import { deviceLabel } from "../people/sign-in/device-label.ts";
import { type FinishSignIn, signInFailed } from "../people/sign-in/finish.ts";
import type { KnownBrowsers } from "../people/sign-in/known-browsers.ts";
import type { RefusedSignIns } from "../people/sign-in/refused-sign-ins.ts";
import type { SecondFactor } from "../people/sign-in/second-factor.ts";
import { requireGranted, type SignIn } from "../people/sign-in/sign-in.ts";
import type { AgentOf } from "../redirect/user-agents.ts";
import type { Wiring } from "./wiring.ts";

/** Wires second factors, passkeys and the company's sign-in. */
export interface OpenFactors {
  readonly secondFactor: SecondFactor;
  readonly companies: CompanyDomains;
  /** For the page on which people sign in. */
  readonly offers: { readonly passkeys: boolean; readonly company: { readonly name: string } | null };
  /** `signIn` needs the second factor, and proofs need `signIn`. */
  proofsWith(signIn: Pick<SignIn, "checkPassword">): Proofs;
  routesWith(proofs: Proofs): readonly ((api: Api) => void)[];
}

export interface FactorParts {
  readonly limited: AddressLimiterSettings;
  readonly guesses: Guesses;
  readonly browsers: KnownBrowsers;
  readonly finish: FinishSignIn;
  readonly agentOf: AgentOf;
  readonly mails: PersonMails;
  readonly refused: RefusedSignIns;
}

export function openFactors(wiring: Pick<Wiring, "core" | "log">, parts: FactorParts): OpenFactors {
  const { core } = wiring;
  const { config, sql, clock, sessions, people, personTokens: tokens, ring } = core;
  const { limited, guesses, browsers, finish, mails, refused } = parts;
  const { baseUrl } = config;
  const { db } = sql;
  const deviceOf = (request: Request) => deviceLabel(parts.agentOf(request.headers.get("user-agent")));

  const totp = ring && createTotp({ sql, clock, ring, issuer: new URL(baseUrl).host });
  const recoveryCodes = createRecoveryCodes(sql, clock);
  const devices = createKnownDevices(sql, clock);
  const attempts = createAccountAttempts(limited, "code");
  const begin: BeginAttempt = async (account, { request, address }) => {
    const browser = browsers.nameFor(request.headers.get("cookie"), account);
    return requireGranted(await attempts.begin({ account, address, browser }));
  };
  const codes = createSecondFactorCodes({ totp, recoveryCodes, begin });
  const cookie = createSessionCookie(baseUrl, deviceCookieName);
  const secondStep = createSecondStep({ sql, tokens, codes, devices, cookie, finish, deviceOf, refused });
  const passkeys = allowsPasskeys(baseUrl) ? createPasskeys({ sql, clock, tokens, baseUrl }) : undefined;
  const factors = createSecondFactors({
    ...{ sql, clock, sessions, people, totp, recoveryCodes, passkeys },
    async tell(id, what) {
      const to = (await people.byId(id))?.person.email;
      if (to !== undefined) await mails.send("account", to, { what, at: clock.now(), url: mails.pageUrl("account") });
    },
  });
  const oidc = openCompany(wiring);
  const companies: CompanyDomains = oidc ? { isRequired: oidc.oidc.isRequiredFor } : noCompanyDomains;
  const steps = createSignInSteps(limited);

  async function countStep(address: string | undefined): Promise<void> {
    const taken = await steps.take(address);
    if (taken.kind === "granted") return;
    const retryAfterSeconds = toRetrySeconds(taken.retryAfterMs);
    if (taken.kind === "denied") {
      throw new Problem("too_many_attempts", "Too many sign-ins were begun from your address.", { retryAfterSeconds });
    }
    throw new Problem("unavailable", "Sign-ins cannot be counted right now. Try again shortly.", { retryAfterSeconds });
  }

  async function requireAllowed(id: PersonId): Promise<void> {
    const account = await people.byId(id);
    if (account === undefined) throw signInFailed();
    refuseCompanyDomain(companies, mailboxOf(account.person.email) ?? "");
  }

  return {
    secondFactor: secondStep,
    companies,
    offers: { passkeys: passkeys !== undefined, company: oidc ? { name: oidc.name } : null },
    proofsWith: (signIn) =>
      createProofs({
        ...{ db, clock, codes },
        async requirePassword(id, password, from) {
          const account = await people.byId(id);
          if (account !== undefined && (await signIn.checkPassword(account, password, from))) return;
          throw new Problem("wrong_password", "The password is wrong.");
        },
      }),
    routesWith(proofs) {
      return [
        (api) => factorRoutes(api, { totp, factors, recoveryCodes, devices, proofs }),
        (api) =>
          passkeyRoutes(api, {
            ...{ passkeys, factors, proofs, finish, deviceOf, requireAllowed, countStep, guesses, refused },
          }),
        (api) => factorSignInRoutes(api, { secondStep, oidc, guesses, finish, countStep, people, refused }),
      ];
    },
  };
}

/** Undefined: the operator has set no provider. */
function openCompany({ core, log }: Pick<Wiring, "core" | "log">): CompanySignIn | undefined {
  const { config, sql, clock, sessions, people, personTokens: tokens } = core;
  const { QL_OIDC_ISSUER: issuer, QL_OIDC_CLIENT_ID: clientId, QL_OIDC_DOMAINS: domains } = config;
  if (issuer === undefined || clientId === undefined || domains === undefined) return undefined;
  const redirectUri = `${config.baseUrl}${oidcCallbackPath}`;
  const provider = { issuer, clientId, clientSecret: config.QL_OIDC_CLIENT_SECRET };
  const client = createOidcClient({ provider, redirectUri, clock, log });
  const unlike = (reason: string) => log.warn({ reason }, "a sign-in with the company was refused");
  const oidc = createOidc({ sql, tokens, client, domains, unlike });
  const allowsSignUp = config.QL_OIDC_SIGN_UP === "on";
  return {
    oidc,
    identities: createIdentities({ sql, clock, people, sessions, isOfCompany: oidc.isRequiredFor, allowsSignUp }),
    name: config.QL_OIDC_NAME,
    cookie: createSessionCookie(config.baseUrl, oidcCookieName),
    redirectUri,
  };
}
