import type { Clock } from "../../base/clock.ts";
import type { PersonId } from "../../base/ids.ts";
import type { Later } from "../../base/later.ts";
import { recordHistory } from "../../history/history.ts";
import type { SignInMethod } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";

/**
 * Refused sign-ins by whatever method are rows of the history, for the operator. They are written after the answer: an account
 * that does not exist has no such row, and the time of an answer must not tell.
 */
export interface RefusedSignIns {
  note(refusal: RefusedSignIn): void;
}

export interface RefusedSignIn {
  /** `undefined`: of nobody who has an account here. */
  readonly person: PersonId | undefined;
  readonly method: SignInMethod;
  readonly reason: RefusalReason;
}

export type RefusalReason =
  | "password"
  | "code"
  | "passkey"
  /** The account is disabled. */
  | "disabled"
  /** The person must sign in with their company. */
  | "company"
  /** The company's provider, or what the browser brought back from it, was not as agreed. */
  | "provider"
  /** The sign-in was begun in another browser. */
  | "browser"
  /** The provider did not confirm the address. */
  | "unverified"
  /** The address is not of a domain that signs in there. */
  | "domain"
  /** The account with the address belongs to another person of the provider. */
  | "identity"
  | "uninvited";

export interface RefusedSignInSettings {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly later: Later;
}

/** Of a person, tries are limited. Without one, strangers could fill the history: a process writes so many an hour. */
const strangersMost = 60;
const strangersMs = 3_600_000;

export function createRefusedSignIns({ sql, clock, later }: RefusedSignInSettings): RefusedSignIns {
  let strangers = { since: -Infinity, count: 0 };

  function isBeyondStrangers(): boolean {
    const now = clock.elapsed();
    if (now - strangers.since >= strangersMs) strangers = { since: now, count: 0 };
    return ++strangers.count > strangersMost;
  }

  return {
    note({ person, method, reason }) {
      if (person === undefined && isBeyondStrangers()) return;
      const subject = person === undefined ? { kind: "sign-in", id: method } : { kind: "person", id: person };
      later.run("recording a refused sign-in", () =>
        sql.transaction((trx) =>
          recordHistory(trx, clock, {
            ...{ tenant: "", actor: { kind: "nobody" }, action: "person.sign_in_refused" },
            ...{ subject, after: { method, reason } },
          }),
        ),
      );
    },
  };
}
