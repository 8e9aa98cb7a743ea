import { createHmac, randomBytes } from "node:crypto";
import { Problem } from "../../base/errors.ts";
import type { Sql } from "../../sql/sql.ts";
import { mailboxOf } from "../person.ts";
import { type PersonTokens, tokenHash } from "../tokens.ts";
import type { AuthorizationRequest, OidcClient } from "./oidc-client.ts";
import { OidcRefused } from "./oidc-refused.ts";

/**
 * Sign-in with the company's OpenID provider (authorization code with PKCE, state and nonce).
 *
 * The browser keeps one random secret in a cookie while it is away. Nonce and PKCE verifier are derived from it, so that what
 * comes back is worth nothing in another browser, and neither is stored here. The state is a token: it works once, in the
 * browser that it was made for.
 *
 * The provider's word counts for addresses of the company's domains only. Otherwise a company could name the address of
 * somebody else, and get their account.
 */
export interface Oidc {
  /** Whether people with this address must sign in there. Other ways in are refused to them. */
  isRequiredFor(mailbox: string): boolean;
  begin(request: OidcBegin): Promise<{ readonly url: string; readonly cookie: string }>;
  /** Throws a `Problem` that tells the person what to do. */
  finish(callback: URL, cookie: string | undefined): Promise<OidcPerson>;
}

export interface OidcBegin {
  readonly isLasting: boolean;
  /** A path of this server. */
  readonly returnTo: string;
  readonly email?: string | undefined;
}

/** Somebody whom the provider has identified, with an address of the company. */
export interface OidcPerson {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string;
  readonly mailbox: string;
  readonly name: string | undefined;
  readonly isLasting: boolean;
  readonly returnTo: string;
}

export interface OidcSettings {
  readonly sql: Sql;
  readonly tokens: Pick<PersonTokens, "issue" | "use">;
  readonly client: OidcClient;
  readonly domains: OidcDomains;
  /** The provider, or what came back from it, is not as agreed: why, for the log. */
  readonly unlike: (reason: string) => void;
}

/** `everybody`: all people of this server sign in there. */
export type OidcDomains = "everybody" | ReadonlySet<string>;

export const oidcCookieName = "quicklink-oidc";
const secretBytes = 32;
/** How long the browser may be away: as long as people need to find the password of their company. */
export const awayMs = 15 * 60_000;
const awayRetrySeconds = 10;

export function createOidc({ sql, tokens, client, domains, unlike }: OidcSettings): Oidc {
  const isOfCompany = (mailbox: string): boolean =>
    domains === "everybody" || domains.has(mailbox.slice(mailbox.lastIndexOf("@") + 1));

  function away(): Problem {
    const detail = "Your company's sign-in does not answer at the moment. Try again in a few seconds.";
    return new Problem("unavailable", detail, { retryAfterSeconds: awayRetrySeconds });
  }

  return {
    isRequiredFor: isOfCompany,

    async begin({ isLasting, returnTo, email }) {
      const cookie = randomBytes(secretBytes).toString("base64url");
      const data = { isLasting, returnTo, browser: tokenHash(cookie) };
      const state = await tokens.issue(sql.db, { kind: "oidc", person: null, data, lifeMs: awayMs });
      const url = await client.addressFor({ ...secretsFrom(cookie), state, hint: email });
      if (typeof url !== "string") throw away();
      return { url, cookie };
    },

    async finish(callback, cookie) {
      const state = callback.searchParams.get("state") ?? "";
      const begun = await sql.transaction((trx) => tokens.use(trx, "oidc", state));
      if (begun === undefined) throw OidcRefused.unbegun();
      if (cookie === undefined || begun.data.browser !== tokenHash(cookie)) throw new OidcRefused("foreign");
      const request = { ...secretsFrom(cookie), state };
      const exchanged = await client.exchange(callback, request);
      if (exchanged.kind === "away") throw away();
      if (exchanged.kind === "refused") {
        unlike(exchanged.reason);
        throw new OidcRefused("refused");
      }
      const { issuer, subject, email = "", isEmailVerified, name } = exchanged.claims;
      const mailbox = mailboxOf(email);
      if (mailbox === undefined || !isEmailVerified) throw new OidcRefused("unverified", { mailbox });
      if (!isOfCompany(mailbox)) throw new OidcRefused("outside", { mailbox });
      const { isLasting, returnTo } = begun.data;
      return {
        ...{ issuer, subject, email, mailbox, name },
        ...{ isLasting: isLasting === true, returnTo: typeof returnTo === "string" ? returnTo : "/" },
      };
    },
  };
}

function secretsFrom(cookie: string): Pick<AuthorizationRequest, "nonce" | "verifier"> {
  const derived = (purpose: string) => createHmac("sha256", cookie).update(purpose).digest("base64url");
  return { nonce: derived("nonce"), verifier: derived("verifier") };
}
