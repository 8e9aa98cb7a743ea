import { Command, Option } from "commander";
import { serve } from "./serve-action.ts";

/** `quicklink serve` with options; without any, `main.ts` starts the server directly. */
export function serveCommand(): Command {
  return new Command("serve")
    .option("--workers <number>", "number of processes serving on the port; more than 1 requires PostgreSQL and Redis")
    .addOption(new Option("--as-worker [place]", "internal: run as a worker started by the supervisor").hideHelp())
    .action(serve);
}
