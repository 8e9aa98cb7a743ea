import { sentMost, withParameters } from "../links/routing/utm.ts";

/** The query of a request's address, without its question mark. */
export function queryOf(url: string): string {
  const start = url.indexOf("?");
  return start === -1 ? "" : url.slice(start + 1);
}

/** The visitor's parameters, behind those of the address, which win. If that gets too long, the address alone. */
export function addVisitorQuery(url: string, query: string): string {
  if (query === "" || query.length > sentMost) return url;
  const longer = withParameters(url, new URLSearchParams(query));
  return longer.length > sentMost ? url : longer;
}
