import { sentMost, withParameters } from "../links/routing/utm.ts";

/** The query of a request URL, without the question mark. */
export function queryOf(url: string): string {
  const start = url.indexOf("?");
  return start === -1 ? "" : url.slice(start + 1);
}

/**
 * Appends the visitor's parameters to the URL, whose own parameters win. If the result is too long, returns the URL
 * alone.
 */
export function addVisitorQuery(url: string, query: string): string {
  if (query === "" || query.length > sentMost) return url;
  const longer = withParameters(url, new URLSearchParams(query));
  return longer.length > sentMost ? url : longer;
}
