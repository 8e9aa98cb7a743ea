import type { Context } from "hono";
import { invalid, Problem } from "../../base/errors.ts";
import { type Api, json, jsonBody, type RouteEnv, route, z } from "../../http/route.ts";
import type { SessionCookie } from "../../http/session-cookie.ts";
import type { Guesses } from "../../limits/guesses.ts";
import type { People } from "../people.ts";
import { askedFrom, emailField, showSignIn, signInResult, tokenField, withToken } from "../sign-in/api.ts";
import type { FinishSignIn } from "../sign-in/finish.ts";
import type { RefusedSignIns } from "../sign-in/refused-sign-ins.ts";
import { codeField } from "./codes.ts";
import type { Identities } from "./identities.ts";
import { awayMs, type Oidc } from "./oidc.ts";
import { OidcRefused, refusalOf } from "./oidc-refused.ts";
import type { SecondStep } from "./second-step.ts";

/** Signing in: the second step, and the company's provider. */
export interface FactorSignInSettings {
  readonly secondStep: SecondStep;
  /** `undefined`: no provider is set up. */
  readonly oidc: CompanySignIn | undefined;
  readonly guesses: Guesses;
  readonly finish: FinishSignIn;
  readonly countStep: (address: string | undefined) => Promise<void>;
  readonly people: Pick<People, "byEmail">;
  readonly refused: RefusedSignIns;
}

export interface CompanySignIn {
  readonly oidc: Oidc;
  readonly identities: Identities;
  /** What the button says. */
  readonly name: string;
  /** Of a browser that is at the provider. */
  readonly cookie: SessionCookie;
  readonly redirectUri: string;
}

export const oidcCallbackPath = "/api/auth/oidc/callback";
const pathMost = 500;
const tags = ["Sign-in"];

const routes = {
  secondFactor: route(
    "public",
    {
      ...{ method: "post", path: "/api/auth/second-factor", tags, operationId: "answerSecondFactor" },
      summary: "Complete a sign-in with a code of the second factor",
      description: "`token`: from the first step. Sets the cookie of the session.",
      request: {
        body: jsonBody(
          z.strictObject({
            token: tokenField,
            code: codeField,
            rememberDevice: z.boolean().optional().openapi({ description: "Asks for no code here for 30 days." }),
          }),
        ),
      },
    },
    { 200: json(signInResult, "Signed in, with a cookie") },
    ...(["invalid_input", "wrong_code", "token_invalid", "too_many_attempts", "sign_in_failed"] as const),
  ),
  begin: route(
    "public",
    {
      ...{ method: "post", path: "/api/auth/oidc/begin", tags, operationId: "beginOidc" },
      summary: "Begin to sign in with your company",
      description: "Go to `url` with the browser. It comes back signed in.",
      request: {
        body: jsonBody(
          z.strictObject({
            email: emailField.optional().openapi({ description: "Fills in the provider's form." }),
            remember: z.boolean().optional(),
            returnTo: z
              .string()
              .max(pathMost)
              .optional()
              .openapi({ description: "A path of this server to go to afterwards.", example: "/app/links" }),
          }),
        ),
      },
    },
    { 200: json(z.object({ url: z.string() }).openapi("OidcBegin"), "Where to go") },
    ...(["invalid_input", "not_set_up", "too_many_attempts"] as const),
  ),
  callback: route(
    "public",
    {
      ...{ method: "get", path: oidcCallbackPath, tags, operationId: "finishOidc" },
      summary: "Where the company's provider sends the browser back to",
      description:
        "Sets the cookie of the session and redirects. A browser that is refused is sent to the sign-in page, which says why. Not for programs.",
    },
    { 303: { description: "Signed in; or refused, for a browser" } },
    ...(["oidc_refused", "sign_in_failed", "not_set_up"] as const),
  ),
};

export function factorSignInRoutes(api: Api, settings: FactorSignInSettings): void {
  const { secondStep, finish } = settings;

  function companyHere(): CompanySignIn {
    if (settings.oidc !== undefined) return settings.oidc;
    throw new Problem("not_set_up", "The operator has not set up the sign-in with a company.");
  }

  async function noted(error: unknown): Promise<never> {
    if (error instanceof OidcRefused && error.who !== undefined) {
      const { person, mailbox } = error.who;
      const account = mailbox === undefined ? undefined : await settings.people.byEmail(mailbox);
      settings.refused.note({ person: person ?? account?.person.id, method: "oidc", reason: error.reason });
    }
    throw error;
  }

  api.openapi(routes.secondFactor, async (c) => {
    const { token, code, rememberDevice: remembersDevice = false } = c.req.valid("json");
    const answer = { token, code, remembersDevice, ...askedFrom(c) };
    const finished = await withToken(settings.guesses, c, () => secondStep.answer(answer));
    return c.json(showSignIn(c, { kind: "signed_in", ...finished }), 200);
  });

  api.openapi(routes.begin, async (c) => {
    const { oidc, cookie } = companyHere();
    const { email, remember = false, returnTo = "/app/" } = c.req.valid("json");
    requireOwnPath(returnTo);
    await settings.countStep(c.env.address);
    const begun = await oidc.begin({ isLasting: remember, returnTo, email });
    c.header("set-cookie", cookie.write(begun.cookie, awayMs / 1_000), { append: true });
    return c.json({ url: begun.url }, 200);
  });

  async function comeBack(c: Context<RouteEnv>, { oidc, identities, cookie, redirectUri }: CompanySignIn) {
    const callback = new URL(redirectUri);
    callback.search = new URL(c.req.url).search;
    const identified = async () => {
      const person = await oidc.finish(callback, cookie.read(c.req.header("cookie") ?? null));
      return { person, account: await identities.accountFor(person) };
    };
    const { person, account } = await identified().catch(noted);
    const finished = await finish({
      ...{ person: account, method: "oidc", isLasting: person.isLasting, request: c.req.raw },
    });
    for (const text of [...finished.cookies, cookie.clear]) c.header("set-cookie", text, { append: true });
    return c.redirect(person.returnTo, 303);
  }

  api.openapi(routes.callback, async (c) => {
    const company = companyHere();
    try {
      return await comeBack(c, company);
    } catch (error) {
      const isPage = c.req.header("accept")?.includes("text/html") ?? false;
      if (!(error instanceof Problem) || !isPage) throw error;
      return c.redirect(`/app/sign-in?company=${refusalOf(error)}`, 303);
    }
  });
}

/** Anything else could lead to another site: `//evil.example`, `/\evil.example`. */
function requireOwnPath(path: string): void {
  if (/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(path)) return;
  throw invalid("returnTo", "bad_path", "Must be a path of this server, such as /app/links.");
}
