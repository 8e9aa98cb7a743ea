import { withDeadline } from "../base/deadline.ts";
import { OperatorError } from "../base/errors.ts";
import type { Figures } from "../base/metrics.ts";
import type { FromWorker, ToWorker } from "./messages.ts";

/** A worker's line to its supervisor. */
export interface Channel extends Peers {
  ready(): void;
  /** The supervisor is gone, however it ended: the kernel closes the line. */
  onLost(act: () => void): void;
}

/** The other workers, as far as metrics are concerned. */
export interface Peers {
  /** The figures of those that answer in time. */
  gather(): Promise<readonly Figures[]>;
  /** How to answer when one of them gathers. */
  tell(read: () => Promise<Figures>): void;
}

const gatherMs = 1_500; // the supervisor gives the others a second

export function openChannel(): Channel {
  if (process.send === undefined) {
    throw new OperatorError("Workers are started by the supervisor: use `quicklink serve --workers N`.", 2);
  }
  const waiting = new Map<number, (all: readonly Figures[]) => void>();
  let lastId = 0;
  let gathering: Promise<readonly Figures[]> | undefined;
  let readOwn: (() => Promise<Figures>) | undefined;

  function send(message: FromWorker): void {
    if (process.connected) process.send?.(message);
  }

  async function ask(): Promise<readonly Figures[]> {
    const id = ++lastId;
    const { promise, resolve } = Promise.withResolvers<readonly Figures[]>();
    waiting.set(id, resolve);
    send({ kind: "gather", id });
    try {
      return await withDeadline(promise, gatherMs, "the supervisor");
    } catch {
      return []; // our own figures are better than none
    } finally {
      waiting.delete(id);
    }
  }

  /** A worker that cannot tell its figures is left out, and goes on. */
  async function answer(id: number): Promise<void> {
    const figures = await readOwn?.().catch(() => undefined);
    if (figures !== undefined) send({ kind: "figures", id, figures });
  }

  process.on("message", (message: ToWorker) => {
    if (message.kind === "gathered") waiting.get(message.id)?.(message.all);
    else void answer(message.id);
  });
  process.channel?.unref(); // a start that failed must end, with nobody left to talk

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
