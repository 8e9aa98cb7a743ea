import { messageOf } from "./errors.ts";
import type { Logger } from "./log.ts";

/**
 * Work that an answer must not wait for, because its duration would tell something: whether an account exists. Bounded, and
 * finished before the process ends.
 */
export interface Later {
  /** Whether there was room for it. */
  run(what: string, work: () => Promise<void>): boolean;
  finish(): Promise<void>;
}

const atOnceMost = 100;

export function createLater(log: Logger): Later {
  const running = new Set<Promise<void>>();
  return {
    run(what, work) {
      if (running.size >= atOnceMost) return false;
      const done = work()
        .catch((error: unknown) => log.warn({ error: messageOf(error) }, `${what} failed`))
        .finally(() => running.delete(done));
      running.add(done);
      return true;
    },
    async finish() {
      await Promise.all(running);
    },
  };
}
