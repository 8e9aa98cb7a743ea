import { withDeadline } from "../base/deadline.ts";
import type { MetricFigures } from "../base/metrics.ts";
import type { ToWorker } from "./messages.ts";

/**
 * The supervisor's part in metrics. A scrape reaches one worker at random, and that worker asks the supervisor to
 * collect the metrics of the others. A worker that does not answer in time is left out.
 */
export interface Exchange<Peer> {
  gather(from: readonly Peer[]): Promise<readonly MetricFigures[]>;
  /** Takes the answer of a worker. A late answer is ignored. */
  told(by: Peer, id: number, figures: MetricFigures): void;
}

interface Round<Peer> {
  readonly silent: Set<Peer>;
  readonly all: MetricFigures[];
  readonly complete: PromiseWithResolvers<void>;
}

export function createExchange<Peer extends { send(message: ToWorker): void }>(deadlineMs: number): Exchange<Peer> {
  const rounds = new Map<number, Round<Peer>>();
  let lastId = 0;
  return {
    async gather(from) {
      if (from.length === 0) return [];
      const id = ++lastId;
      const round = { silent: new Set(from), all: [], complete: Promise.withResolvers<void>() };
      rounds.set(id, round);
      for (const peer of from) peer.send({ kind: "tell", id });
      await withDeadline(round.complete.promise, deadlineMs, "a worker").catch(() => {});
      rounds.delete(id);
      return round.all;
    },
    told(by, id, figures) {
      const round = rounds.get(id);
      if (!round?.silent.delete(by)) return;
      round.all.push(figures);
      if (round.silent.size === 0) round.complete.resolve();
    },
  };
}
