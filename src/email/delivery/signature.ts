import { createPublicKey, type KeyObject, verify } from "node:crypto";

/**
 * SendGrid's signature of the events that it sends: ECDSA on P-256 and SHA-256, over its timestamp and the bytes of the
 * body as they came. The public key is what its settings show, base64 of a DER `SubjectPublicKeyInfo`.
 */
export interface SignedBody {
  readonly body: Uint8Array;
  readonly signature: string;
  readonly timestamp: string;
}

/** Nothing if it is no such key. */
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
    return false; // not even the form of a signature
  }
}

/**
 * SendGrid goes on for a day with events that it could not deliver, so an older body is a repeat by somebody else. Within
 * the day a repeat changes nothing, for an email's fate is written down once.
 */
const oldestMs = 25 * 3_600_000;
const earliestMs = 5 * 60_000;

export function isTimely(timestamp: string, now: number): boolean {
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  const at = Number(timestamp) * 1_000;
  return at > now - oldestMs && at < now + earliestMs;
}
