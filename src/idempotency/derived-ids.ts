import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from "node:crypto";
import { type Id, type IdKind, idFrom } from "../base/ids.ts";

/**
 * A request that must run once, as its handler sees it. Everything it creates gets an ID from here, and so finds what
 * an earlier run of the same request created: that is why it may run again after a crash.
 */
export interface Once {
  /** The ID of what the request creates; `place` distinguishes several. */
  id<Name extends IdKind>(name: Name, place?: number): Id<Name>;
  /** 32 bytes, the same on every run, which cannot be derived without the client's key. */
  secret(purpose: string): Uint8Array;
  /** Nothing was done, so nothing must be kept: the key may be used again. */
  forget(): void;
}

/**
 * Values are derived from three things that are never in one place: the server's secret, the row's seed, and the
 * client's key, of which SQL has only the hash. The seed is deleted after a day.
 */
export interface IdSource {
  readonly serverSecret: Uint8Array;
  readonly key: string;
  readonly seed: string;
  readonly createdAt: number;
}

export interface DerivedIds extends Omit<Once, "forget"> {
  seal(text: string): string;
  /** Decrypts; throws if it was tampered with. */
  open(sealed: string): string;
}

export function derive({ serverSecret, key, seed, createdAt }: IdSource): DerivedIds {
  const root = createHmac("sha256", serverSecret).update(`${seed}\n${key}`).digest();
  const bytes = (purpose: string) => createHmac("sha256", root).update(purpose).digest();
  return {
    id: (name, place = 0) => idFrom(name, createdAt, bytes(`id ${name} ${place}`)),
    secret: (purpose) => bytes(`secret ${purpose}`),
    seal(text) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", bytes("seal"), nonce);
      return Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]).toString(
        "base64",
      );
    },
    open(sealed) {
      const all = Buffer.from(sealed, "base64");
      const decipher = createDecipheriv("aes-256-gcm", bytes("seal"), all.subarray(0, nonceBytes));
      decipher.setAuthTag(all.subarray(-tagBytes));
      return decipher.update(all.subarray(nonceBytes, -tagBytes), undefined, "utf8") + decipher.final("utf8");
    },
  };
}

/** Random, with a mark that identifies the server secret of that time. */
export function newSeed(serverSecret: Uint8Array): string {
  const chance = randomBytes(16).toString("hex");
  return `${chance}.${markOf(serverSecret, chance)}`;
}

/** Whether deriving from it now gives the same values as then. */
export function isSeedOf(serverSecret: Uint8Array, seed: string): boolean {
  const [chance = "", mark] = seed.split(".");
  return mark === markOf(serverSecret, chance);
}

const markOf = (serverSecret: Uint8Array, chance: string): string =>
  createHmac("sha256", serverSecret).update(`seed ${chance}`).digest("hex").slice(0, 16);

const nonceBytes = 12;
const tagBytes = 16;

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
