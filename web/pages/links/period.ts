import { linksTexts as t } from "../../texts/links.ts";

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

const two = (value: number): string => String(value).padStart(2, "0");
const dateOf = (date: Date): string => `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;

/** The first day of a trend. A trend of all time would have no room: it shows the last 30 days. */
export function trendFrom(period: Period, today = new Date()): string {
  const back = (days: number) => new Date(today.getFullYear(), today.getMonth(), today.getDate() - days);
  switch (period) {
    case "month":
      return dateOf(new Date(today.getFullYear(), today.getMonth(), 1));
    case "7d":
      return dateOf(back(6));
    case "90d":
      return dateOf(back(89));
    default:
      return dateOf(back(29));
  }
}
