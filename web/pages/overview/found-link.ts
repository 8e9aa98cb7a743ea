import type { ClickReport } from "../../api/generated.ts";
import { overviewTexts } from "../../texts/overview.ts";

/** A link of the breakdown by link. */
export type FoundLink = ClickReport["breakdowns"][string]["values"][number];

/** "al.example/winter"; of a link that was deleted long ago nothing is known. */
export function nameOfLink({ link }: FoundLink): string {
  if (!link || link.code === null) return overviewTexts.links.unknown;
  return `${link.domain ?? ""}/${link.code}`;
}
