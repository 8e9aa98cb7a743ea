import { withDeadline } from "../base/deadline.ts";
import { OperatorError } from "../base/errors.ts";
import type { MetricFigures } from "../base/metrics.ts";
import type { FromWorker, ToWorker } from "./messages.ts";

/** A worker's channel to its supervisor. */
export interface Channel extends Peers {
  ready(): void;
  /** Called when the supervisor is gone, however it ended: the kernel closes the channel. */
  onLost(act: () => void): void;
}

/** Metrics of the other workers. */
export interface Peers {
  /** The metrics of the workers that answer in time. */
  gather(): Promise<readonly MetricFigures[]>;
  /** Sets how this worker answers when another one gathers metrics. */
  tell(read: () => Promise<MetricFigures>): void;
}

const gatherMs = 1_500; // the supervisor waits a second for the others

export function openChannel(): Channel {
  if (process.send === undefined) {
    throw new OperatorError("Workers are started by the supervisor: use `quicklink serve --workers N`.", 2);
  }
  const waiting = new Map<number, (all: readonly MetricFigures[]) => void>();
  let lastId = 0;
  let gathering: Promise<readonly MetricFigures[]> | undefined;
  let readOwn: (() => Promise<MetricFigures>) | undefined;

  function send(message: FromWorker): void {
    if (process.connected) process.send?.(message);
  }

  async function ask(): Promise<readonly MetricFigures[]> {
    const id = ++lastId;
    const { promise, resolve } = Promise.withResolvers<readonly MetricFigures[]>();
    waiting.set(id, resolve);
    send({ kind: "gather", id });
    try {
      return await withDeadline(promise, gatherMs, "the supervisor");
    } catch {
      return []; // our own metrics are better than none
    } finally {
      waiting.delete(id);
    }
  }

  /** A worker that cannot collect its metrics is left out, and keeps running. */
  async function answer(id: number): Promise<void> {
    const figures = await readOwn?.().catch(() => undefined);
    if (figures !== undefined) send({ kind: "figures", id, figures });
  }

  process.on("message", (message: ToWorker) => {
    if (message.kind === "gathered") waiting.get(message.id)?.(message.all);
    else void answer(message.id);
  });
  process.channel?.unref(); // the channel must not keep a process alive whose start failed

  return {
    ready: () => send({ kind: "ready" }),
    onLost(act) {
      if (process.connected) process.on("disconnect", act);
      else act();
    },
    gather() {
      gathering ??= ask().finally(() => {
        gathering = undefined;
      });
      return gathering;
    },
    tell(read) {
      readOwn = read;
    },
  };
}
