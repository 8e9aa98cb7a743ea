import { systemClock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";

const sameSignalMs = 1_000;
const stopMs = 10_000;

/**
 * The first signal lets running work finish; a second one, or ten seconds, does not. One Ctrl-C can arrive twice, from
 * the terminal and from npm, a supervisor or another parent: anything within a second is the same one. Returns a
 * function to stop for another reason than a signal.
 */
export function stopOnSignal(
  stop: () => Promise<void>,
  log: Logger,
  level: "info" | "debug" = "info",
): (reason: string) => Promise<void> {
  let stoppingSince: number | undefined;
  const onSignal = async (signal: string) => {
    if (stoppingSince !== undefined) {
      if (systemClock.elapsed() - stoppingSince > sameSignalMs) process.exit(1);
      return;
    }
    stoppingSince = systemClock.elapsed();
    log[level]({ signal }, "stopping");
    setTimeout(() => process.exit(1), stopMs).unref();
    await stop();
    log[level]("stopped");
    process.exit(0);
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  return onSignal;
}
