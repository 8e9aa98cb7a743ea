import { setImmediate as othersTurn } from "node:timers/promises";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import { repeat } from "../base/repeat.ts";
import type { Drained, Due, Meters } from "../limits/meters.ts";

/**
 * Records what meters have spent: every second, and at once for a link whose lease is used up, so that a crash loses few hits. With
 * many busy links some lease is used up all the time, so only those links are recorded in between, and 50 times a second at most.
 *
 * One batch at a time; a batch whose fate is unknown is sent again unchanged, under its number, before anything newer,
 * and the store knows which it has seen. Where the serving thread itself writes, a recording has several batches, and visitors get
 * their turn between them: 500 links in one transaction are 5 to 10 ms in which nobody is answered. If a visitor waits for the recording
 * itself, it goes on without these turns, in which others would only ask for more.
 */
export interface Recorder {
  /** Something is urgent: do not wait for the next second. */
  soon(): void;
  /** Resolves when what was urgent before the call is stored; throws if it cannot be. */
  flush(): Promise<void>;
  /** Ends all leases, records the rest, and stops. */
  stop(): Promise<void>;
  /** The last attempt failed. */
  readonly failing: boolean;
}

export interface RecorderSettings {
  readonly meters: Meters;
  readonly write: (sequence: number, batch: readonly Drained[]) => Promise<unknown>;
  /** In one batch. */
  readonly rowsMost?: number;
  readonly clock: Clock;
  readonly log: Logger;
}

const flushMs = 1_000;
/** From one recording to the next urgent one. */
const urgentMs = 20;
const deadlineMs = 30_000;
const stopMs = 10_000; // a process that stops has no longer

export function createRecorder(settings: RecorderSettings): Recorder {
  const { meters, write, rowsMost = Number.POSITIVE_INFINITY, clock, log } = settings;
  /** Of the first batch in `unrecorded`, or of the next one. */
  let sequence = 1;
  /** Not known to be stored. */
  const unrecorded: (readonly Drained[])[] = [];
  /** Visitors who wait for what they owe to be stored. */
  let awaited = 0;
  let isExpected = false;
  /** The next recording was asked for, and does not come at its time. */
  let isUrgent = false;
  let startedAt = Number.NEGATIVE_INFINITY;
  /** When the last recording of all links is known to have begun. */
  let usualAt = clock.elapsed();

  async function sendAll(): Promise<void> {
    for (let [batch] = unrecorded; batch !== undefined; [batch] = unrecorded) {
      await write(sequence, batch);
      // A stop does not wait for a run that hangs, and may have sent it meanwhile.
      if (batch !== unrecorded[0]) continue;
      sequence++;
      unrecorded.shift();
      meters.acknowledge(batch);
      if (unrecorded.length > 0 && awaited === 0) await othersTurn();
    }
  }

  async function record(what: Due): Promise<void> {
    await sendAll();
    unrecorded.push(...inBatches(meters.drain(what), rowsMost));
    await sendAll();
  }

  async function recordDue(): Promise<void> {
    startedAt = clock.elapsed();
    const at = startedAt;
    const what = isUrgent && at - usualAt < flushMs ? "urgent" : "usual";
    isUrgent = false;
    await record(what);
    if (what === "usual") usualAt = at;
  }

  /** While it fails, it is tried once a second. */
  const isPausing = (): boolean => recording.failing && clock.elapsed() - startedAt < flushMs;

  const recording = repeat({
    name: "recording hits",
    everyMs: (failures) => (failures > 0 ? flushMs : Math.max(0, Math.ceil(usualAt + flushMs - clock.elapsed()))),
    deadlineMs,
    stopMs,
    work: recordDue,
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
      if (isExpected) return;
      isExpected = true;
      clock.after(Math.max(0, startedAt + urgentMs - clock.elapsed()), () => {
        isExpected = false;
        if (isPausing()) return;
        isUrgent = true;
        recording.soon();
      });
    },
    // A running round may have read the meters before the caller's hits; all who come meanwhile share the next round.
    async flush() {
      if (isPausing()) throw new Error("hits could not be recorded a moment ago");
      awaited++;
      isUrgent = true;
      try {
        await recording.run();
      } finally {
        awaited--;
      }
    },
    async stop() {
      await recording.stop();
      // Units leased after the last round would be lost.
      await meters.stopRefilling();
      await record("everything");
    },
    get failing() {
      return recording.failing;
    },
  };
}

function inBatches(drained: readonly Drained[], rowsMost: number): (readonly Drained[])[] {
  if (drained.length <= rowsMost) return drained.length === 0 ? [] : [drained];
  const count = Math.ceil(drained.length / rowsMost);
  return Array.from({ length: count }, (_, place) => drained.slice(place * rowsMost, (place + 1) * rowsMost));
}
