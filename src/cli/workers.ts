import { type ChildProcess, spawn } from "node:child_process";
import { systemClock } from "../base/clock.ts";
import { OperatorError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import type { Config } from "../config/config.ts";
import type { Running } from "../server/server.ts";
import { openChannel } from "../workers/channel.ts";
import { requireFreePort } from "../workers/port.ts";
import { createSupervisor } from "../workers/supervisor.ts";
import { explainStart, firstWorker, startFacts, startServing } from "./start-server.ts";
import { stopOnSignal } from "./stop-on-signal.ts";

/** `serve --workers N`: this process supervises, N others serve. */
export async function serveWithWorkers(config: Config, log: Logger): Promise<void> {
  if (process.platform !== "linux") {
    throw new OperatorError("Several workers can share a port on Linux only. Unset --workers and QL_WORKERS.", 2);
  }
  await requireFreePort(config.HOST, config.PORT).catch((error: unknown) => {
    throw explainStart(error, config);
  });
  const count = config.QL_WORKERS;
  const supervisor = createSupervisor({ count, spawn: spawnWorker, clock: systemClock, log });
  // However this process exits, short of kill -9, no worker may be left.
  process.on("exit", supervisor.kill);
  stopOnSignal(supervisor.stop, log);
  if (await supervisor.start()) log.info({ ...startFacts(config), workers: count }, "listening");
}

/** `serve --as-worker`: one of the N. */
export async function serveAsWorker(config: Config, shared: Logger, isFirst: boolean): Promise<void> {
  const log = shared.child({ pid: process.pid });
  const channel = openChannel();
  let stop: (reason: string) => void = () => process.exit(1); // nothing to finish while it starts
  channel.onLost(() => {
    log.warn("the supervisor is gone");
    stop("supervisor gone");
  });
  const listening = (running: Running) => {
    stop = stopOnSignal(running.stop, log, "debug");
  };
  await startServing(config, log, listening, { channel, isFirst });
  channel.ready();
}

/**
 * Starts the same program with the same arguments. The one-file executable contains its program; otherwise its path is
 * passed to the runtime.
 */
function spawnWorker(isFirst: boolean): ChildProcess {
  const [, program = "", ...words] = process.argv;
  const where = program.startsWith("/$bunfs/") ? [] : [...process.execArgv, program];
  return spawn(process.execPath, [...where, ...words, "--as-worker", ...(isFirst ? [firstWorker] : [])], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
}
