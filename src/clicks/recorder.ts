import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import { repeat } from "../base/repeat.ts";
import type { Drained, Meters } from "../limits/meters.ts";

/**
 * Records what meters have spent: every second, and at once when a lease is used up, so that a crash loses few hits.
 * One batch at a time; a batch whose fate is unknown is sent again unchanged, under its number, before anything newer,
 * and the store knows which it has seen.
 */
export interface Recorder {
  /** A lease is used up: do not wait for the next second. */
  soon(): void;
  /** Resolves when everything spent before the call is stored; throws if it cannot be. */
  flush(): Promise<void>;
  /** Ends all leases, records the rest, and stops. */
  stop(): Promise<void>;
  /** The last attempt failed. */
  readonly failing: boolean;
}

export interface RecorderSettings {
  readonly meters: Meters;
  readonly write: (sequence: number, batch: readonly Drained[]) => Promise<unknown>;
  readonly clock: Clock;
  readonly log: Logger;
}

const flushMs = 1_000;
const deadlineMs = 30_000;
const stopMs = 10_000; // a process that stops has no longer

export function createRecorder({ meters, write, clock, log }: RecorderSettings): Recorder {
  let sequence = 0;
  let unsure: readonly Drained[] | undefined;
  let again = false;

  async function send(batch: readonly Drained[]): Promise<void> {
    if (batch.length === 0) return;
    if (unsure === undefined) sequence++;
    unsure = batch;
    await write(sequence, batch);
    unsure = undefined;
    meters.acknowledge(batch);
  }

  async function record(all: boolean): Promise<void> {
    if (unsure !== undefined) await send(unsure);
    await send(meters.drain(all));
  }

  const recording = repeat({
    name: "recording hits",
    everyMs: flushMs,
    deadlineMs,
    stopMs,
    work: () => record(false),
    texts: {
      fails: "cannot record hits; keeping them in memory and retrying",
      worksAgain: "recording hits works again",
      level: "error",
    },
    clock,
    log,
  });

  return {
    soon() {
      if (again) return;
      again = true;
      setImmediate(() => {
        again = false;
        recording.soon();
      });
    },
    // A running round may have read the meters before the caller's hits; all who come meanwhile share the next round.
    flush: recording.run,
    async stop() {
      await recording.stop();
      // Units leased after the last round would be lost.
      await meters.stopRefilling();
      await record(true);
    },
    get failing() {
      return recording.failing;
    },
  };
}
