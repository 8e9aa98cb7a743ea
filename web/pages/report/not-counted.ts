import type { ClickReport } from "../../api/generated.ts";
import { reportTexts } from "../../texts/report.ts";

const t = reportTexts.figures;

/** What no person is known to have opened. */
const botReasons: readonly string[] = ["bot", "head", "prefetch", "preview"];

export interface NotCounted {
  /** Bots and previews. */
  readonly bots: number;
  /**
   * All other visits that were not counted, each for its reason: "120 visits sent to the fallback address". People are among
   * them, which `totals.bots` of the API does not tell.
   */
  readonly others: readonly string[];
}

export function notCountedOf({ reasons }: Pick<ClickReport, "reasons">): NotCounted {
  const found = Object.entries(reasons).filter(([reason, visits]) => reason !== "counted" && visits > 0);
  const isOfBots = ([reason]: readonly [string, number]) => botReasons.includes(reason);
  const names: Readonly<Record<string, (count: number) => string>> = t.otherVisits;
  return {
    bots: found.filter(isOfBots).reduce((sum, [, visits]) => sum + visits, 0),
    others: found
      .filter((one) => !isOfBots(one))
      .map(([reason, visits]) => (names[reason] ?? t.otherVisits.unknown)(visits)),
  };
}
