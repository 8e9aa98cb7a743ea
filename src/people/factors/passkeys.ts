import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from "@simplewebauthn/server";
import type { Clock } from "../../base/clock.ts";
import type { PersonId } from "../../base/ids.ts";
import type { Sql } from "../../sql/sql.ts";
import type { Db, Trx } from "../../sql/tenant-db.ts";
import type { Person } from "../person.ts";
import type { PersonTokens, TokenKind, UsedToken } from "../tokens.ts";
import { createPasskeyRows, type Passkey, type PasskeyRow } from "./passkey-rows.ts";

/**
 * Passkeys (WebAuthn): a key pair in the person's device or password manager. The device keeps the private key, unlocks it
 * with a finger, a face or a PIN, and signs only for the site that the key was made for. So a passkey is two factors by
 * itself, and needs no address: the browser knows which account it is for.
 *
 * Each challenge is random, stored as a hash, and used up by the first answer to it, right or wrong. The device may count
 * its signatures: an answer whose count is not higher than the last one comes from a copy, and is refused.
 *
 * Nothing is asked about the maker of the device. A statement of the maker is refused before it is looked at: to verify its
 * certificates, the library would request addresses that they name.
 */
export interface Passkeys {
  /** What the browser needs to create one: `navigator.credentials.create`. */
  beginNew(person: Person): Promise<PublicKeyCredentialCreationOptionsJSON>;
  /** The browser's answer. `undefined` if it is not right. */
  checkNew(person: PersonId, answer: RegistrationResponseJSON): Promise<NewPasskey | undefined>;
  add(trx: Trx, person: PersonId, passkey: NewPasskey, name: string): Promise<Passkey | "taken" | "full">;
  /** What the browser needs to sign in: `navigator.credentials.get`. */
  beginSignIn(): Promise<PublicKeyCredentialRequestOptionsJSON>;
  /** Whose passkey it is. A proof counts once `use` has said so. */
  checkSignIn(answer: AuthenticationResponseJSON): Promise<PasskeyProof | RefusedPasskey>;
  /** False if another request has used this answer, or the passkey is gone. */
  use(db: Db, proof: UsedPasskey): Promise<boolean>;
  /** Newest first. */
  list(person: PersonId): Promise<readonly Passkey[]>;
  rename(person: PersonId, id: string, name: string): Promise<Passkey | undefined>;
  /** False if there is none. */
  remove(trx: Trx, person: PersonId, id: string): Promise<boolean>;
}

export type NewPasskey = Pick<PasskeyRow, "id" | "public_key" | "counter" | "transports">;

/** `person`: whose it would be, if anybody has such a passkey. */
export interface RefusedPasskey {
  readonly kind: "refused";
  readonly person: PersonId | undefined;
}

export interface PasskeyProof extends UsedPasskey {
  readonly kind: "proved";
}

export interface UsedPasskey {
  readonly id: string;
  readonly person: PersonId;
  readonly counter: number;
}

export interface PasskeySettings {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly tokens: Pick<PersonTokens, "issue" | "use">;
  readonly baseUrl: string;
}

/** How long the browser waits for the person. */
const askMs = 120_000;
/** And how long we wait for the browser. */
const challengeMs = 5 * 60_000;
const siteName = "QuickLink";

/** Browsers know passkeys on https and on this machine only, and only for names. */
export function allowsPasskeys(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  if (hostname === "localhost") return true;
  const isAddress = hostname.startsWith("[") || /^[\d.]+$/.test(hostname);
  return protocol === "https:" && !isAddress;
}

export function createPasskeys({ sql, clock, tokens, baseUrl }: PasskeySettings): Passkeys {
  const { db } = sql;
  const { origin: expectedOrigin, hostname: rpID } = new URL(baseUrl);
  const rows = createPasskeyRows(db, clock);
  const lifeMs = challengeMs;
  const take = (kind: TokenKind, text: string): Promise<UsedToken | undefined> =>
    sql.transaction((trx) => tokens.use(trx, kind, text));

  return {
    list: rows.list,
    rename: rows.rename,
    remove: rows.remove,
    add: rows.add,
    use: rows.use,

    async beginNew(person) {
      const { generateRegistrationOptions } = await loadWebAuthn();
      const challenge = await tokens.issue(db, { kind: "passkey-new", person: person.id, lifeMs });
      return await generateRegistrationOptions({
        ...{ rpName: siteName, rpID, userName: person.email, userDisplayName: person.name, timeout: askMs },
        challenge: new Uint8Array(Buffer.from(challenge, "base64url")),
        userID: new TextEncoder().encode(person.id),
        attestationType: "none",
        excludeCredentials: (await rows.list(person.id)).map(({ id }) => ({ id })),
        authenticatorSelection: { residentKey: "required", userVerification: "required" },
      });
    },

    async checkNew(person, response) {
      const { verifyRegistrationResponse } = await loadWebAuthn();
      const expectedChallenge = challengeIn(response.response);
      const asked = await take("passkey-new", expectedChallenge);
      if (asked?.person !== person || !(await isUnattested(response))) return undefined;
      const verified = await verifyRegistrationResponse({
        ...{ response, expectedChallenge, expectedOrigin, expectedRPID: rpID, requireUserVerification: true },
      }).catch(refused);
      if (!verified?.verified) return undefined;
      const { id, publicKey, counter, transports = [] } = verified.registrationInfo.credential;
      const known = transports.filter((transport) => transportPattern.test(transport)).slice(0, transportsMost);
      return {
        ...{ id, counter, public_key: Buffer.from(publicKey).toString("base64url") },
        transports: JSON.stringify(known),
      };
    },

    async beginSignIn() {
      const { generateAuthenticationOptions } = await loadWebAuthn();
      const challenge = await tokens.issue(db, { kind: "passkey-sign-in", person: null, lifeMs });
      return await generateAuthenticationOptions({
        ...{ rpID, timeout: askMs, userVerification: "required" },
        challenge: new Uint8Array(Buffer.from(challenge, "base64url")),
      });
    },

    async checkSignIn(response) {
      const { verifyAuthenticationResponse } = await loadWebAuthn();
      const expectedChallenge = challengeIn(response.response);
      const asked = await take("passkey-sign-in", expectedChallenge);
      const row = await rows.find(response.id);
      if (asked === undefined || row === undefined) return { kind: "refused", person: undefined };
      const person = row.person_id;
      if (!isOf(person, response)) return { kind: "refused", person };
      const verified = await verifyAuthenticationResponse({
        ...{ response, expectedChallenge, expectedOrigin, expectedRPID: rpID, requireUserVerification: true },
        credential: {
          ...{ id: row.id, counter: row.counter },
          publicKey: new Uint8Array(Buffer.from(row.public_key, "base64url")),
        },
      }).catch(refused);
      if (!verified?.verified) return { kind: "refused", person };
      return { kind: "proved", id: row.id, person, counter: verified.authenticationInfo.newCounter };
    },
  };
}

/**
 * Loaded when first used. The library needs `reflect-metadata` to be there before it; in the executable, its own import comes
 * too late.
 */
async function loadWebAuthn() {
  await import("reflect-metadata");
  const [server, { decodeAttestationObject }] = await Promise.all([
    import("@simplewebauthn/server"),
    import("@simplewebauthn/server/helpers"),
  ]);
  return { ...server, decodeAttestationObject };
}

const transportPattern = /^[a-z-]{1,20}$/;
const transportsMost = 8;

/** The device may tell for whom it made the key. */
function isOf(person: PersonId, { response }: AuthenticationResponseJSON): boolean {
  return !response.userHandle || Buffer.from(response.userHandle, "base64url").toString() === person;
}

/** Without a statement of the maker, or with one that the key signed itself. */
async function isUnattested({ response }: RegistrationResponseJSON): Promise<boolean> {
  const { decodeAttestationObject } = await loadWebAuthn();
  try {
    const statement = decodeAttestationObject(new Uint8Array(Buffer.from(response.attestationObject, "base64url")));
    const format = statement.get("fmt");
    return format === "none" || (format === "packed" && statement.get("attStmt").get("x5c") === undefined);
  } catch {
    return false;
  }
}

/** The library throws when an answer is wrong. */
const refused = (): undefined => undefined;

/** What the device has signed, as the browser wrote it down. Empty if it cannot be read. */
function challengeIn({ clientDataJSON }: { readonly clientDataJSON: string }): string {
  try {
    const signed: unknown = JSON.parse(Buffer.from(clientDataJSON, "base64url").toString());
    const challenge = typeof signed === "object" && signed !== null && "challenge" in signed ? signed.challenge : "";
    return typeof challenge === "string" ? challenge : "";
  } catch {
    return "";
  }
}
