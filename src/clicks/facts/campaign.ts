import { qrMark } from "../../links/link.ts";
import { none } from "../click.ts";
import { factValue } from "./fact-value.ts";

/** What the query of a URL tells about where its visitor came from. */
export interface Campaign {
  readonly source: string;
  readonly medium: string;
  readonly campaign: string;
  /** Scanned from a QR code of ours. */
  readonly scanned: boolean;
}

export const noCampaign: Campaign = { source: none, medium: none, campaign: none, scanned: false };

/** `query` without its question mark. */
export function campaignOf(query: string): Campaign {
  if (query === "") return noCampaign;
  const parameters = new URLSearchParams(query);
  const value = (name: string) => factValue(parameters.get(name) ?? none);
  return {
    source: value("utm_source"),
    medium: value("utm_medium"),
    campaign: value("utm_campaign"),
    scanned: parameters.get(qrMark) === "",
  };
}
