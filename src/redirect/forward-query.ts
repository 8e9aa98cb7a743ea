import { qrMark } from "../links/link.ts";
import { sentMost, withParameters } from "../links/routing/utm.ts";
import type { VisitRequest } from "./visit-request.ts";

/** The query of a visit, without the question mark. */
export const visitQuery = ({ query, url }: VisitRequest): string => query ?? queryOf(url);

/** The query of a URL, without the question mark. */
export function queryOf(url: string): string {
  const start = url.indexOf("?");
  return start === -1 ? "" : url.slice(start + 1);
}

/**
 * Appends the visitor's parameters to the URL, whose own parameters win. If the result is too long, returns the URL
 * alone. The mark of QR codes is for us.
 */
export function addVisitorQuery(url: string, query: string): string {
  if (query === "" || query.length > sentMost) return url;
  const longer = withParameters(url, withoutMark(query));
  return longer.length > sentMost ? url : longer;
}

function withoutMark(query: string): URLSearchParams {
  const parameters = new URLSearchParams(query);
  // One with a value belongs to the destination.
  parameters.delete(qrMark, "");
  return parameters;
}
