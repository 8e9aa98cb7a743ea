import { BulkheadRejectedError, bulkhead } from "cockatiel";

/**
 * Passwords as argon2id hashes, with what OWASP names as the least: 19 MB and two passes, some 45 ms here. Bun computes
 * them on its own threads, so nothing waits but the one who asks. That memory and time are what a flood would spend, so
 * two are computed at once and a few wait; whoever comes then is told to come again.
 */
export interface Passwords {
  hash(password: string): Promise<string | "busy">;
  matches(password: string, hash: string): Promise<boolean | "busy">;
}

const cost = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;
const atOnce = 2;
const waitingMost = 20;

export function createPasswords(): Passwords {
  const turns = bulkhead(atOnce, waitingMost);

  async function inTurn<Result>(work: () => Promise<Result>): Promise<Result | "busy"> {
    try {
      return await turns.execute(work);
    } catch (error) {
      if (error instanceof BulkheadRejectedError) return "busy";
      throw error;
    }
  }

  return {
    hash: (password) => inTurn(() => Bun.password.hash(password, cost)),
    matches: (password, hash) => inTurn(() => Bun.password.verify(password, hash)),
  };
}
