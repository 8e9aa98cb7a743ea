import type { VisitRequest } from "./visit-request.ts";

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
