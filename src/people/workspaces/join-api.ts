import { toIso } from "../../base/clock.ts";
import { invalid, Problem } from "../../base/errors.ts";
import type { Later } from "../../base/later.ts";
import { type Api, json, jsonBody, route, z } from "../../http/route.ts";
import type { Guesses } from "../../limits/guesses.ts";
import type { MailRequests } from "../../limits/mail-requests.ts";
import { tooManyMails } from "../account-changes.ts";
import { roles } from "../roles.ts";
import type { Sessions } from "../sessions.ts";
import { askedFrom, emailField, passwordField, personNameField, showSignIn, withToken } from "../sign-in/api.ts";
import { type CompanyDomains, refuseCompanyDomain } from "../sign-in/company-domains.ts";
import { invalidToken } from "../sign-in/setup.ts";
import { requireMailbox } from "../sign-in/sign-in.ts";
import type { Join } from "./join.ts";

/** For whoever has an invitation: what it is for, and joining with an account or a new one. */
const params = z.object({ token: z.string().max(200) });

const shownSchema = z
  .object({
    workspace: z.string(),
    inviter: z.string().nullable(),
    role: z.enum(roles),
    email: z.string().nullable().openapi({ description: "Only the account with this address can accept it." }),
    expiresAt: z.string(),
  })
  .openapi("ReceivedInvitation");

const joinedSchema = z
  .object({
    result: z.enum(["signed_in", "second_factor", "mailed"]),
    token: z.string().nullable().openapi({ description: "With `second_factor`: needed for the second step." }),
  })
  .openapi("JoinResult");

const routes = {
  show: route(
    "public",
    {
      ...{ method: "get", path: "/api/auth/invitations/{token}", operationId: "getInvitation", tags: ["Sign-in"] },
      summary: "What an invitation is for",
      request: { params },
    },
    { 200: json(shownSchema, "The invitation") },
    "token_invalid",
  ),
  join: route(
    "public",
    {
      ...{ method: "post", path: "/api/auth/invitations/{token}/accept", operationId: "joinWithNewAccount" },
      tags: ["Sign-in"],
      summary: "Accept an invitation with a new account",
      description:
        "For a link without an address, `email` is required. If this server sends mail, the answer is then `mailed`: the mail has the link to continue with.",
      request: {
        params,
        body: jsonBody(
          z
            .strictObject({
              name: personNameField.optional(),
              password: passwordField.optional(),
              email: emailField.optional(),
            })
            .openapi("NewMember"),
        ),
      },
    },
    { 200: json(joinedSchema, "Signed in, with a cookie; or an email was sent") },
    ...(["invalid_input", "token_invalid", "email_taken", "company_sign_in", "collection_full"] as const),
    ...(["email_limited", "wrong_origin", "busy"] as const),
  ),
  accept: route(
    "account",
    {
      ...{ method: "post", path: "/api/account/invitations/{token}/accept", operationId: "acceptInvitation" },
      tags: ["Account"],
      summary: "Accept an invitation",
      description: "The session shows the workspace from now on.",
      request: { params },
    },
    { 200: json(z.object({ workspace: z.string() }).openapi("JoinedWorkspace"), "The ID of the workspace") },
    ...(["token_invalid", "already_member", "collection_full", "wrong_origin"] as const),
  ),
};

export interface JoinApi {
  readonly join: Join;
  readonly sessions: Pick<Sessions, "choose">;
  readonly guesses: Guesses;
  readonly requests: MailRequests;
  readonly companies: CompanyDomains;
  readonly later: Later;
}

export function joinRoutes(api: Api, { join, sessions, guesses, requests, companies, later }: JoinApi): void {
  api.openapi(routes.show, async (c) => {
    const shown = await withToken(guesses, c, async () => {
      const found = await join.show(c.req.valid("param").token);
      if (found === undefined) throw invalidToken();
      return found;
    });
    const { workspace, role, email, inviter, expiresAt } = shown;
    return c.json({ workspace, role, email, inviter: inviter?.name ?? null, expiresAt: toIso(expiresAt) }, 200);
  });

  /** Answers before it looks for the account: how long that takes would tell. */
  async function mailLater(email: string, address: string | undefined, work: () => Promise<void>): Promise<void> {
    const request = await requests.ask(requireMailbox(email), address);
    if (request.kind === "ignored") return;
    if (request.kind !== "granted") throw tooManyMails(request);
    if (later.run("preparing an email about an invitation", work)) return;
    throw new Problem("busy", "Too many emails are being prepared. Try again shortly.", { retryAfterSeconds: 2 });
  }

  api.openapi(routes.join, async (c) => {
    const { token } = c.req.valid("param");
    const { name, password, email } = c.req.valid("json");
    const answer = await withToken(guesses, c, async () => {
      if (await join.mustAsk(token)) {
        if (email === undefined) throw required("email");
        refuseCompanyDomain(companies, requireMailbox(email));
        await mailLater(email, c.env.address, () => join.ask(token, email));
        return undefined;
      }
      if (name === undefined) throw required("name");
      if (password === undefined) throw required("password");
      return await join.asNewPerson(token, { name, password, email }, askedFrom(c));
    });
    return c.json(answer === undefined ? { result: "mailed" as const, token: null } : showSignIn(c, answer), 200);
  });

  api.openapi(routes.accept, async (c) => {
    const signedIn = c.get("signedIn");
    const workspace = await withToken(guesses, c, () => join.asPerson(c.req.valid("param").token, signedIn));
    await sessions.choose(signedIn.session, workspace);
    return c.json({ workspace }, 200);
  });
}

const required = (field: string) => invalid(field, "required", "Required.");
