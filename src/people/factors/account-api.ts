import { toIso } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import { parseId } from "../../base/ids.ts";
import { type Api, json, jsonBody, route, z } from "../../http/route.ts";
import { askedFrom, passwordField } from "../sign-in/api.ts";
import { codeField } from "./codes.ts";
import type { KnownDevices } from "./known-devices.ts";
import type { Proofs } from "./proof.ts";
import { type RecoveryCodes, recoveryCodesCount } from "./recovery-codes.ts";
import type { SecondFactors } from "./second-factors.ts";
import type { Totp } from "./totp.ts";

/** A person's own second factor: authenticator app, recovery codes, remembered devices. */
export interface FactorApiSettings {
  /** `undefined`: secrets cannot be encrypted on this server. */
  readonly totp: Totp | undefined;
  readonly factors: SecondFactors;
  readonly recoveryCodes: RecoveryCodes;
  readonly devices: KnownDevices;
  readonly proofs: Proofs;
}

const proofFields = { password: passwordField.optional(), code: codeField.optional() };

const proofSchema = z
  .strictObject(proofFields)
  .openapi("Proof", { description: "Your password, or a code of your second factor.", example: { code: "492039" } });

const offerSchema = z
  .object({ secret: z.string(), url: z.string(), expiresAt: z.string() })
  .openapi("TotpOffer", { description: "`secret` for typing, `url` for a QR code. Shown only once." });

const recoverySchema = z
  .object({ recoveryCodes: z.array(z.string()) })
  .openapi("RecoveryCodes", { description: "Each works once instead of a code of the app. Shown only once." });

const factorSchema = z.object({ enabled: z.boolean(), recoveryCodesLeft: z.int() }).openapi("SecondFactor");

const deviceSchema = z
  .object({ id: z.string(), device: z.string(), createdAt: z.string(), expiresAt: z.string() })
  .openapi("RememberedDevice");

const tags = ["Account"];

const routes = {
  get: route(
    "account",
    { method: "get", path: "/api/account/totp", tags, operationId: "getTotp", summary: "Get your second factor" },
    { 200: json(factorSchema, "Whether an app is set up, and how many recovery codes are left") },
  ),
  begin: route(
    "account",
    {
      ...{ method: "post", path: "/api/account/totp", tags, operationId: "beginTotp" },
      summary: "Begin to set up an authenticator app",
      description: "Returns a secret. It counts once it is confirmed with a code of the app.",
      request: { body: jsonBody(proofSchema) },
    },
    { 200: json(offerSchema, "The secret, for 20 minutes") },
    ...(["invalid_input", "proof_required", "wrong_password", "wrong_code", "too_many_attempts"] as const),
    ...(["name_taken", "not_set_up"] as const),
  ),
  confirm: route(
    "account",
    {
      ...{ method: "post", path: "/api/account/totp/confirm", tags, operationId: "confirmTotp" },
      summary: "Confirm an authenticator app with a code of it",
      description: "From now on, signing in with your password needs a code too.",
      request: { body: jsonBody(z.strictObject({ code: codeField })) },
    },
    { 200: json(recoverySchema, "The recovery codes") },
    ...(["invalid_input", "wrong_code", "not_found", "name_taken", "not_set_up"] as const),
  ),
  remove: route(
    "account",
    {
      ...{ method: "post", path: "/api/account/totp/remove", tags, operationId: "removeTotp" },
      summary: "Remove your authenticator app",
      description: "Ends your recovery codes and remembered devices too.",
      request: { body: jsonBody(proofSchema) },
    },
    { 204: { description: "Removed" } },
    ...(["invalid_input", "proof_required", "wrong_password", "wrong_code", "too_many_attempts", "not_found"] as const),
  ),
  renew: route(
    "account",
    {
      ...{ method: "post", path: "/api/account/recovery-codes", tags, operationId: "renewRecoveryCodes" },
      summary: "Get new recovery codes",
      description: "The previous ones stop working.",
      request: { body: jsonBody(proofSchema) },
    },
    { 200: json(recoverySchema, `${recoveryCodesCount} codes`) },
    ...(["invalid_input", "proof_required", "wrong_password", "wrong_code", "too_many_attempts", "not_found"] as const),
  ),
  devices: route(
    "account",
    {
      ...{ method: "get", path: "/api/account/devices", tags, operationId: "listDevices" },
      summary: "List the browsers that are asked for no code, newest first",
    },
    { 200: json(z.object({ items: z.array(deviceSchema) }).openapi("RememberedDevices"), "All of them") },
  ),
  forget: route(
    "account",
    {
      ...{ method: "delete", path: "/api/account/devices/{id}", tags, operationId: "forgetDevice" },
      summary: "Ask a browser for codes again",
      request: { params: z.object({ id: z.string() }) },
    },
    { 204: { description: "Forgotten" } },
    "not_found",
  ),
  forgetAll: route(
    "account",
    {
      ...{ method: "delete", path: "/api/account/devices", tags, operationId: "forgetDevices" },
      summary: "Ask all browsers for codes again",
    },
    { 204: { description: "Forgotten" } },
  ),
};

export function factorRoutes(api: Api, settings: FactorApiSettings): void {
  const { factors, recoveryCodes, devices, proofs } = settings;

  function totpHere(): Totp {
    if (settings.totp !== undefined) return settings.totp;
    throw new Problem("not_set_up", "The operator has not set QL_SECRET_KEYS, which encrypt the secrets of apps.");
  }

  api.openapi(routes.get, async (c) => {
    const { id, hasTotp } = c.get("signedIn").person;
    return c.json({ enabled: hasTotp, recoveryCodesLeft: await recoveryCodes.left(id) }, 200);
  });

  api.openapi(routes.begin, async (c) => {
    const totp = totpHere();
    const signedIn = c.get("signedIn");
    if (signedIn.person.hasTotp)
      throw new Problem("name_taken", "You already have an authenticator app. Remove it first.");
    const demanded = { ...c.req.valid("json"), signedIn, from: askedFrom(c), acceptsFresh: true };
    await proofs.require(demanded);
    const { secret, url, expiresAt } = await totp.offer(signedIn.person);
    return c.json({ secret, url, expiresAt: toIso(expiresAt) }, 200);
  });

  api.openapi(routes.confirm, async (c) => {
    const { person, session } = c.get("signedIn");
    const checked = await totpHere().checkOffer(person.id, c.req.valid("json").code.replace(/\s/g, ""));
    if (checked.kind === "none") throw new Problem("not_found", "Nothing to confirm. Begin again.");
    if (checked.kind !== "right") throw new Problem("wrong_code", "The code is not one of this app. Try the next one.");
    return c.json({ recoveryCodes: [...(await factors.turnOn(session, checked))] }, 200);
  });

  api.openapi(routes.remove, async (c) => {
    const signedIn = c.get("signedIn");
    const { id, hasTotp } = signedIn.person;
    if (!hasTotp) throw noApp();
    const demanded = { ...c.req.valid("json"), signedIn, from: askedFrom(c), acceptsFresh: false };
    await proofs.require(demanded);
    if (!(await factors.turnOff(id))) throw noApp();
    return c.body(null, 204);
  });

  api.openapi(routes.renew, async (c) => {
    const signedIn = c.get("signedIn");
    if (!signedIn.person.hasTotp) throw noApp();
    const demanded = { ...c.req.valid("json"), signedIn, from: askedFrom(c), acceptsFresh: true };
    await proofs.require(demanded);
    return c.json({ recoveryCodes: [...(await factors.newRecoveryCodes(signedIn.session))] }, 200);
  });

  api.openapi(routes.devices, async (c) => {
    const items = (await devices.list(c.get("signedIn").person.id)).map(({ id, device, createdAt, expiresAt }) => ({
      ...{ id, device, createdAt: toIso(createdAt), expiresAt: toIso(expiresAt) },
    }));
    return c.json({ items }, 200);
  });

  api.openapi(routes.forget, async (c) => {
    const id = parseId("device", c.req.valid("param").id);
    if (!id || (await devices.forget(c.get("signedIn").person.id, id)) === 0) {
      throw new Problem("not_found", "No such device.");
    }
    return c.body(null, 204);
  });

  api.openapi(routes.forgetAll, async (c) => {
    await devices.forget(c.get("signedIn").person.id, "all");
    return c.body(null, 204);
  });
}

const noApp = (): Problem => new Problem("not_found", "You have no authenticator app.");
