/** What is between the parts: every wait is a step, taken when the scheduler says so, and some of them fail. */
import type { Scheduler } from "fast-check";

export const faults = ["sql-away", "sql-slow", "redis-lost", "redis-slow", "redis-late"] as const;
export type Fault = (typeof faults)[number];

export interface Steps {
  step(label: string): Promise<void>;
  several(label: string, count: number): Promise<void>;
  /** What becomes of the next call; nothing unusual in most cases. */
  fate(): Fault | undefined;
}

export interface ModelSteps extends Steps {
  /** Nothing waits for its turn, and nothing fails. */
  isCalm: boolean;
  /** Runs what is waiting, and what that leads to, to its end. */
  idle(): Promise<void>;
}

/** So many steps that most of what else is going on comes first. */
export const long = 20;

/** `fates` says what becomes of one call after the other; when it is at its end, all succeed. */
export function createSteps(scheduler: Scheduler, fates: readonly (Fault | undefined)[]): ModelSteps {
  const left = fates.values();
  const steps: ModelSteps = {
    isCalm: false,
    async step(label) {
      if (!steps.isCalm) await scheduler.schedule(Promise.resolve(), label);
    },
    async several(label, count) {
      for (let i = 0; i < count; i++) await steps.step(label);
    },
    fate: () => (steps.isCalm ? undefined : left.next().value),
    idle: () => scheduler.waitIdle(),
  };
  return steps;
}
