/**
 * The path and query of a request's address. The host in it is whatever the client wrote into its Host header, which
 * need not be one: `URL` would throw at some, so it is stepped over instead.
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
