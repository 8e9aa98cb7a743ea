/** One after the other: whoever asks gets its turn when those before have given theirs back. */
export interface Turns {
  /** Resolves when it is your turn; call the answer when it is over, once. */
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
