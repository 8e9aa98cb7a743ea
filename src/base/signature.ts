import { createHmac, timingSafeEqual } from "node:crypto";

/** Text that only we can have signed. What is signed should begin with what it is for, or have a secret of its own. */
export interface Signer {
  /** 43 characters that fit into an address and a cookie. */
  sign(text: string): string;
  isSigned(text: string, signature: string): boolean;
}

export function createSigner(secret: Uint8Array): Signer {
  const sign = (text: string): string => createHmac("sha256", secret).update(text).digest("base64url");
  return { sign, isSigned: (text, signature) => sameText(signature, sign(text)) };
}

/** Takes as long whether they differ early or late. */
export function sameText(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}
