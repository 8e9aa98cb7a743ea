/** One after the other: whoever asks gets its turn when those before have given theirs back. */
export interface Mutex {
  /** Resolves when it is your turn; call the answer when it is over, once. */
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
