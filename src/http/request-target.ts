/**
 * The path and query of a request URL. The host in it is whatever the client sent as Host header, which may be invalid;
 * `URL` would throw on some, so it is skipped instead.
 */
export interface RequestTarget {
  readonly path: string;
  /** With its question mark; empty if there is none. */
  readonly query: string;
}

export function targetOf(url: string): RequestTarget {
  const scheme = url.indexOf("://");
  const start = url.indexOf("/", scheme === -1 ? 0 : scheme + 3);
  if (start === -1) return { path: "/", query: "" };
  const end = url.indexOf("?", start);
  return end === -1 ? { path: url.slice(start), query: "" } : { path: url.slice(start, end), query: url.slice(end) };
}

export const isApi = (path: string): boolean => path === "/api" || path.startsWith("/api/");
