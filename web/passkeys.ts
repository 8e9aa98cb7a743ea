import type { BodyOf } from "./api/call.ts";

/**
 * Passkeys in the browser: the API's options become what `navigator.credentials` takes, and its answer becomes JSON. Browsers
 * that convert by themselves do so; for the others it is done here.
 */
export type NewCredential = BodyOf<"POST /api/account/passkeys">["credential"];
export type UsedCredential = BodyOf<"POST /api/auth/passkey/finish">["credential"];
type Options = Readonly<Record<string, unknown>>;

export const browserHasPasskeys = (): boolean =>
  typeof PublicKeyCredential === "function" && navigator.credentials !== undefined;

/** Asks the person's device for a new passkey. */
export async function makeCredential(options: Options): Promise<NewCredential> {
  const publicKey = parsed("parseCreationOptionsFromJSON", options) as PublicKeyCredentialCreationOptions;
  const made = await navigator.credentials.create({ publicKey });
  return asJson(made as PublicKeyCredential) as unknown as NewCredential;
}

interface UseOptions {
  readonly signal?: AbortSignal;
  /** Offered among the suggestions of a field with `autocomplete="webauthn"`, instead of in a dialog. */
  readonly suggested?: boolean;
}

/** Asks the person's device to sign with one of its passkeys. */
export async function signWithCredential(
  options: Options,
  { signal, suggested = false }: UseOptions = {},
): Promise<UsedCredential> {
  const publicKey = parsed("parseRequestOptionsFromJSON", options) as PublicKeyCredentialRequestOptions;
  const got = await navigator.credentials.get({
    publicKey,
    ...(suggested && { mediation: "conditional" as const }),
    ...(signal && { signal }),
  });
  return asJson(got as PublicKeyCredential) as unknown as UsedCredential;
}

export async function canSuggestPasskeys(): Promise<boolean> {
  if (!browserHasPasskeys()) return false;
  return (await PublicKeyCredential.isConditionalMediationAvailable?.()) ?? false;
}

const usedKey = "quicklink-passkey";

/** Whether a passkey was created or used here before: then it is suggested at the next sign-in. */
export function passkeyWasUsedHere(): boolean {
  try {
    return localStorage.getItem(usedKey) !== null;
  } catch {
    return false;
  }
}

export function rememberPasskeyUse(): void {
  try {
    localStorage.setItem(usedKey, "1");
  } catch {
    // It is only not suggested.
  }
}

/** `cancelled`: by the person, or it took too long. `known`: this device has one already. */
export type PasskeyTrouble = "cancelled" | "known" | "other";

/** Undefined if the error is none of the browser's. */
export function passkeyTrouble(error: unknown): PasskeyTrouble | undefined {
  if (!(error instanceof DOMException)) return undefined;
  if (error.name === "InvalidStateError") return "known";
  return error.name === "NotAllowedError" || error.name === "AbortError" ? "cancelled" : "other";
}

function parsed(by: "parseCreationOptionsFromJSON" | "parseRequestOptionsFromJSON", options: Options): unknown {
  const parse = (PublicKeyCredential as unknown as Record<string, ((json: unknown) => unknown) | undefined>)[by];
  return parse === undefined ? withBytes(options) : parse.call(PublicKeyCredential, options);
}

/** The challenge and the IDs of credentials and of the person are bytes; everything else stays as it is. */
function withBytes(options: Options): Options {
  const listed = (list: unknown) =>
    Array.isArray(list) ? list.map((one: { id: string }) => ({ ...one, id: fromBase64Url(one.id) })) : list;
  const { user } = options as { user?: { id: string } };
  return {
    ...options,
    challenge: fromBase64Url(String(options.challenge)),
    ...(user !== undefined && { user: { ...user, id: fromBase64Url(user.id) } }),
    ...("excludeCredentials" in options && { excludeCredentials: listed(options.excludeCredentials) }),
    ...("allowCredentials" in options && { allowCredentials: listed(options.allowCredentials) }),
  };
}

type Bytes = ArrayBuffer | null | undefined;

function asJson(credential: PublicKeyCredential): object {
  if (typeof credential.toJSON === "function") return credential.toJSON();
  const response = credential.response as unknown as Record<string, Bytes> & { getTransports?: () => string[] };
  const names = ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"];
  const parts = names.flatMap((name) => {
    const bytes = response[name];
    return bytes ? [[name, toBase64Url(bytes)]] : [];
  });
  return {
    id: credential.id,
    rawId: toBase64Url(credential.rawId),
    type: "public-key",
    authenticatorAttachment: credential.authenticatorAttachment,
    clientExtensionResults: {},
    response: {
      ...Object.fromEntries(parts),
      ...(response.getTransports && { transports: response.getTransports() }),
    },
  };
}

export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
}

export function toBase64Url(bytes: ArrayBuffer): string {
  const plain = String.fromCharCode(...new Uint8Array(bytes));
  return btoa(plain).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
