import { createShares, type SharesSettings } from "./shares.ts";

/**
 * Passwords as argon2id hashes, with the minimum that OWASP recommends: 19 MB and two passes, about 45 ms here. Bun
 * computes them on its own threads, so only the caller waits. A flood would exhaust memory and CPU, so few are computed
 * at once, and holders (a visitor's network, a tenant) take turns.
 */
export interface Passwords {
  hash(password: string, holder: string): Promise<string | "busy">;
  matches(password: string, hash: string, holder: string, signal?: AbortSignal): Promise<boolean | "busy">;
}

const cost = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;

export const passwordShares: SharesSettings = {
  ...{ resource: "passwords", what: "password checks" },
  ...{ atOnce: 2, waitingMost: 40, waitMs: 3_000, retryAfterSeconds: 2 },
};

export function createPasswords(shares = createShares(passwordShares)): Passwords {
  async function inTurn<Result>(
    holder: string,
    work: () => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result | "busy"> {
    const entered = await shares.enter(holder, signal && { signal });
    if (entered.kind === "busy") return "busy";
    try {
      return await work();
    } finally {
      entered.leave();
    }
  }

  return {
    hash: (password, holder) => inTurn(holder, () => Bun.password.hash(password, cost)),
    matches: (password, hash, holder, signal) => inTurn(holder, () => Bun.password.verify(password, hash), signal),
  };
}
