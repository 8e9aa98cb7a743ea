import { dayMs } from "../base/clock.ts";
import { type CheckRoundSettings, runCheckRound } from "../link-health/check-round.ts";
import { saveTitle } from "../link-health/save-title.ts";
import type { Wiring } from "./wiring.ts";

/** One round of checking where links lead, for the table of jobs. Nothing if QL_CHECK_TARGETS is off. */
export function openLinkHealth({ core, metrics }: Wiring): ((signal: AbortSignal) => Promise<void>) | undefined {
  const { config, clock } = core;
  if (config.QL_CHECK_TARGETS === null) return undefined;
  const count = metrics.tally("quicklink_target_checks_total", "Destination checks.", "found", ["ok", "not_ok"]);
  const settings: CheckRoundSettings = {
    store: core.targets,
    safeFetch: core.safeFetch,
    places: core.resources.targets,
    everyMs: config.QL_CHECK_TARGETS * dayMs,
    clock,
    chance: Math.random,
    setTitle: (tenant, link, title) => saveTitle(core, tenant, link, title),
  };
  return async (signal) => {
    const { checked, notOk } = await runCheckRound(settings, signal);
    count.ok += checked - notOk;
    count.not_ok += notOk;
  };
}
