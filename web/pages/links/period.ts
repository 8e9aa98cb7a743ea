import { linksTexts as t } from "../../texts/links.ts";
import { rangeOf } from "../report/periods.ts";

/** The period of the clicks and trends of the list. */
export const periods = ["month", "7d", "30d", "90d", "all"] as const;
export type Period = (typeof periods)[number];

export const periodLabels: Readonly<Record<Period, string>> = {
  month: t.month,
  "7d": t.days7,
  "30d": t.days30,
  "90d": t.days90,
  all: t.allTime,
};

/** Within a sentence. */
export const periodWords: Readonly<Record<Period, string>> = {
  month: t.inMonth,
  "7d": t.inDays7,
  "30d": t.inDays30,
  "90d": t.inDays90,
  all: t.inAllTime,
};

/**
 * The first day of a trend, which ends now; `today` is the workspace's, as its days are. A trend of all time would have no room:
 * it shows the last 30 days.
 */
export const trendFrom = (period: Period, today: string): string =>
  rangeOf(period === "all" ? "30d" : period, today).from;
