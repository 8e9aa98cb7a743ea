import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from "node:crypto";
import { type Id, type IdKind, idFrom } from "../base/ids.ts";

/**
 * A request that must happen once, as its handler sees it. Whatever it makes gets an id from here, and so finds what an
 * earlier run of the same request has made: that is why it may be run again after a crash.
 */
export interface Once {
  /** The id of what the request makes; `place` tells several apart. */
  id<Name extends IdKind>(name: Name, place?: number): Id<Name>;
  /** 32 bytes, the same on every run, which nobody can tell without the sender's key. */
  secret(purpose: string): Uint8Array;
  /** Nothing was done, so nothing has to be kept: the key may be used again. */
  forget(): void;
}

/**
 * What is derived for a request comes from three things that are never in one place: the server's secret, the row's
 * seed, and the sender's key, of which SQL has only the hash. The seed is gone after a day.
 */
export interface IdSource {
  readonly serverSecret: Uint8Array;
  readonly key: string;
  readonly seed: string;
  readonly createdAt: number;
}

export interface DerivedIds extends Omit<Once, "forget"> {
  seal(text: string): string;
  /** What was sealed; throws if it was tampered with. */
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

/** Chance, with a mark by which the server's secret of that time is known again. */
export function newSeed(serverSecret: Uint8Array): string {
  const chance = randomBytes(16).toString("hex");
  return `${chance}.${markOf(serverSecret, chance)}`;
}

/** Whether what is derived from it now is what was derived from it then. */
export function isSeedOf(serverSecret: Uint8Array, seed: string): boolean {
  const [chance = "", mark] = seed.split(".");
  return mark === markOf(serverSecret, chance);
}

const markOf = (serverSecret: Uint8Array, chance: string): string =>
  createHmac("sha256", serverSecret).update(`seed ${chance}`).digest("hex").slice(0, 16);

const nonceBytes = 12;
const tagBytes = 16;

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
