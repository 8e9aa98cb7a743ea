import { type BlockList, isIP } from "node:net";

/** What a request is about and who sent it, without trusting what the client claims. */

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

/**
 * The client's address: the peer of the connection, unless that is one of our proxies; then the last address in
 * X-Forwarded-For that is not, without its port. Any client can send that header, so it is ignored from a peer that is not
 * listed.
 */
export function clientAddress(
  peer: string | undefined,
  forwardedFor: string | null,
  trusted: BlockList,
): string | undefined {
  if (peer === undefined || forwardedFor === null || !isTrusted(peer, trusted)) return peer;
  const hops = forwardedFor.split(",").map((hop) => hop.trim());
  for (const hop of hops.reverse()) {
    const address = withoutPort(hop);
    if (address === undefined) return peer;
    if (!isTrusted(address, trusted)) return address;
  }
  return peer;
}

/**
 * The address of a hop; undefined if it has none. Some proxies add the port (Azure Application Gateway). That of an IPv6 address is
 * recognized behind brackets only: `2001:db8::1:443` is an address by itself.
 */
function withoutPort(hop: string): string | undefined {
  if (isIP(hop) !== 0) return hop;
  const v4 = ported4.exec(hop)?.[1];
  if (v4 !== undefined) return isIP(v4) === 4 ? v4 : undefined;
  const v6 = bracketed6.exec(hop)?.[1];
  return v6 !== undefined && isIP(v6) === 6 ? v6 : undefined;
}
const ported4 = /^([\d.]+):\d{1,5}$/;
const bracketed6 = /^\[([^\]]+)\](?::\d{1,5})?$/;

export function isTrusted(address: string, trusted: BlockList): boolean {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
  const family = isIP(plain);
  return family !== 0 && trusted.check(plain, family === 6 ? "ipv6" : "ipv4");
}

export const isLoopback = (address: string | undefined): boolean =>
  address !== undefined && (address.startsWith("127.") || (address.startsWith("::") && loopbackOfV6.test(address)));
const loopbackOfV6 = /^::ffff:127\.|^::1$/i;
