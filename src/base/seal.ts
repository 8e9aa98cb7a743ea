import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

/**
 * Secrets of tenants as stored in SQL: AES-256-GCM with a key that is not in SQL. The first key of the ring encrypts,
 * all keys decrypt, so a ring can be rotated while old texts exist.
 *
 * The purpose and the owner of a secret are its context, passed as associated data: a text moved to another tenant's
 * row cannot be decrypted there. The format is `v1.<name of the key>.<nonce>.<cipher>.<tag>`.
 */
export interface Ring {
  seal(secret: string, context: string): string;
  open(sealed: string, context: string): Opened;
  /** Whether it is encrypted with the first key. */
  isCurrent(sealed: string): boolean;
}

export type Opened =
  | { readonly kind: "opened"; readonly secret: string }
  /** Encrypted with a key that is not in this ring. */
  | { readonly kind: "unknown_key"; readonly keyId: string }
  /** Changed, truncated, or of another context. */
  | { readonly kind: "broken" };

export interface SecretKey {
  readonly id: string;
  readonly key: Uint8Array;
}

const version = "v1";
const cipherName = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;
const pattern = /^v1\.([A-Za-z0-9_-]{1,32})\.([\w-]+)\.([\w-]*)\.([\w-]+)$/;

export function createRing(keys: readonly SecretKey[]): Ring {
  const [first] = keys;
  if (first === undefined) throw new Error("a key ring needs at least one key");

  return {
    seal(secret, context) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(cipherName, first.key, nonce, { authTagLength: tagBytes });
      cipher.setAAD(associated(first.id, context));
      const text = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
      return [version, first.id, ...[nonce, text, cipher.getAuthTag()].map(encode)].join(".");
    },

    open(sealed, context) {
      const [, keyId = "", nonce = "", text = "", tag = ""] = pattern.exec(sealed) ?? [];
      if (keyId === "") return { kind: "broken" };
      const key = keys.find(({ id }) => id === keyId)?.key;
      if (key === undefined) return { kind: "unknown_key", keyId };
      try {
        const decipher = createDecipheriv(cipherName, key, decode(nonce), { authTagLength: tagBytes });
        decipher.setAAD(associated(keyId, context));
        decipher.setAuthTag(decode(tag));
        return { kind: "opened", secret: decipher.update(decode(text), undefined, "utf8") + decipher.final("utf8") };
      } catch {
        return { kind: "broken" }; // do not reveal what exactly did not match
      }
    },

    isCurrent: (sealed) => pattern.exec(sealed)?.[1] === first.id,
  };
}

/** A ring as written in settings and in its file: `name:64 hex digits`, comma separated; the first key encrypts. */
export function parseKeys(text: string): readonly SecretKey[] {
  const keys = text.split(",").map((part) => {
    const [, id, hex] = /^\s*([A-Za-z0-9_-]{1,32}):([0-9a-fA-F]{64})\s*$/.exec(part) ?? [];
    if (id === undefined || hex === undefined) throw new Error("must be name:64 hex digits, comma separated");
    return { id, key: Buffer.from(hex, "hex") };
  });
  if (new Set(keys.map(({ id }) => id)).size < keys.length) throw new Error("has two keys with the same name");
  return keys;
}

export const writeKeys = (keys: readonly SecretKey[]): string =>
  keys.map(({ id, key }) => `${id}:${Buffer.from(key).toString("hex")}`).join(",");

/** The name is random, so that two keys created on the same day or for the same purpose never share it. */
export const newKey = (): SecretKey => ({ id: `k${randomBytes(4).toString("hex")}`, key: randomBytes(32) });

const associated = (keyId: string, context: string): Buffer => Buffer.from(`${version}.${keyId}.${context}`);
const encode = (bytes: Buffer): string => bytes.toString("base64url");
const decode = (text: string): Buffer => Buffer.from(text, "base64url");
