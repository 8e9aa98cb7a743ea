import type { ChildProcess } from "node:child_process";
import type { Clock } from "../base/clock.ts";
import { OperatorError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { createExchange } from "./exchange.ts";
import type { FromWorker } from "./messages.ts";
import { startWorker, type Worker } from "./worker.ts";

/**
 * Several processes on one port. The supervisor serves nothing: it starts workers, replaces those that end, passes a stop
 * on to them, and carries metrics between them. Each worker listens on the port itself, and the kernel deals connections
 * out to them (SO_REUSEPORT).
 *
 * The first worker is started alone. What is wrong with the settings is wrong for all of them: it is then said once, and
 * nobody is tried again. A worker that ends later is replaced after a pause that doubles while they keep ending.
 *
 * Roads not taken: `node:cluster`, which for HTTP does the same in Bun behind a layer that is not battle-tested; a parent
 * that accepts and hands on sockets, which costs every connection a hop.
 */
export interface Supervisor {
  /** Until the first worker is ready; the others follow by themselves. False if it was stopped before. */
  start(): Promise<boolean>;
  /** Ends once every worker has. */
  stop(): Promise<void>;
  /** Now, and without regard to what they are doing. */
  kill(): void;
}

export interface SupervisorSettings {
  readonly count: number;
  readonly spawn: () => ChildProcess;
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

  function add(): Worker {
    const worker = startWorker(spawn(), (message) => void hear(worker, message));
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

  /** One worker after the other in one place. */
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
      const first = add();
      const early = await Promise.race([first.ready, first.ended]);
      if (stopped) return false;
      if (early !== "ready") {
        throw new OperatorError("The first worker exited before it was ready. Its error is above.", Number(early) || 1);
      }
      places = [first, ...Array.from({ length: count - 1 }, add)].map(keep);
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

/** Doubles while workers keep ending; one that lived for a while starts it over. */
export function nextPauseMs(lastMs: number, livedMs: number): number {
  if (lastMs === 0 || livedMs >= steadyMs) return pauseFirstMs;
  return Math.min(pauseMostMs, lastMs * 2);
}
