import type { Logger } from "../base/log.ts";
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
  readonly log: Logger;
}

const flushMs = 1_000;

export function createRecorder({ meters, write, log }: RecorderSettings): Recorder {
  let sequence = 0;
  let unsure: readonly Drained[] | undefined;
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let again = false;
  let failing = false;

  async function send(batch: readonly Drained[]): Promise<void> {
    if (batch.length === 0) return;
    if (unsure === undefined) sequence++;
    unsure = batch;
    await write(sequence, batch);
    unsure = undefined;
    meters.acknowledge(batch);
  }

  async function once(all: boolean): Promise<void> {
    try {
      if (unsure !== undefined) await send(unsure);
      await send(meters.drain(all));
      if (failing) log.info("recording hits works again");
      failing = false;
    } catch (error) {
      if (!failing) log.error({ error }, "cannot record hits; keeping them in memory and retrying");
      failing = true;
      throw error;
    }
  }

  /** A running round may have read the meters before the caller's hits; all who come meanwhile share the next round. */
  function flush(): Promise<void> {
    if (running === undefined) return start(false);
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined;
        return start(false);
      });
    return next;
  }

  function start(all: boolean): Promise<void> {
    running = once(all).finally(() => {
      running = undefined;
    });
    return running;
  }

  const quietly = () => {
    flush().catch(() => {}); // logged above; the next round tries again
  };

  const timer = setInterval(quietly, flushMs);

  return {
    soon() {
      if (again) return;
      again = true;
      setImmediate(() => {
        again = false;
        quietly();
      });
    },
    flush,
    async stop() {
      clearInterval(timer);
      while (running !== undefined || next !== undefined) await (next ?? running)?.catch(() => {});
      // Units leased after the last round would be lost.
      await meters.stopRefilling();
      await start(true);
    },
    get failing() {
      return failing;
    },
  };
}
