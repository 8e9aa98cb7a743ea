import type { Clock } from "../../base/clock.ts";
import { withDeadline } from "../../base/deadline.ts";
import type { Logger } from "../../base/log.ts";
import { repeat } from "../../base/repeat.ts";
import type { ClickBatch } from "../click.ts";
import type { Written } from "./writer.ts";

/**
 * Takes captured clicks to the writer, every second. One batch at a time: a batch whose fate is unknown is sent again
 * unchanged, under its number, before anything newer. Meanwhile new clicks stay in the capture, which is bounded, drops
 * facts before counts, and declares both.
 *
 * A stop writes everything. A crash loses what was captured since the last batch, which is about a second, and the batch
 * that was being written.
 */
export interface ClickRecorder {
  /** Resolves when everything captured before the call is stored; throws if it cannot be. */
  flush(): Promise<void>;
  /** Records the rest, and stops. */
  stop(): Promise<void>;
  /** The last attempt failed. */
  readonly failing: boolean;
}

export interface ClickRecorderSettings {
  readonly capture: {
    /** With 0, only those that are counted without facts. */
    drain(most: number): ClickBatch | undefined;
    readonly waiting: number;
    /** Resolves within seconds of the start. */
    readonly ready?: Promise<void>;
  };
  readonly write: (sequence: number, batch: ClickBatch) => Promise<Written>;
  readonly onWritten: (written: Written) => void;
  /** Whether somebody watches clicks as they happen. Then they are taken several times a second. */
  readonly isWatched?: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

const flushMs = 1_000;
const watchedMs = 200;
const deadlineMs = 30_000;
const stopMs = 2_000;
/** A process that stops has ten seconds in all. */
const lastMs = 6_000;
/** Between two attempts of a process that stops. */
const againMs = 200;
const batchMost = 30_000;

export function createClickRecorder(settings: ClickRecorderSettings): ClickRecorder {
  const { capture, write, onWritten, isWatched = () => false, clock, log } = settings;
  let sequence = 0;
  let unsure: ClickBatch | undefined;

  async function send(batch: ClickBatch): Promise<void> {
    if (unsure === undefined) sequence++;
    unsure = batch;
    const written = await write(sequence, batch);
    unsure = undefined;
    onWritten(written);
  }

  /**
   * What waits when it begins. What comes meanwhile is left to the next time: otherwise a server with visitors would never pause, and
   * write a hundred small batches a second, each of which costs as much as one of a second.
   */
  async function record(signal?: AbortSignal): Promise<void> {
    if (unsure !== undefined) await send(unsure);
    await capture.ready;
    for (let left = capture.waiting; left > 0 && !signal?.aborted; ) {
      const batch = capture.drain(Math.min(batchMost, left));
      if (batch === undefined) return;
      await send(batch);
      // No facts waited any more, so these were the counts.
      if (batch.at.length === 0) return;
      left -= batch.at.length;
    }
    const counts = signal?.aborted ? undefined : capture.drain(0);
    if (counts !== undefined) await send(counts);
  }

  /** Until `end`: a single failure, such as a lock that was not free, is no reason to lose everything that waits. */
  async function recordAll(end: number): Promise<void> {
    for (;;) {
      try {
        await record();
        if (capture.waiting === 0 || clock.elapsed() >= end) return;
      } catch (error) {
        if (clock.elapsed() + againMs >= end) throw error;
        await new Promise<void>((resolve) => clock.after(againMs, resolve));
      }
    }
  }

  const recording = repeat({
    name: "recording clicks",
    everyMs: (failures) => (failures === 0 && isWatched() ? watchedMs : flushMs),
    deadlineMs,
    stopMs,
    work: record,
    texts: {
      fails: "cannot record clicks; keeping them in memory and retrying",
      worksAgain: "recording clicks works again",
      level: "error",
    },
    clock,
    log,
  });

  return {
    flush: recording.run,
    async stop() {
      await recording.stop();
      try {
        await withDeadline(recordAll(clock.elapsed() + lastMs), lastMs, "the database");
      } catch (error) {
        const clicks = capture.waiting + (unsure?.at.length ?? 0);
        log.error({ error, clicks }, "the last clicks could not be recorded and are lost");
      }
    },
    get failing() {
      return recording.failing;
    },
  };
}
