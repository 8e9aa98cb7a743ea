import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { toIso } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import type { PersonId } from "../../base/ids.ts";
import { type Api, json, jsonBody, route, singleLine, z } from "../../http/route.ts";
import type { Guesses } from "../../limits/guesses.ts";
import { askedFrom, passwordField, showSignIn, signInResult } from "../sign-in/api.ts";
import type { FinishSignIn } from "../sign-in/finish.ts";
import type { RefusedSignIns } from "../sign-in/refused-sign-ins.ts";
import { codeField } from "./codes.ts";
import type { Passkey } from "./passkey-rows.ts";
import type { Passkeys } from "./passkeys.ts";
import type { Proofs } from "./proof.ts";
import type { SecondFactors } from "./second-factors.ts";

/**
 * Passkeys: a person's own, and signing in with one. The bodies are what browsers make of a credential with `toJSON()`.
 * Browsers may add fields to it, so unknown ones are ignored there.
 */
export interface PasskeyApiSettings {
  /** `undefined`: browsers allow none on this server's address. */
  readonly passkeys: Passkeys | undefined;
  readonly factors: SecondFactors;
  readonly proofs: Proofs;
  readonly finish: FinishSignIn;
  readonly deviceOf: (request: Request) => string;
  /** Throws `company_sign_in` if the person must sign in with their company. */
  readonly requireAllowed: (person: PersonId) => Promise<void>;
  /** Counts a step that anybody can ask for. Throws a `Problem` if there were too many. */
  readonly countStep: (address: string | undefined) => Promise<void>;
  readonly guesses: Guesses;
  readonly refused: RefusedSignIns;
}

const passkeyNameMost = 80;
const idMost = 1_400; // 1,023 bytes in Base64
const partMost = 20_000;

const part = z.string().max(partMost);
const credential = {
  id: z.string().min(1).max(idMost),
  rawId: z.string().max(idMost),
  type: z.literal("public-key"),
  authenticatorAttachment: z.string().max(40).nullish(),
  clientExtensionResults: z.object({}),
};
const creationSchema = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: part,
    attestationObject: part,
    transports: z.array(z.string().max(40)).max(20).optional(),
  }),
});
const assertionSchema = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: part,
    authenticatorData: part,
    signature: part,
    userHandle: z.string().max(200).nullish(),
  }),
});

const passkeySchema = z
  .object({ id: z.string(), name: z.string(), createdAt: z.string(), lastUsedAt: z.string().nullable() })
  .openapi("Passkey");

/** Passed on to the browser as they are. */
const optionsSchema = z.record(z.string(), z.unknown());
const tags = ["Account"];
const params = z.object({ id: z.string() });
const passkeyProof = z.strictObject({ password: passwordField.optional(), code: codeField.optional() });

const routes = {
  list: route(
    "account",
    { method: "get", path: "/api/account/passkeys", tags, operationId: "listPasskeys", summary: "List your passkeys" },
    { 200: json(z.object({ items: z.array(passkeySchema) }).openapi("Passkeys"), "All of them, newest first") },
  ),
  begin: route(
    "account",
    {
      ...{ method: "post", path: "/api/account/passkeys/begin", tags, operationId: "beginPasskey" },
      summary: "Begin to create a passkey",
      description:
        "Pass the answer to `PublicKeyCredential.parseCreationOptionsFromJSON` and `navigator.credentials.create`.",
      request: { body: jsonBody(passkeyProof) },
    },
    { 200: json(optionsSchema, "The options for the browser, for five minutes") },
    ...([
      "invalid_input",
      "proof_required",
      "wrong_password",
      "wrong_code",
      "too_many_attempts",
      "not_set_up",
      "company_sign_in",
    ] as const),
  ),
  create: route(
    "account",
    {
      ...{ method: "post", path: "/api/account/passkeys", tags, operationId: "createPasskey" },
      summary: "Create a passkey from the browser's answer",
      request: {
        body: jsonBody(z.strictObject({ credential: creationSchema, name: singleLine(passkeyNameMost).optional() })),
      },
    },
    { 201: json(passkeySchema, "The passkey") },
    ...(["invalid_input", "passkey_refused", "collection_full", "not_set_up"] as const),
  ),
  rename: route(
    "account",
    {
      ...{ method: "patch", path: "/api/account/passkeys/{id}", tags, operationId: "renamePasskey" },
      summary: "Rename a passkey",
      request: { params, body: jsonBody(z.strictObject({ name: singleLine(passkeyNameMost) })) },
    },
    { 200: json(passkeySchema, "The passkey") },
    ...(["invalid_input", "not_found"] as const),
  ),
  remove: route(
    "account",
    {
      ...{ method: "delete", path: "/api/account/passkeys/{id}", tags, operationId: "deletePasskey" },
      summary: "Remove a passkey",
      description:
        "With your password or a code of your second factor, unless you signed in within the last 15 minutes.",
      request: { params, body: { ...jsonBody(passkeyProof), required: false } },
    },
    { 204: { description: "Removed" } },
    ...(["invalid_input", "not_found", "proof_required", "wrong_password", "wrong_code", "too_many_attempts"] as const),
  ),
  beginSignIn: route(
    "public",
    {
      ...{ method: "post", path: "/api/auth/passkey/begin", tags: ["Sign-in"], operationId: "beginPasskeySignIn" },
      summary: "Begin to sign in with a passkey",
      description:
        "Pass the answer to `PublicKeyCredential.parseRequestOptionsFromJSON` and `navigator.credentials.get`.",
    },
    { 200: json(optionsSchema, "The options for the browser, for five minutes") },
    ...(["not_set_up", "too_many_attempts"] as const),
  ),
  signIn: route(
    "public",
    {
      ...{ method: "post", path: "/api/auth/passkey/finish", tags: ["Sign-in"], operationId: "finishPasskeySignIn" },
      summary: "Sign in with a passkey",
      description: "A passkey is two factors by itself, so no code is asked for. Sets the cookie of the session.",
      request: {
        body: jsonBody(z.strictObject({ credential: assertionSchema, remember: z.boolean().optional() })),
      },
    },
    { 200: json(signInResult, "Signed in, with a cookie") },
    ...(["invalid_input", "passkey_refused", "company_sign_in", "sign_in_failed", "not_set_up"] as const),
  ),
};

export function passkeyRoutes(api: Api, settings: PasskeyApiSettings): void {
  const { factors, proofs, finish } = settings;

  function passkeysHere(): Passkeys {
    if (settings.passkeys !== undefined) return settings.passkeys;
    throw new Problem(
      "not_set_up",
      "Passkeys need an address with https and a name. Ask the operator to set QL_BASE_URL.",
    );
  }

  /** Whoever tries without an end is slowed down. */
  async function guessed(address: string | undefined): Promise<Problem> {
    const retryAfterSeconds = await settings.guesses.missed(address);
    if (retryAfterSeconds === undefined) return refused();
    return new Problem("too_many_guesses", "Too many passkeys of your address were refused.", { retryAfterSeconds });
  }

  api.openapi(routes.list, async (c) => {
    const items = (await settings.passkeys?.list(c.get("signedIn").person.id)) ?? [];
    return c.json({ items: items.map(showPasskey) }, 200);
  });

  api.openapi(routes.begin, async (c) => {
    const passkeys = passkeysHere();
    const signedIn = c.get("signedIn");
    const demanded = { ...c.req.valid("json"), signedIn, from: askedFrom(c), acceptsFresh: true };
    await settings.requireAllowed(signedIn.person.id);
    await proofs.require(demanded);
    const options = await passkeys.beginNew(signedIn.person);
    return c.json({ ...options } as Record<string, unknown>, 200);
  });

  api.openapi(routes.create, async (c) => {
    const { person, session } = c.get("signedIn");
    const { credential, name = settings.deviceOf(c.req.raw) } = c.req.valid("json");
    const checked = await passkeysHere().checkNew(person.id, credential as RegistrationResponseJSON);
    if (checked === undefined) throw refused();
    return c.json(showPasskey(await factors.addPasskey(session, checked, name)), 201);
  });

  api.openapi(routes.rename, async (c) => {
    const passkey = await passkeysHere().rename(
      c.get("signedIn").person.id,
      c.req.valid("param").id,
      c.req.valid("json").name,
    );
    if (passkey === undefined) throw noPasskey();
    return c.json(showPasskey(passkey), 200);
  });

  api.openapi(routes.remove, async (c) => {
    const signedIn = c.get("signedIn");
    const { id } = c.req.valid("param");
    const own = (await settings.passkeys?.list(signedIn.person.id)) ?? [];
    if (!own.some((passkey) => passkey.id === id)) throw noPasskey(); // before a code is used up for nothing
    await proofs.require({ ...c.req.valid("json"), signedIn, from: askedFrom(c), acceptsFresh: true });
    if (!(await factors.removePasskey(signedIn.session, id))) throw noPasskey();
    return c.body(null, 204);
  });

  api.openapi(routes.beginSignIn, async (c) => {
    const passkeys = passkeysHere();
    await settings.countStep(c.env.address);
    return c.json({ ...(await passkeys.beginSignIn()) } as Record<string, unknown>, 200);
  });

  api.openapi(routes.signIn, async (c) => {
    const passkeys = passkeysHere();
    const { credential, remember = false } = c.req.valid("json");
    const proof = await passkeys.checkSignIn(credential as AuthenticationResponseJSON);
    const { person } = proof;
    const noteRefused = (reason: "passkey" | "company") => settings.refused.note({ person, method: "passkey", reason });
    if (proof.kind === "refused") {
      // Nobody's passkey: as with passwords, an account that does not exist has no row.
      if (person !== undefined) noteRefused("passkey");
      throw await guessed(c.env.address);
    }
    await settings.requireAllowed(proof.person).catch((error: unknown) => {
      noteRefused("company");
      throw error;
    });
    const finished = await finish({
      ...{ person: proof.person, method: "passkey", isLasting: remember, request: c.req.raw },
      async before(trx) {
        if (await passkeys.use(trx, proof)) return;
        noteRefused("passkey");
        throw refused();
      },
    });
    return c.json(showSignIn(c, { kind: "signed_in", ...finished }), 200);
  });
}

const refused = (): Problem => new Problem("passkey_refused", "The passkey was not accepted. Try again.");
const noPasskey = (): Problem => new Problem("not_found", "No such passkey.");

const showPasskey = ({ id, name, createdAt, lastUsedAt }: Passkey) => ({
  ...{ id, name, createdAt: toIso(createdAt), lastUsedAt: lastUsedAt === null ? null : toIso(lastUsedAt) },
});
