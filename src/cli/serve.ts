import { Command } from "commander";
import { systemClock } from "../base/clock.ts";
import { OperatorError } from "../base/errors.ts";
import { createLog, type Logger } from "../base/log.ts";
import { type Config, loadConfig } from "../config.ts";

export function serveCommand(): Command {
  return new Command("serve").action(async () => {
    const config = loadConfig();
    const log = createLog(config.QL_LOG_LEVEL, process.stdout, process.stdout.isTTY === true, systemClock.now);
    for (const name of config.unknown) log.warn({ name }, "this is not a setting of QuickLink and has no effect");
    const { startApp } = await import("../app.ts");
    const running = await startApp(config, log).catch((error: unknown) => {
      throw explain(error, config);
    });
    if (running.firstKey !== undefined) console.log(welcome(config, running.firstKey));
    log.info({ url: config.baseUrl, database: config.embedded ? "SQLite" : "PostgreSQL" }, "listening");
    stopOnSignal(running.stop, log);
  });
}

const sameSignalMs = 1_000;
const stopMs = 10_000;

function welcome(config: Config, key: string): string {
  const everywhere = config.HOST === "0.0.0.0" || config.HOST === "::";
  const host = everywhere ? "localhost" : config.HOST.includes(":") ? `[${config.HOST}]` : config.HOST;
  const local = `http://${host}:${config.PORT}`;
  return `
QuickLink is running at ${local}

The tenant "default" was made, with this API key. It is shown this once, so keep it:

  ${key}

Make your first link:

  curl -s ${local}/api/links -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" -d '{"url":"https://example.com"}'
`;
}

function explain(error: unknown, config: Config): unknown {
  if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") {
    return new OperatorError(`Port ${config.PORT} is in use. Stop what listens there, or set PORT to another one.`, 2);
  }
  return error;
}

/**
 * The first signal lets what runs finish; a second one, or ten seconds, does not. One Ctrl-C can arrive twice, from the
 * terminal and from npm or another parent that passes it on: what follows within a second is the same one.
 */
function stopOnSignal(stop: () => Promise<void>, log: Logger): void {
  let stoppingSince: number | undefined;
  const onSignal = async (signal: string) => {
    if (stoppingSince !== undefined) {
      if (systemClock.elapsed() - stoppingSince > sameSignalMs) process.exit(1);
      return;
    }
    stoppingSince = systemClock.elapsed();
    log.info({ signal }, "stopping");
    setTimeout(() => process.exit(1), stopMs).unref();
    await stop();
    log.info("stopped");
    process.exit(0);
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
}
