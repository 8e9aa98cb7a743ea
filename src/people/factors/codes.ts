import { Problem } from "../../base/errors.ts";
import type { PersonId } from "../../base/ids.ts";
import { z } from "../../http/route.ts";
import type { Db } from "../../sql/tenant-db.ts";
import type { AskedFrom } from "../sign-in/sign-in.ts";
import { type RecoveryCodes, recoveryCodeMost } from "./recovery-codes.ts";
import type { Totp } from "./totp.ts";

/**
 * A code of the second factor, as people enter it in one field: six digits of the app, or a recovery code. Attempts are
 * limited for each account and address. One is counted before the code is checked, and refunded if it was right.
 */
export interface SecondFactorCodes {
  /**
   * Runs the work with a function that uses the code up, in a transaction of the work's own. That function throws
   * `wrong_code` if the code is wrong or was used before. Throws `too_many_attempts` before anything is checked.
   */
  spend<Result>(attempt: CodeAttempt, work: (use: UseCode) => Promise<Result>): Promise<Result>;
}

export interface CodeAttempt {
  readonly person: PersonId;
  readonly code: string;
  readonly from: AskedFrom;
}

export type UseCode = (db: Db) => Promise<void>;

/** Counts an attempt; throws a `Problem` if there were too many. */
export type BeginAttempt = (
  person: PersonId,
  from: AskedFrom,
) => Promise<{ right(): Promise<void>; undo(): Promise<void> }>;

export interface SecondFactorCodeSettings {
  /** `undefined`: secrets cannot be encrypted here, so nobody has an app. */
  readonly totp: Totp | undefined;
  readonly recoveryCodes: RecoveryCodes;
  readonly begin: BeginAttempt;
}

/** A text that is too long is refused before anything is computed from it. */
export const codeField = z
  .string()
  .min(1)
  .max(recoveryCodeMost)
  .openapi({ description: "Six digits of your authenticator app, or a recovery code.", example: "492039" });

const digits = /^\d{6}$/;
export const wrongCode = (): Problem => new Problem("wrong_code", "The code is wrong or was used before.");

export function createSecondFactorCodes(settings: SecondFactorCodeSettings): SecondFactorCodes {
  const { totp, recoveryCodes, begin } = settings;

  /** What takes long is done here: a transaction holds locks. */
  async function prepare(person: PersonId, code: string): Promise<(db: Db) => Promise<boolean>> {
    const compact = code.replace(/\s/g, "");
    if (!digits.test(compact)) return (db) => recoveryCodes.use(db, person, code);
    const step = await totp?.check(person, compact);
    return async (db) => step !== undefined && totp !== undefined && (await totp.use(db, person, step));
  }

  return {
    async spend({ person, code, from }, work) {
      const attempt = await begin(person, from);
      try {
        const use = await prepare(person, code);
        let isUsed = false;
        const result = await work(async (db) => {
          isUsed = await use(db);
          if (!isUsed) throw wrongCode();
        });
        if (!isUsed) throw new Error("a code was asked for, and nothing looked at it");
        await attempt.right();
        return result;
      } catch (error) {
        if (!(error instanceof Problem && error.code === "wrong_code")) await attempt.undo();
        throw error;
      }
    },
  };
}
