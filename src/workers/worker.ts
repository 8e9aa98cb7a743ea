import type { ChildProcess } from "node:child_process";
import type { FromWorker, ToWorker } from "./messages.ts";

/** A worker as the supervisor sees it. */
export interface Worker {
  readonly pid: number | undefined;
  /** Resolves when it serves; never if it does not get that far. */
  readonly ready: Promise<"ready">;
  /** Resolves with the exit status, or the name of the signal that ended it. */
  readonly ended: Promise<number | string>;
  isReady(): boolean;
  /** No effect if the worker is gone. */
  send(message: ToWorker): void;
  kill(signal: NodeJS.Signals): void;
}

const startMs = 60_000; // longer than all waits of a start together; a worker that hangs is ended and replaced

export function startWorker(child: ChildProcess, hear: (message: FromWorker) => void): Worker {
  const ready = Promise.withResolvers<"ready">();
  const ended = Promise.withResolvers<number | string>();
  let isReady = false;
  const late = setTimeout(() => child.kill("SIGKILL"), startMs);

  child.on("message", (message: FromWorker) => {
    if (message.kind !== "ready") return hear(message);
    clearTimeout(late);
    isReady = true;
    ready.resolve("ready");
  });
  const end = (status: number | string) => {
    clearTimeout(late);
    ended.resolve(status);
  };
  child.on("exit", (code, signal) => end(code ?? signal ?? 1));
  child.on("error", (error) => {
    if (child.pid === undefined) end(error.message); // it could not be started
  });

  return {
    pid: child.pid,
    ready: ready.promise,
    ended: ended.promise,
    isReady: () => isReady,
    send(message) {
      if (child.connected) child.send(message, () => {});
    },
    kill: (signal) => void child.kill(signal),
  };
}
