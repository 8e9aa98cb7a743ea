/** Takes turns: a caller gets its turn when all earlier callers have returned theirs. */
export interface Turns {
  /** Resolves when it is your turn; call the result once when done. */
  take(): Promise<() => void>;
}

export function createTurns(): Turns {
  let last: Promise<void> = Promise.resolve();
  return {
    async take() {
      const before = last;
      const mine = Promise.withResolvers<void>();
      last = mine.promise;
      await before;
      return mine.resolve;
    },
  };
}
