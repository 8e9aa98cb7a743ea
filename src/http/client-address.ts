import { type BlockList, isIP } from "node:net";

/**
 * The client's address: the peer of the connection, unless that is one of our proxies; then the last address in
 * X-Forwarded-For that is not. Any client can send that header, so it is ignored from a peer that is not listed.
 */
export function clientAddress(
  peer: string | undefined,
  forwardedFor: string | null,
  trusted: BlockList,
): string | undefined {
  if (peer === undefined || forwardedFor === null || !isTrusted(peer, trusted)) return peer;
  const hops = forwardedFor.split(",").map((hop) => hop.trim());
  for (const hop of hops.reverse()) {
    if (isIP(hop) === 0) return peer;
    if (!isTrusted(hop, trusted)) return hop;
  }
  return peer;
}

export function isTrusted(address: string, trusted: BlockList): boolean {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
  const family = isIP(plain);
  return family !== 0 && trusted.check(plain, family === 6 ? "ipv6" : "ipv4");
}

export const isLoopback = (address: string | undefined): boolean =>
  address !== undefined && /^(?:::ffff:)?127\.|^::1$/i.test(address);
