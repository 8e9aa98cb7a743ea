import { isPartlyKnown } from "../../../src/clicks/reports/itemised.ts";
import type { ClickReport } from "../../api/generated.ts";
import { formatPercent } from "../../format.ts";
import { reportTexts } from "../../texts/report.ts";

const t = reportTexts.honest;

type Judged = Pick<ClickReport, "sampled" | "itemised" | "visitorsCapped" | "imported" | "previous">;

/** What is not exact about a report, in sentences. */
export function inexactOf({ sampled, itemised, visitorsCapped, imported, previous }: Judged): string[] {
  const before = previous?.itemised;
  return [
    sampled && `${t.sampled(formatPercent(sampled.error))}. ${t.sampledAbout(formatPercent(sampled.rate))}`,
    isPartlyKnown(itemised) && t.notItemised(itemised.of - itemised.clicks, itemised.of),
    isPartlyKnown(before) && t.notItemisedBefore(before.of - before.clicks, before.of),
    itemised && itemised.notInSeries > 0 && t.notInSeries(itemised.notInSeries),
    visitorsCapped && t.capped,
    imported && imported.clicks > 0 && t.imported(imported.clicks),
  ].filter((one) => typeof one === "string");
}
