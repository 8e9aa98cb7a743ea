import type { Dimension } from "./report-query.ts";

/** All breakdowns that the cards show. One request asks for all of them. */
export const allDimensions = [
  ...(["referrer", "utm_source", "utm_medium", "utm_campaign", "source", "country", "region", "city"] as const),
  ...(["device", "os", "browser", "language", "variant"] as const),
] as const satisfies readonly Dimension[];
