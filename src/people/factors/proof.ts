import type { Clock } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import type { PersonId } from "../../base/ids.ts";
import type { Db } from "../../sql/tenant-db.ts";
import { provedForMs } from "../freshness.ts";
import type { SignedIn } from "../sessions.ts";
import type { AskedFrom } from "../sign-in/sign-in.ts";
import type { SecondFactorCodes } from "./codes.ts";

/**
 * A session may be in somebody else's hands: a borrowed laptop, a stolen cookie. So whoever changes how an account is
 * entered, or ends it, proves again who they are: with the password or a code of the second factor. Where a sign-in of just
 * now is enough, and for people who have neither, any way to sign in proves it: a passkey, the company's provider.
 */
export interface Proofs {
  /** Throws a `Problem` unless the person is proved. A code that proves it is used up. */
  require(demanded: DemandedProof): Promise<void>;
}

export interface DemandedProof {
  readonly signedIn: SignedIn;
  readonly from: AskedFrom;
  readonly password?: string | undefined;
  readonly code?: string | undefined;
  /** Whether a sign-in of just now is enough. It always is for people who have neither a password nor an app. */
  readonly acceptsFresh: boolean;
}

export interface ProofSettings {
  readonly db: Db;
  readonly clock: Clock;
  readonly codes: SecondFactorCodes;
  /** Throws a `Problem` if it is wrong, or there were too many attempts. */
  readonly requirePassword: (person: PersonId, password: string, from: AskedFrom) => Promise<void>;
}

export function createProofs({ db, clock, codes, requirePassword }: ProofSettings): Proofs {
  return {
    async require({ signedIn, from, password, code, acceptsFresh }) {
      const { person, session } = signedIn;
      if (code !== undefined && person.hasTotp) {
        return await codes.spend({ person: person.id, code, from }, (use) => use(db));
      }
      if (password !== undefined && person.hasPassword) return await requirePassword(person.id, password, from);
      const isFreshEnough = acceptsFresh || !(person.hasPassword || person.hasTotp);
      if (isFreshEnough && clock.now() - session.provedAt < provedForMs) return;
      throw new Problem("proof_required", wanted(person.hasPassword, person.hasTotp));
    },
  };
}

function wanted(hasPassword: boolean, hasTotp: boolean): string {
  const ways = [...(hasPassword ? ["your password"] : []), ...(hasTotp ? ["a code of your second factor"] : [])];
  return ways.length === 0
    ? "Sign in again, then repeat this within 15 minutes."
    : `Send ${ways.join(" or ")} with the request.`;
}
