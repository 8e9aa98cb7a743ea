import { Command, Option } from "commander";
import { systemClock } from "../base/clock.ts";
import { createLog } from "../base/log.ts";
import { firstWorker, startFacts, startServing } from "./start-server.ts";
import { stopOnSignal } from "./stop-on-signal.ts";
import { readConfig, terminal } from "./terminal.ts";

interface ServeOptions {
  readonly workers?: string;
  readonly asWorker?: true | string;
}

export function serveCommand(): Command {
  return new Command("serve")
    .option("--workers <number>", "number of processes serving on the port; more than 1 requires PostgreSQL and Redis")
    .addOption(new Option("--as-worker [place]", "internal: run as a worker started by the supervisor").hideHelp())
    .action(async ({ workers, asWorker }: ServeOptions) => {
      const config = readConfig(workers === undefined ? {} : { QL_WORKERS: workers });
      const log = createLog(config.QL_LOG_LEVEL, terminal().stdout, terminal().stdout.isTTY === true, systemClock.now);
      if (asWorker) return (await import("./workers.ts")).serveAsWorker(config, log, asWorker === firstWorker);
      for (const name of config.unknown) log.warn({ name }, "unknown setting ignored");
      if (config.QL_WORKERS > 1) return (await import("./workers.ts")).serveWithWorkers(config, log);
      await startServing(config, log, (running) => stopOnSignal(running.stop, log));
      log.info(startFacts(config), "listening");
    });
}
