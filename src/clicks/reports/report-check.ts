import { setImmediate as othersTurn } from "node:timers/promises";
import type { Clock } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";

/**
 * Called between the steps of a report. It ends one that takes too long, because the caller would not wait for it. And it lets others
 * have their turn: on PostgreSQL a report is added up in the thread that answers redirects.
 */
export type ReportCheck = () => void | Promise<void>;

const reportMs = 8_000;
/** Redirects wait for so long, or for one step if that takes longer. */
const turnMs = 4;

export function createReportCheck(clock: Clock): ReportCheck {
  const end = clock.elapsed() + reportMs;
  let turnEnd = clock.elapsed() + turnMs;
  return async () => {
    const at = clock.elapsed();
    if (at > end) throw tooSlow();
    if (at <= turnEnd) return;
    await othersTurn();
    turnEnd = clock.elapsed() + turnMs;
  };
}

const tooSlow = () =>
  new Problem("busy", "This report took too long. Choose a shorter range or fewer filters, or try again shortly.", {
    retryAfterSeconds: 30,
  });
