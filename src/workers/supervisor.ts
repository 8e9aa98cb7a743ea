import type { ChildProcess } from "node:child_process";
import type { Clock } from "../base/clock.ts";
import { OperatorError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import type { FromWorker } from "./messages.ts";
import { createExchange } from "./metrics-exchange.ts";
import { startWorker, type Worker } from "./worker.ts";

/**
 * Several processes on one port. The supervisor serves no requests: it starts workers, replaces those that exit,
 * forwards stop signals, and passes metrics between them. Each worker listens on the port itself, and the kernel
 * distributes connections (SO_REUSEPORT).
 *
 * The first worker starts alone. An error in the settings affects all workers, so it is reported once, and the start is
 * not retried. A worker that exits later is replaced after a delay, which doubles while workers keep exiting.
 *
 * Options that lost: `node:cluster`, which for HTTP does the same in Bun through a layer that is not battle-tested; a
 * parent that accepts connections and passes them on, which adds a hop to each.
 */
export interface Supervisor {
  /** Resolves when the first worker is ready; the others follow on their own. False if it was stopped before. */
  start(): Promise<boolean>;
  /** Resolves when every worker has exited. */
  stop(): Promise<void>;
  /** At once, whatever they are doing. */
  kill(): void;
}

export interface SupervisorSettings {
  readonly count: number;
  /** `isFirst`: of the start; it reports what concerns all of them. */
  readonly spawn: (isFirst: boolean) => ChildProcess;
  readonly clock: Clock;
  readonly log: Logger;
}

const figuresMs = 1_000;
const pauseFirstMs = 200;
const pauseMostMs = 10_000;
const steadyMs = 30_000;

export function createSupervisor({ count, spawn, clock, log }: SupervisorSettings): Supervisor {
  const workers = new Set<Worker>();
  const exchange = createExchange<Worker>(figuresMs);
  const stopping = Promise.withResolvers<void>();
  let stopped = false;
  let places: Promise<void>[] = [];

  function add(isFirst = false): Worker {
    const worker = startWorker(spawn(isFirst), (message) => void hear(worker, message));
    workers.add(worker);
    void worker.ended.then(() => workers.delete(worker));
    return worker;
  }

  async function hear(worker: Worker, message: FromWorker): Promise<void> {
    if (message.kind === "figures") exchange.told(worker, message.id, message.figures);
    if (message.kind !== "gather") return;
    const others = [...workers].filter((other) => other !== worker && other.isReady());
    worker.send({ kind: "gathered", id: message.id, all: await exchange.gather(others) });
  }

  /** Keeps one worker running, and replaces it when it exits. */
  async function keep(worker: Worker): Promise<void> {
    for (let pauseMs = 0; ; worker = add()) {
      const started = clock.elapsed();
      const status = await worker.ended;
      if (stopped) return;
      pauseMs = nextPauseMs(pauseMs, clock.elapsed() - started);
      log.error({ pid: worker.pid, status, pauseMs }, "a worker ended; starting another");
      await Promise.race([stopping.promise, new Promise((resolve) => setTimeout(resolve, pauseMs))]);
      if (stopped) return;
    }
  }

  return {
    async start() {
      const first = add(true);
      const early = await Promise.race([first.ready, first.ended]);
      if (stopped) return false;
      if (early !== "ready") {
        throw new OperatorError("The first worker exited before it was ready. Its error is above.", Number(early) || 1);
      }
      places = [first, ...Array.from({ length: count - 1 }, () => add())].map(keep);
      return true;
    },
    async stop() {
      stopped = true;
      stopping.resolve();
      for (const worker of workers) worker.kill("SIGTERM");
      await Promise.all([...places, ...[...workers].map((worker) => worker.ended)]);
    },
    kill() {
      for (const worker of workers) worker.kill("SIGKILL");
    },
  };
}

/** Doubles while workers keep exiting. A worker that ran for a while resets it. */
export function nextPauseMs(lastMs: number, livedMs: number): number {
  if (lastMs === 0 || livedMs >= steadyMs) return pauseFirstMs;
  return Math.min(pauseMostMs, lastMs * 2);
}
