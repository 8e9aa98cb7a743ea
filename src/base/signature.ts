import { createHmac, timingSafeEqual } from "node:crypto";
import type { Clock } from "./clock.ts";

/**
 * Signs text so that only we can have signed it. Signed text should start with its purpose, or use a secret for that
 * purpose.
 */
export interface Signer {
  /** 43 characters that are safe in URLs and cookies. */
  sign(text: string): string;
  isSigned(text: string, signature: string): boolean;
}

/** The newest secret signs, all of them verify. */
export interface SigningSecrets {
  readonly newest: Uint8Array;
  /** Currently valid secrets, newest first. */
  all(): readonly Uint8Array[];
}

function createSigner(secrets: SigningSecrets): Signer {
  const signed = (secret: Uint8Array, text: string): string =>
    createHmac("sha256", secret).update(text).digest("base64url");
  return {
    sign: (text) => signed(secrets.newest, text),
    isSigned: (text, signature) => secrets.all().some((secret) => sameText(signature, signed(secret, text))),
  };
}

/** Compares in constant time. */
export function sameText(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/**
 * The keys behind every signature. The first key signs; a previous key verifies until its end date, or until the
 * operator removes it. Each purpose has its own secret derived from each key, so a signature for one purpose is invalid
 * for another. A signature does not name its key: all keys are tried, which costs one hash each and leaves nothing to
 * confuse.
 */
export interface SigningKeys {
  secretsFor(purpose: string): SigningSecrets;
  signerFor(purpose: string): Signer;
}

export interface SigningKey {
  readonly id: string;
  readonly key: Uint8Array;
  /** Verifies until this time; without it, as long as it is listed. */
  readonly until?: number;
}

export function createSigningKeys(keys: readonly SigningKey[], clock: Clock): SigningKeys {
  const [first, ...former] = keys;
  if (first === undefined) throw new Error("signing keys have one key at least");
  const derive = ({ key }: SigningKey, purpose: string) => createHmac("sha256", key).update(purpose).digest();

  const secretsFor = (purpose: string): SigningSecrets => {
    const newest = derive(first, purpose);
    const others = former.map((key) => ({
      secret: derive(key, purpose),
      until: key.until ?? Number.POSITIVE_INFINITY,
    }));
    return {
      newest,
      all() {
        const now = clock.now();
        return [newest, ...others.filter(({ until }) => until > now).map(({ secret }) => secret)];
      },
    };
  };
  return { secretsFor, signerFor: (purpose) => createSigner(secretsFor(purpose)) };
}
