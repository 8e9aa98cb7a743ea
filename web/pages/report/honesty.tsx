import type { ClickReport } from "../../api/generated.ts";
import { formatNumber, formatPercent } from "../../format.ts";
import { reportTexts } from "../../texts/report.ts";

const t = reportTexts.honest;

/** What is not exact about a report, in words, below its numbers. */
export function Honesty({ report }: { readonly report: ClickReport }) {
  const { sampled, itemised, visitorsCapped, imported } = report;
  const unknown = itemised === null ? 0 : itemised.of - itemised.clicks;
  const sentences = [
    sampled && `${t.sampled(formatPercent(sampled.error))}. ${t.sampledAbout(formatPercent(sampled.rate))}`,
    itemised && unknown > 0 && t.notItemised(formatNumber(unknown), formatNumber(itemised.of)),
    itemised && itemised.notInSeries > 0 && t.notInSeries(formatNumber(itemised.notInSeries)),
    visitorsCapped && t.capped,
    imported && imported.clicks > 0 && t.imported(formatNumber(imported.clicks)),
  ].filter((one) => typeof one === "string");
  if (sentences.length === 0) return null;
  return (
    <ul className="grid gap-1 border-t border-line px-4 py-2.5 text-12 text-text-3">
      {sentences.map((sentence) => (
        <li key={sentence}>{sentence}</li>
      ))}
    </ul>
  );
}
