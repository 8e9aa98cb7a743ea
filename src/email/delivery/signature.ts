import { createPublicKey, type KeyObject, verify } from "node:crypto";

/**
 * SendGrid's signature of its events: ECDSA on P-256 and SHA-256, over its timestamp and the raw bytes of the body. The
 * public key is what its settings show, base64 of a DER `SubjectPublicKeyInfo`.
 */
export interface SignedBody {
  readonly body: Uint8Array;
  readonly signature: string;
  readonly timestamp: string;
}

/** `undefined` if it is not such a key. */
export function parseWebhookKey(text: string): KeyObject | undefined {
  if (text.length > keyMaxChars || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  try {
    const key = createPublicKey({ key: Buffer.from(text, "base64"), format: "der", type: "spki" });
    const isP256 = key.asymmetricKeyType === "ec" && key.asymmetricKeyDetails?.namedCurve === "prime256v1";
    return isP256 ? key : undefined;
  } catch {
    return undefined;
  }
}

const keyMaxChars = 200;
const signatureMaxChars = 200;

export function isSigned({ body, signature, timestamp }: SignedBody, key: KeyObject): boolean {
  if (signature.length > signatureMaxChars) return false;
  try {
    const signed = Buffer.concat([Buffer.from(timestamp), body]);
    return verify("sha256", signed, key, Buffer.from(signature, "base64"));
  } catch {
    return false; // not even the format of a signature
  }
}

/**
 * SendGrid retries undelivered events for a day, so an older body is a replay. Within the day a replay changes nothing,
 * because an email's outcome is recorded once.
 */
const oldestMs = 25 * 3_600_000;
const earliestMs = 5 * 60_000;

export function isTimely(timestamp: string, now: number): boolean {
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  const at = Number(timestamp) * 1_000;
  return at > now - oldestMs && at < now + earliestMs;
}
