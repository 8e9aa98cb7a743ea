import { Problem } from "../../base/errors.ts";
import type { Passwords } from "../../base/passwords.ts";
import { networkOf } from "../../limits/network.ts";
import { normalPassword } from "../password-rules.ts";

/**
 * Hashes of people's passwords. Checking takes the same time whether or not there is a hash to check: it must not tell
 * who has an account.
 */
export interface AccountPasswords {
  matches(password: string, hash: string | null | undefined, from: Asker): Promise<boolean>;
  hash(password: string, from: Asker): Promise<string>;
}

/** Callers take turns by network (`base/passwords.ts`). */
export interface Asker {
  readonly address: string | undefined;
  readonly request?: Request;
}

const retryAfterSeconds = 2;
const busy = (): Problem =>
  new Problem("busy", "Too many passwords are being checked. Try again shortly.", { retryAfterSeconds });

export function createAccountPasswords(passwords: Passwords): AccountPasswords {
  let standIn: Promise<string> | undefined;
  const holderOf = ({ address }: Asker): string =>
    (address === undefined ? undefined : networkOf(address)) ?? "unknown";

  async function hash(password: string, from: Asker): Promise<string> {
    const hashed = await passwords.hash(normalPassword(password), holderOf(from));
    if (hashed === "busy") throw busy();
    return hashed;
  }

  return {
    hash,

    async matches(password, found, from) {
      standIn ??= hash(crypto.randomUUID(), from);
      const other = await standIn.catch((error: unknown) => {
        standIn = undefined;
        throw error;
      });
      const answer = await passwords.matches(
        normalPassword(password),
        found ?? other,
        holderOf(from),
        from.request?.signal,
      );
      if (answer === "busy") throw busy();
      return answer && found !== null && found !== undefined;
    },
  };
}
