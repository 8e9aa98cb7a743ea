import { isbot } from "isbot";
import { createMemo } from "../base/memo.ts";
import type { VisitRequest } from "./visit-request.ts";

/**
 * Whether a User-Agent is a known bot. The list is one long regular expression (2.3 µs per check), and few distinct
 * agents make most visits, so the last verdicts are cached.
 */
export type IsBot = (userAgent: string | null) => boolean;

const most = 2_000;
const lengthMost = 512;

export function createBots(): IsBot {
  const verdicts = createMemo({
    most,
    find: (userAgent) => isbot(userAgent.slice(0, lengthMost)),
    keeps: (userAgent) => userAgent.length <= lengthMost,
  });
  // Every browser sends a User-Agent.
  return (userAgent) => userAgent === null || userAgent === "" || verdicts.get(userAgent);
}

/**
 * The headers in which browsers say that nobody has opened a link yet: `Sec-Purpose` (all of today), `Purpose` (older Chrome), `X-Moz`
 * (older Firefox) and `X-Purpose` (older Safari). The parser of plain requests reads these names too.
 */
export const purposeNames = ["sec-purpose", "purpose", "x-moz", "x-purpose"] as const;

/** Whether one of them says so. */
export function isPrefetch(headers: VisitRequest["headers"]): boolean {
  for (const name of purposeNames) {
    const purpose = headers.get(name);
    if (purpose !== null && isAhead.test(purpose)) return true;
  }
  return false;
}

const isAhead = /prefetch|prerender|preview/i;
