/** Takes turns: a caller gets its turn when all earlier callers have returned theirs. */
export interface Mutex {
  /** Resolves when it is your turn; call the result once when done. */
  acquire(): Promise<() => void>;
}

export function createMutex(): Mutex {
  let last: Promise<void> = Promise.resolve();
  return {
    async acquire() {
      const before = last;
      const mine = Promise.withResolvers<void>();
      last = mine.promise;
      await before;
      return mine.resolve;
    },
  };
}
