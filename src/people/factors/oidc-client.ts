import type { Configuration, CustomFetch } from "openid-client";
import type { Clock } from "../../base/clock.ts";
import { withDeadline } from "../../base/deadline.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { readBody } from "../../base/read-body.ts";

/**
 * Talks to the company's OpenID provider: reads its metadata when it is first needed, sends browsers there, and exchanges
 * the code that they bring back for what the provider says about the person.
 *
 * A provider that is down does not concern the server's start. Every request has a deadline and a bound on its answer.
 */
export interface OidcClient {
  /** Where to send the browser. */
  addressFor(request: AuthorizationRequest): Promise<string | ProviderAway>;
  /** `callback`: the address that the provider sent the browser back to, with its parameters. */
  exchange(callback: URL, request: AuthorizationRequest): Promise<ExchangedCode>;
}

export interface AuthorizationRequest {
  readonly state: string;
  readonly nonce: string;
  /** PKCE: whoever steals the code cannot use it. */
  readonly verifier: string;
  /** The address that the person typed, for the provider's form. */
  readonly hint?: string | undefined;
}

export type ExchangedCode =
  | { readonly kind: "identified"; readonly claims: OidcClaims }
  /** What came back is not what the provider sends to us. The reason is for the log. */
  | { readonly kind: "refused"; readonly reason: string }
  | ProviderAway;

export interface ProviderAway {
  readonly kind: "away";
}

export interface OidcClaims {
  readonly issuer: string;
  /** The person at the provider, for good. */
  readonly subject: string;
  readonly email: string | undefined;
  readonly isEmailVerified: boolean;
  readonly name: string | undefined;
}

export interface OidcProvider {
  readonly issuer: string;
  readonly clientId: string;
  /** Without one, PKCE alone protects the exchange. */
  readonly clientSecret: string | undefined;
}

export interface OidcClientSettings {
  readonly provider: OidcProvider;
  readonly redirectUri: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Of one request. */
const requestMs = 4_000;
/** Of an exchange: the token, the provider's keys, and what it says about the person. Below the server's ten seconds. */
const exchangeMs = 8_000;
const answerMostBytes = 1_048_576;
/** After that, metadata are read again. */
const metadataMs = 3_600_000;
/** OpenID Connect Core, section 2. */
const subjectMost = 255;
const scope = "openid email profile";

/** Plain http is for a provider on this machine. */
const isOfThisMachine = (url: URL): boolean => ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);

class Away extends Error {
  override readonly name = "Away";
}

export function createOidcClient({ provider, redirectUri, clock, log }: OidcClientSettings): OidcClient {
  let known: { readonly config: Configuration; readonly until: number } | undefined;
  let reading: Promise<Configuration> | undefined;
  let isAway = false;

  /** One request for the metadata at a time, however many people want to sign in. */
  async function configuration(): Promise<Configuration> {
    if (known !== undefined && clock.now() < known.until) return known.config;
    reading ??= discover(provider).finally(() => {
      reading = undefined;
    });
    const config = await reading;
    known = { config, until: clock.now() + metadataMs };
    answered();
    return config;
  }

  function answered(): void {
    if (isAway) log.info({ issuer: provider.issuer }, "the OpenID provider answers again");
    isAway = false;
  }

  /** Logs when it goes and when it comes back, not every attempt: anybody can make one. */
  async function reached<Result>(work: () => Promise<Result>): Promise<Result | ProviderAway> {
    try {
      return await withDeadline(work(), exchangeMs, "the OpenID provider");
    } catch (error) {
      const reason = reasonOf(error);
      if (!isAway) log.warn({ issuer: provider.issuer, reason }, "the OpenID provider does not answer properly");
      isAway = true;
      return { kind: "away" };
    }
  }

  return {
    addressFor: ({ state, nonce, verifier, hint }) =>
      reached(async () => {
        const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import("openid-client");
        const url = buildAuthorizationUrl(await configuration(), {
          ...{ redirect_uri: redirectUri, response_type: "code", scope, state, nonce },
          ...{ code_challenge: await calculatePKCECodeChallenge(verifier), code_challenge_method: "S256" },
          ...(hint === undefined ? {} : { login_hint: hint }),
        });
        if (url.protocol !== "https:" && !isOfThisMachine(url)) throw new Away("its page is not on https");
        return url.href;
      }),

    exchange: (callback, { state, nonce, verifier }) =>
      reached(async () => {
        const { authorizationCodeGrant, fetchUserInfo } = await import("openid-client");
        const config = await configuration();
        try {
          const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier };
          const tokens = await authorizationCodeGrant(config, callback, { ...checks, idTokenExpected: true });
          answered();
          const { iss: issuer, sub: subject, ...others } = tokens.claims() ?? refuse("no ID token");
          if (subject.length > subjectMost) refuse("its subject is too long");
          const hasMore = config.serverMetadata().userinfo_endpoint !== undefined;
          const said =
            others.email === undefined && hasMore ? await fetchUserInfo(config, tokens.access_token, subject) : others;
          return { kind: "identified", claims: { issuer, subject, ...claimsOf(said) } };
        } catch (error) {
          if (isOfProvider(error)) throw error;
          return { kind: "refused", reason: reasonOf(error) };
        }
      }),
  };
}

/** For `quicklink doctor`. Throws why it cannot be used. */
export async function examineProvider(provider: OidcProvider): Promise<{ readonly keys: number }> {
  try {
    const { jwks_uri: address } = (await discover(provider)).serverMetadata();
    if (address === undefined) throw new Away("it does not say where its keys are");
    const answer = await boundedFetch(address, { headers: {}, method: "GET", redirect: "manual", body: undefined });
    const { keys } = (await answer.json()) as { keys?: unknown };
    return { keys: Array.isArray(keys) ? keys.length : 0 };
  } catch (error) {
    throw new Error(reasonOf(error));
  }
}

async function discover({ issuer, clientId, clientSecret }: OidcProvider): Promise<Configuration> {
  const oidc = await import("openid-client");
  const url = new URL(issuer);
  const insecure = url.protocol === "http:" && isOfThisMachine(url);
  const found = await oidc.discovery(url, clientId, undefined, undefined, {
    ...{ timeout: requestMs / 1_000, [oidc.customFetch]: boundedFetch },
    ...(insecure ? { execute: [oidc.allowInsecureRequests] } : {}),
  });
  const metadata = found.serverMetadata();
  // A provider of many companies answers with a pattern here: every one of them could name our people.
  if (new URL(metadata.issuer).href !== url.href) throw new Away(`it calls itself ${metadata.issuer}`);
  const methods = metadata.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  const withSecret = methods.includes("client_secret_basic") ? oidc.ClientSecretBasic : oidc.ClientSecretPost;
  const config = new oidc.Configuration(
    metadata,
    clientId,
    undefined,
    clientSecret === undefined ? oidc.None() : withSecret(clientSecret),
  );
  config.timeout = requestMs / 1_000;
  config[oidc.customFetch] = boundedFetch;
  if (insecure) oidc.allowInsecureRequests(config);
  // Verifies the signature of the ID token too, and not only the connection that it came through.
  oidc.enableNonRepudiationChecks(config);
  return config;
}

/** An answer without a bound would fill our memory. */
const boundedFetch: CustomFetch = async (url, options) => {
  const response = await fetch(url, options as RequestInit).catch((error: unknown) => {
    throw new Away(messageOf(error));
  });
  if (response.status >= 500) throw new Away(`it answered with ${response.status}`);
  if (response.body === null) return response;
  const read = await readBody(response.body, answerMostBytes, requestMs);
  if (read.kind !== "whole") throw new Away(`its answer was ${read.kind}`);
  const { status, headers } = response;
  return new Response(new Uint8Array(read.bytes), { status, headers });
};

function refuse(reason: string): never {
  throw new Error(reason);
}

function claimsOf(said: Readonly<Record<string, unknown>>): Pick<OidcClaims, "email" | "isEmailVerified" | "name"> {
  const { email, email_verified: verified, name } = said;
  return {
    email: typeof email === "string" ? email : undefined,
    // A string from some providers.
    isEmailVerified: verified === true || verified === "true",
    name: typeof name === "string" ? name : undefined,
  };
}

/** Whether the provider failed, and not what the browser brought back. */
function isOfProvider(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause) {
    if (one instanceof Away) return true;
    if ("code" in one && (one.code === "OAUTH_TIMEOUT" || one.code === "OAUTH_ABORT")) return true;
  }
  return false;
}

/** The words of a provider's error are its own, and may be long. None of them is a secret. */
function reasonOf(error: unknown): string {
  const words: string[] = [];
  for (let one = error; one instanceof Error && words.length < 3; one = one.cause) words.push(one.message);
  return words.join(": ").slice(0, reasonMost) || String(error).slice(0, reasonMost);
}
const reasonMost = 300;
