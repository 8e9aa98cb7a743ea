import { toIso } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import { type Api, json, jsonBody, route, z } from "../http/route.ts";
import type { SessionCookie } from "../http/session-cookie.ts";
import { personSchema, sessionSchema, showPerson, showSession } from "./account-api.ts";
import type { AccountData, StoredHistory } from "./account-data.ts";
import { codeField } from "./factors/codes.ts";
import type { Proofs } from "./factors/proof.ts";
import type { People } from "./people.ts";
import { roles } from "./roles.ts";
import type { Sessions } from "./sessions.ts";
import { askedFrom, passwordField } from "./sign-in/api.ts";
import type { Workspaces } from "./workspaces/workspaces.ts";

/** Everything about a person as JSON, and the end of their account. */
const historySchema = z.object({
  at: z.string(),
  workspace: z.string().nullable(),
  action: z.string(),
  subject: z.string(),
  before: z.unknown(),
  after: z.unknown(),
});

const exportSchema = z
  .object({
    person: personSchema,
    sessions: z.array(sessionSchema),
    workspaces: z.array(z.object({ id: z.string(), slug: z.string(), name: z.string(), role: z.enum(roles) })),
    keys: z.array(
      z.object({
        ...{ workspace: z.string(), name: z.string(), hint: z.string() },
        ...{ createdAt: z.string(), revokedAt: z.string().nullable() },
      }),
    ),
    passkeys: z.array(z.object({ name: z.string(), createdAt: z.string(), lastUsedAt: z.string().nullable() })),
    identities: z.array(z.object({ issuer: z.string(), createdAt: z.string() })),
    devices: z.array(z.object({ device: z.string(), createdAt: z.string(), expiresAt: z.string() })),
    changesByYou: z.array(historySchema).openapi({ description: "The newest 10,000." }),
    changesOfYourAccount: z.array(historySchema).openapi({ description: "The newest 10,000." }),
  })
  .openapi("AccountExport");

const about = { tags: ["Account"] };

const routes = {
  export: route(
    "account",
    {
      ...{ method: "get", path: "/api/account/export", operationId: "exportAccount", ...about },
      summary: "Export everything that is stored about you",
    },
    { 200: json(exportSchema, "The data, without secrets") },
    "busy",
  ),
  remove: route(
    "account",
    {
      ...{ method: "delete", path: "/api/account", operationId: "deleteAccount", ...about },
      summary: "Delete your account",
      description:
        "Links, files and API keys stay with their workspaces; your name goes. Workspaces that have no other member stay without an owner: delete those that you no longer need first.",
      request: {
        body: jsonBody(
          z
            .strictObject({
              password: passwordField
                .optional()
                .openapi({ description: "This or `code` is required, unless you sign in without a password." }),
              code: codeField.optional(),
              keys: z
                .enum(["keep", "revoke"])
                .optional()
                .openapi({ description: "What becomes of API keys that you created. Required if any of them work." }),
            })
            .openapi("AccountDeletion"),
        ),
      },
    },
    { 204: { description: "Deleted" } },
    ...([
      "invalid_input",
      "proof_required",
      "wrong_password",
      "wrong_code",
      "too_many_attempts",
      "last_owner",
    ] as const),
    ...(["last_operator", "keys_undecided", "wrong_origin", "busy"] as const),
  ),
};

export interface AccountDataApi {
  readonly data: AccountData;
  readonly people: Pick<People, "byId">;
  readonly sessions: Pick<Sessions, "list">;
  readonly workspaces: Pick<Workspaces, "ofPerson">;
  readonly proofs: Proofs;
  readonly cookie: SessionCookie;
}

export function accountDataRoutes(api: Api, settings: AccountDataApi): void {
  const { data, people, sessions, workspaces, proofs, cookie } = settings;

  api.openapi(routes.export, async (c) => {
    const { person, session } = c.get("signedIn");
    const account = await people.byId(person.id);
    if (account === undefined) throw new Problem("unauthorized", "Your session has ended. Sign in again.");
    const stored = await data.read(person.id);
    const own = await workspaces.ofPerson(person.id);
    const body = {
      person: showPerson(account.person),
      sessions: (await sessions.list(person.id)).map((one) => showSession(one, session)),
      workspaces: own.map(({ id, slug, name, role }) => ({ id, slug, name, role })),
      keys: stored.keys.map((key) => ({ ...key, createdAt: toIso(key.createdAt), revokedAt: time(key.revokedAt) })),
      passkeys: stored.passkeys.map((one) => ({
        ...{ name: one.name, createdAt: toIso(one.createdAt), lastUsedAt: time(one.lastUsedAt) },
      })),
      identities: stored.identities.map((one) => ({ issuer: one.issuer, createdAt: toIso(one.createdAt) })),
      devices: stored.devices.map((one) => ({
        ...{ device: one.device, createdAt: toIso(one.createdAt), expiresAt: toIso(one.expiresAt) },
      })),
      changesByYou: stored.did.map(showHistory),
      changesOfYourAccount: stored.about.map(showHistory),
    };
    c.header("content-disposition", 'attachment; filename="quicklink-account.json"');
    return c.json(body, 200);
  });

  api.openapi(routes.remove, async (c) => {
    const signedIn = c.get("signedIn");
    const { password, code, keys } = c.req.valid("json");
    const { hasPassword } = signedIn.person;
    await proofs.require({ signedIn, from: askedFrom(c), password, code, acceptsFresh: !hasPassword });
    await data.erase(signedIn.person.id, keys);
    c.header("set-cookie", cookie.clear, { append: true });
    return c.body(null, 204);
  });
}

const time = (at: number | null): string | null => (at === null ? null : toIso(at));
const showHistory = ({ at, ...rest }: StoredHistory) => ({ ...rest, at: toIso(at) });
