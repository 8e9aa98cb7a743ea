import { systemClock } from "../base/clock.ts";
import { createLog } from "../base/log.ts";
import { firstWorker, startFacts, startServing } from "./start-server.ts";
import { stopOnSignal } from "./stop-on-signal.ts";
import { readConfig, terminal } from "./terminal.ts";

export interface ServeOptions {
  readonly workers?: string;
  readonly asWorker?: true | string;
}

/** Starts the server, and returns once it listens. */
export async function serve({ workers, asWorker }: ServeOptions): Promise<void> {
  const config = readConfig(workers === undefined ? {} : { QL_WORKERS: workers });
  const log = createLog(config.QL_LOG_LEVEL, terminal().stdout, terminal().stdout.isTTY === true, systemClock.now);
  if (asWorker) return (await import("./workers.ts")).serveAsWorker(config, log, asWorker === firstWorker);
  for (const name of config.unknown) log.warn({ name }, "unknown setting ignored");
  if (config.QL_WORKERS > 1) return (await import("./workers.ts")).serveWithWorkers(config, log);
  await startServing(config, log, (running) => stopOnSignal(running.stop, log));
  log.info(startFacts(config), "listening");
}
