import type { Context } from "hono";
import { Problem } from "../../base/errors.ts";
import type { Later } from "../../base/later.ts";
import { type Api, json, jsonBody, type RouteEnv, route, singleLine, z } from "../../http/route.ts";
import type { Guesses } from "../../limits/guesses.ts";
import type { MailRequests } from "../../limits/mail-requests.ts";
import { type AccountChanges, tooManyMails } from "../account-changes.ts";
import { requireGoodPassword } from "../password-rules.ts";
import { emailMostChars, nameMostChars, type People, requireEmail } from "../people.ts";
import type { PersonMails } from "../person-mails.ts";
import type { AccountPasswords } from "./account-password.ts";
import { type CompanyDomains, refuseCompanyDomain } from "./company-domains.ts";
import type { PasswordReset } from "./reset.ts";
import { invalidToken, type SetUp, setUpAlready } from "./setup.ts";
import { type AskedFrom, requireMailbox, type SignIn, type SignInAnswer } from "./sign-in.ts";
import type { SignUp, SignUpRule } from "./sign-up.ts";

/** The routes for people who are not signed in. Each limits its callers by address; none tells whether an account exists. */
export const emailField = z.string().max(emailMostChars, `Must have at most ${emailMostChars} characters.`);
/** Its length is checked in bytes, before anything is computed from it. */
export const passwordField = z.string();
export const tokenField = z.string().max(200, "Must have at most 200 characters.");
export const personNameField = singleLine(nameMostChars);

export const signInResult = z
  .object({
    result: z.enum(["signed_in", "second_factor"]),
    token: z.string().nullable().openapi({ description: "With `second_factor`: needed for the second step." }),
  })
  .openapi("SignInResult");

const signedInAnswer = { 200: json(signInResult, "Signed in, with a cookie; or a second factor is needed") };
const accepted = { 202: { description: "Accepted. The answer is the same whether or not there is such an account." } };
const about = { tags: ["Sign-in"] };

const routes = {
  options: route(
    "public",
    {
      ...{ method: "get", path: "/api/auth/options", operationId: "getSignInOptions", ...about },
      summary: "What this server offers to people who are not signed in",
    },
    {
      200: json(
        z
          .object({
            setUp: z.boolean().openapi({ description: "There is no operator yet: the server waits for its set-up." }),
            signUp: z.enum(["invitation", "domains", "everyone"]),
            passkeys: z.boolean().openapi({ description: "Whether browsers allow passkeys on this address." }),
            company: z
              .object({ name: z.string() })
              .nullable()
              .openapi({ description: "The sign-in with a company (OIDC), and what its button says." }),
            mail: z
              .boolean()
              .openapi({ description: "Whether links are mailed. Otherwise ask the operator for them." }),
          })
          .openapi("SignInOptions"),
        "The options",
      ),
    },
  ),
  signIn: route(
    "public",
    {
      ...{ method: "post", path: "/api/auth/sign-in", operationId: "signIn", ...about },
      summary: "Sign in with email and password",
      description: "Sets the cookie of the session.",
      request: {
        body: jsonBody(
          z
            .strictObject({
              email: emailField,
              password: passwordField,
              remember: z
                .boolean()
                .optional()
                .openapi({ description: "Stay signed in when the browser is closed. Default: false." }),
            })
            .openapi("SignIn"),
        ),
      },
    },
    signedInAnswer,
    ...(["invalid_input", "sign_in_failed", "company_sign_in", "too_many_attempts", "wrong_origin", "busy"] as const),
  ),
  setUp: route(
    "public",
    {
      ...{ method: "post", path: "/api/auth/setup", operationId: "setUp", ...about },
      summary: "Create the first person of this server",
      description: "They become operator, and owner of the workspace `default`. `quicklink setup` prints the token.",
      request: {
        body: jsonBody(
          z
            .strictObject({ token: tokenField, email: emailField, name: personNameField, password: passwordField })
            .openapi("SetUp"),
        ),
      },
    },
    signedInAnswer,
    ...(["invalid_input", "token_invalid", "set_up_already", "email_taken", "wrong_origin", "busy"] as const),
  ),
  signUp: route(
    "public",
    {
      ...{ method: "post", path: "/api/auth/sign-up", operationId: "signUp", ...about },
      summary: "Request a link to create an account",
      request: { body: jsonBody(z.strictObject({ email: emailField }).openapi("SignUp")) },
    },
    accepted,
    ...(["invalid_input", "sign_up_closed", "company_sign_in", "email_limited", "wrong_origin", "busy"] as const),
  ),
  completeSignUp: route(
    "public",
    {
      ...{ method: "post", path: "/api/auth/sign-up/complete", operationId: "completeSignUp", ...about },
      summary: "Create the account with the link from the email",
      request: {
        body: jsonBody(
          z.strictObject({ token: tokenField, name: personNameField, password: passwordField }).openapi("NewAccount"),
        ),
      },
    },
    signedInAnswer,
    ...(["invalid_input", "token_invalid", "sign_up_closed", "email_taken", "wrong_origin", "busy"] as const),
  ),
  reset: route(
    "public",
    {
      ...{ method: "post", path: "/api/auth/reset", operationId: "requestPasswordReset", ...about },
      summary: "Request a link to choose a new password",
      request: { body: jsonBody(z.strictObject({ email: emailField }).openapi("PasswordResetRequest")) },
    },
    accepted,
    ...(["invalid_input", "not_set_up", "company_sign_in", "email_limited", "wrong_origin", "busy"] as const),
  ),
  completeReset: route(
    "public",
    {
      ...{ method: "post", path: "/api/auth/reset/complete", operationId: "resetPassword", ...about },
      summary: "Choose a new password with the link",
      description: "Ends all sessions of the account, and signs in.",
      request: {
        body: jsonBody(z.strictObject({ token: tokenField, password: passwordField }).openapi("PasswordReset")),
      },
    },
    signedInAnswer,
    ...(["invalid_input", "token_invalid", "company_sign_in", "wrong_origin", "busy"] as const),
  ),
  verify: route(
    "public",
    {
      ...{ method: "post", path: "/api/auth/verify", operationId: "verifyEmail", ...about },
      summary: "Confirm the email address of an account with the link",
      request: { body: jsonBody(z.strictObject({ token: tokenField }).openapi("EmailVerification")) },
    },
    { 204: { description: "Confirmed" } },
    ...(["invalid_input", "token_invalid", "wrong_origin"] as const),
  ),
};

export interface SignInApiSettings {
  readonly people: Pick<People, "byEmail" | "byId">;
  readonly passwords: AccountPasswords;
  readonly signIn: SignIn;
  readonly setUp: SetUp;
  readonly signUp: SignUp;
  readonly rule: SignUpRule;
  readonly reset: PasswordReset;
  readonly changes: Pick<AccountChanges, "verify">;
  readonly companies: CompanyDomains;
  readonly offers: { readonly passkeys: boolean; readonly company: { readonly name: string } | null };
  readonly mails: PersonMails;
  readonly requests: MailRequests;
  readonly guesses: Guesses;
  readonly later: Later;
}

/** What a handler knows about its caller. */
export const askedFrom = (c: Context<RouteEnv>): AskedFrom => ({ request: c.req.raw, address: c.env.address });

/** Sets the cookies of a sign-in. */
export function showSignIn(c: Context<RouteEnv>, answer: SignInAnswer) {
  if (answer.kind === "second_factor") return { result: answer.kind, token: answer.token };
  for (const cookie of answer.cookies) c.header("set-cookie", cookie, { append: true });
  return { result: answer.kind, token: null };
}

/** Runs what a token opens. A wrong one is a guess: 256 bits cannot be guessed, and those who try are slowed down. */
export async function withToken<Result>(guesses: Guesses, c: Context<RouteEnv>, work: () => Promise<Result>) {
  const refuse = (retryAfterSeconds: number) =>
    new Problem(
      "too_many_guesses",
      `Too many invalid links from your IP address. Try again in ${retryAfterSeconds} s.`,
      {
        retryAfterSeconds,
      },
    );
  // A token that works does so from everywhere: a neighbour behind the same address must not lock its owner out.
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "token_invalid") throw error;
    const seconds = await guesses.missed(c.env.address);
    throw seconds === undefined ? error : refuse(seconds);
  }
}

export function signInRoutes(api: Api, settings: SignInApiSettings): void {
  const { people, passwords, signIn, setUp, signUp, reset, mails, requests, guesses, later, companies } = settings;

  /** Answers before it looks for the account: how long that takes would tell. */
  async function mailLater(email: string, address: string | undefined, work: () => Promise<void>): Promise<void> {
    const request = await requests.ask(requireMailbox(email), address);
    if (request.kind === "ignored") return;
    if (request.kind !== "granted") throw tooManyMails(request);
    if (later.run("preparing an email about an account", work)) return;
    throw new Problem("busy", "Too many emails are being prepared. Try again shortly.", { retryAfterSeconds: 2 });
  }

  api.openapi(routes.options, async (c) => {
    const isOpen = await setUp.isOpen();
    return c.json({ setUp: isOpen, signUp: settings.rule.kind, mail: mails.isSetUp, ...settings.offers }, 200);
  });

  api.openapi(routes.signIn, async (c) => {
    const { email, password, remember = false } = c.req.valid("json");
    const answer = await signIn.withPassword({ email, password, isLasting: remember, ...askedFrom(c) });
    return c.json(showSignIn(c, answer), 200);
  });

  api.openapi(routes.setUp, async (c) => {
    const { token, email: given, name, password } = c.req.valid("json");
    const answer = await withToken(guesses, c, async () => {
      if (!(await setUp.isOpen())) throw setUpAlready();
      if (!(await setUp.isValid(token))) throw invalidToken();
      const email = requireEmail(given);
      requireGoodPassword(password, [email, name]);
      const passwordHash = await passwords.hash(password, askedFrom(c));
      const account = await people.byId(await setUp.complete(token, { email, name, passwordHash }));
      if (account === undefined) throw invalidToken();
      return await signIn.proceed(account.person, { method: "setup", isLasting: false }, c.req.raw);
    });
    return c.json(showSignIn(c, answer), 200);
  });

  api.openapi(routes.signUp, async (c) => {
    const { email } = c.req.valid("json");
    refuseCompanyDomain(companies, requireMailbox(email));
    signUp.requireOpen(email);
    await mailLater(email, c.env.address, () => signUp.mail(email));
    return c.body(null, 202);
  });

  api.openapi(routes.completeSignUp, async (c) => {
    const answer = await withToken(guesses, c, () => signUp.complete(c.req.valid("json"), askedFrom(c)));
    return c.json(showSignIn(c, answer), 200);
  });

  api.openapi(routes.reset, async (c) => {
    const { email } = c.req.valid("json");
    refuseCompanyDomain(companies, requireMailbox(email));
    if (!mails.isSetUp) {
      throw new Problem(
        "not_set_up",
        "This server sends no email. Ask its operator for a link to reset your password.",
      );
    }
    await mailLater(email, c.env.address, async () => {
      const account = await people.byEmail(email);
      if (account !== undefined && account.disabledAt === null) await reset.mail(account);
    });
    return c.body(null, 202);
  });

  api.openapi(routes.completeReset, async (c) => {
    const { token, password } = c.req.valid("json");
    const answer = await withToken(guesses, c, () => reset.complete(token, password, askedFrom(c)));
    return c.json(showSignIn(c, answer), 200);
  });

  api.openapi(routes.verify, async (c) => {
    await withToken(guesses, c, () => settings.changes.verify(c.req.valid("json").token));
    return c.body(null, 204);
  });
}
