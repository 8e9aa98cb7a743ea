import type { SignInMethod } from "../../sql/schema.ts";
import type { Trx } from "../../sql/tenant-db.ts";
import type { Person } from "../person.ts";

/**
 * The second step of a sign-in, for people who have one. The first step (a password, a reset link) asks whether it is
 * needed; then the browser gets a token instead of a session, and comes back with the token and a code. Passkeys and OIDC
 * are no first step: they go straight to `finish.ts`.
 */
export interface SecondFactor {
  /** The request may show that the browser is remembered. */
  isNeeded(person: Person, request: Request): Promise<boolean>;
  /**
   * Keeps what the first step knew, and returns the token under which the second step finds it. `before`: in the same
   * transaction, after the person's row was locked; throws a `Problem` to refuse.
   */
  challenge(person: Person, first: FirstStep, before?: (trx: Trx) => Promise<void>): Promise<string>;
}

export interface FirstStep {
  readonly method: SignInMethod;
  readonly isLasting: boolean;
}
