import { toIso } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import { parseId } from "../base/ids.ts";
import { type Api, json, jsonBody, route, z } from "../http/route.ts";
import type { SessionCookie } from "../http/session-cookie.ts";
import type { Guesses } from "../limits/guesses.ts";
import type { Session } from "./access.ts";
import type { AccountChanges } from "./account-changes.ts";
import { codeField } from "./factors/codes.ts";
import type { Person } from "./person.ts";
import { permissionsOf, roles } from "./roles.ts";
import type { Sessions } from "./sessions.ts";
import { askedFrom, emailField, passwordField, personNameField, tokenField, withToken } from "./sign-in/api.ts";

/** The routes of a person's own account and sessions. */
export const personSchema = z
  .object({
    id: z.string(),
    email: z.string(),
    name: z.string(),
    emailVerified: z.boolean(),
    operator: z.boolean(),
    hasPassword: z.boolean(),
    hasSecondFactor: z.boolean(),
    createdAt: z.string(),
  })
  .openapi("Person");

export const sessionSchema = z
  .object({
    id: z.string(),
    device: z.string().openapi({ description: "According to the browser, such as `Firefox on Linux`." }),
    method: z.string(),
    current: z.boolean(),
    createdAt: z.string(),
    lastUsedAt: z.string().openapi({ description: "Up to some minutes old." }),
    expiresAt: z.string(),
  })
  .openapi("Session");

const accountSchema = z
  .object({
    person: personSchema,
    session: sessionSchema,
    workspaces: z.array(
      z.object({
        id: z.string(),
        slug: z.string(),
        name: z.string(),
        role: z.enum(roles),
        permissions: z
          .array(z.string())
          .openapi({ description: "What your role allows: scopes of API keys, and `owner`.", example: ["links:read"] }),
        chosen: z.boolean(),
      }),
    ),
  })
  .openapi("Account");

const about = { tags: ["Account"] };

const routes = {
  get: route(
    "account",
    {
      ...{ method: "get", path: "/api/account", operationId: "getAccount", ...about },
      summary: "Get your account, session and workspaces",
    },
    { 200: json(accountSchema, "The account") },
  ),
  change: route(
    "account",
    {
      ...{ method: "patch", path: "/api/account", operationId: "updateAccount", ...about },
      summary: "Change your name",
      request: { body: jsonBody(z.strictObject({ name: personNameField }).openapi("AccountChange")) },
    },
    { 200: json(personSchema, "The person") },
    ...(["invalid_input", "wrong_origin"] as const),
  ),
  password: route(
    "account",
    {
      ...{ method: "post", path: "/api/account/password", operationId: "changePassword", ...about },
      summary: "Change your password",
      description: "Ends all other sessions.",
      request: {
        body: jsonBody(
          z
            .strictObject({
              current: passwordField.optional().openapi({ description: "Required if you have a password." }),
              password: passwordField,
            })
            .openapi("PasswordChange"),
        ),
      },
    },
    { 204: { description: "Changed" } },
    ...(["invalid_input", "wrong_password", "proof_required", "too_many_attempts", "wrong_origin", "busy"] as const),
  ),
  email: route(
    "account",
    {
      ...{ method: "post", path: "/api/account/email", operationId: "changeEmail", ...about },
      summary: "Change your email address",
      description: "The address changes when you open the link that is mailed to it. The old address is told.",
      request: {
        body: jsonBody(
          z
            .strictObject({
              email: emailField,
              password: passwordField
                .optional()
                .openapi({ description: "This or `code` is required, unless you sign in without a password." }),
              code: codeField.optional(),
            })
            .openapi("EmailChange"),
        ),
      },
    },
    {
      202: { description: "A link was mailed to the new address" },
      204: { description: "Changed at once, because this server sends no email" },
    },
    ...(["invalid_input", "wrong_password", "wrong_code", "proof_required", "too_many_attempts"] as const),
    "email_taken",
    "company_sign_in",
    ...(["email_limited", "wrong_origin", "busy"] as const),
  ),
  confirmEmail: route(
    "account",
    {
      ...{ method: "post", path: "/api/account/email/confirm", operationId: "confirmEmail", ...about },
      summary: "Confirm your new email address with the link",
      request: { body: jsonBody(z.strictObject({ token: tokenField }).openapi("EmailConfirmation")) },
    },
    { 200: json(personSchema, "The person") },
    ...(["invalid_input", "token_invalid", "email_taken", "wrong_origin"] as const),
  ),
  verification: route(
    "account",
    {
      ...{ method: "post", path: "/api/account/verification", operationId: "requestVerification", ...about },
      summary: "Request a link to confirm your email address",
    },
    { 202: { description: "Mailed, unless it is confirmed already" } },
    ...(["not_set_up", "email_limited", "wrong_origin"] as const),
  ),
  signOut: route(
    "account",
    {
      ...{ method: "delete", path: "/api/account/session", operationId: "signOut", ...about },
      summary: "Sign out",
    },
    { 204: { description: "Signed out" } },
    "wrong_origin",
  ),
  sessions: route(
    "account",
    {
      ...{ method: "get", path: "/api/account/sessions", operationId: "listSessions", ...about },
      summary: "List your sessions, newest first",
    },
    { 200: json(z.object({ items: z.array(sessionSchema) }).openapi("Sessions"), "At most 50") },
  ),
  endSession: route(
    "account",
    {
      ...{ method: "delete", path: "/api/account/sessions/{id}", operationId: "endSession", ...about },
      summary: "End one of your sessions",
      request: { params: z.object({ id: z.string() }) },
    },
    { 204: { description: "Ended" } },
    ...(["not_found", "wrong_origin"] as const),
  ),
  endOthers: route(
    "account",
    {
      ...{ method: "delete", path: "/api/account/sessions", operationId: "endOtherSessions", ...about },
      summary: "End all your other sessions",
    },
    { 200: json(z.object({ ended: z.int() }).openapi("EndedSessions"), "How many there were") },
    "wrong_origin",
  ),
};

export interface AccountApiSettings {
  readonly sessions: Sessions;
  readonly changes: AccountChanges;
  readonly personOf: (id: Person["id"]) => Promise<Person | undefined>;
  readonly cookie: SessionCookie;
  readonly guesses: Guesses;
}

export function accountRoutes(api: Api, { sessions, changes, personOf, cookie, guesses }: AccountApiSettings): void {
  async function shown({ id }: Person) {
    const person = await personOf(id);
    if (person === undefined) throw new Problem("unauthorized", "Your account was removed.");
    return showPerson(person);
  }

  api.openapi(routes.get, (c) => {
    const { person, session, memberships } = c.get("signedIn");
    const workspaces = memberships.map(({ tenant, slug, name, role }) => ({
      ...{ id: tenant, slug, name, role, permissions: permissionsOf(role), chosen: tenant === session.workspace },
    }));
    return c.json({ person: showPerson(person), session: showSession(session, session), workspaces }, 200);
  });

  api.openapi(routes.change, async (c) => {
    const { person } = c.get("signedIn");
    await changes.rename(c.get("signedIn"), c.req.valid("json").name);
    return c.json(await shown(person), 200);
  });

  api.openapi(routes.password, async (c) => {
    const { current, password } = c.req.valid("json");
    const given = { password, ...(current !== undefined && { current }) };
    await changes.changePassword(c.get("signedIn"), given, askedFrom(c));
    return c.body(null, 204);
  });

  api.openapi(routes.email, async (c) => {
    const done = await changes.changeEmail(c.get("signedIn"), c.req.valid("json"), askedFrom(c));
    return c.body(null, done === "mailed" ? 202 : 204);
  });

  api.openapi(routes.confirmEmail, async (c) => {
    const signedIn = c.get("signedIn");
    await withToken(guesses, c, () => changes.confirmEmail(signedIn, c.req.valid("json").token));
    return c.json(await shown(signedIn.person), 200);
  });

  api.openapi(routes.verification, async (c) => {
    await changes.askVerification(c.get("signedIn"), askedFrom(c));
    return c.body(null, 202);
  });

  api.openapi(routes.signOut, async (c) => {
    const { person, session } = c.get("signedIn");
    await sessions.end(person.id, { only: session.id });
    c.header("set-cookie", cookie.clear, { append: true });
    return c.body(null, 204);
  });

  api.openapi(routes.sessions, async (c) => {
    const { person, session } = c.get("signedIn");
    const items = (await sessions.list(person.id)).map((one) => showSession(one, session));
    return c.json({ items }, 200);
  });

  api.openapi(routes.endSession, async (c) => {
    const { person } = c.get("signedIn");
    const id = parseId("session", c.req.valid("param").id);
    const ended = id === undefined ? 0 : await sessions.end(person.id, { only: id });
    if (ended === 0) throw new Problem("not_found", "You have no such session.");
    return c.body(null, 204);
  });

  api.openapi(routes.endOthers, async (c) => {
    const { person, session } = c.get("signedIn");
    return c.json({ ended: await sessions.end(person.id, { except: session.id }) }, 200);
  });
}

/** A person as they, operators and commands see them. */
export const showPerson = (person: Person) => ({
  id: person.id,
  email: person.email,
  name: person.name,
  emailVerified: person.isVerified,
  operator: person.isOperator,
  hasPassword: person.hasPassword,
  hasSecondFactor: person.hasTotp,
  createdAt: toIso(person.createdAt),
});

export const showSession = (session: Session, current?: Session) => ({
  id: session.id,
  device: session.device,
  method: session.method,
  current: session.id === current?.id,
  createdAt: toIso(session.createdAt),
  lastUsedAt: toIso(session.seenAt),
  expiresAt: toIso(session.expiresAt),
});
