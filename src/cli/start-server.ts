import { OperatorError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import type { Config } from "../config/config.ts";
import type { Running } from "../server/server.ts";
import type { Peers } from "../workers/channel.ts";
import { showFirstKey } from "./first-key.ts";
import { offerSetUp } from "./offer-setup.ts";

/**
 * Starts the server in this process, and shows the key of a first start. `listening`: from then on it can be stopped.
 */
export async function startServing(
  config: Config,
  log: Logger,
  listening: (running: Running) => void,
  worker?: { readonly channel: Peers; readonly isFirst: boolean },
): Promise<void> {
  const { startApp } = await import("../server/server.ts");
  const running = await startApp(config, log, worker?.channel).catch((error: unknown) => {
    throw explainStart(error, config);
  });
  listening(running);
  const key = await running.firstKey.catch(async (error: unknown) => {
    await running.stop();
    throw error;
  });
  // The dashboard first: most people want to see it, and the last lines are for those who want the API.
  if (worker?.isFirst !== false) await offerSetUp(config, running.setUp, log, worker === undefined);
  if (key !== undefined) showFirstKey(config, key, log);
}

/** The value of `--as-worker` for the one that tells what concerns all. */
export const firstWorker = "first";

export const startFacts = (config: Config) => ({
  url: config.baseUrl,
  database: config.embedded ? "SQLite" : "PostgreSQL",
});

export function explainStart(error: unknown, config: Config): unknown {
  if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") {
    return new OperatorError(
      `Port ${config.PORT} is already in use. Stop the other process, or set PORT to another port.`,
      2,
    );
  }
  // Bun's message says where, and not why.
  if (error instanceof Error && "code" in error && error.message.startsWith("Failed to listen")) {
    return new OperatorError(
      `Cannot listen on ${config.HOST}, port ${config.PORT}: ${String(error.code)}. Check HOST and PORT.`,
      2,
    );
  }
  return error;
}
