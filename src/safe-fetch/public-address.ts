import { BlockList, isIP } from "node:net";
import { groupsOf } from "../limits/network.ts";

/**
 * Whether an address is on the public internet, rather than on this machine, in its network, or nowhere. IANA's
 * special-purpose ranges are not public, and of IPv6 only the allocated part is. Addresses with an IPv4 address inside
 * are judged by it where networks use them that way (mapped, NAT64), and refused otherwise (6to4, Teredo).
 */
const special4 = rangesOf("ipv4", [
  "0.0.0.0/8", // this network
  "10.0.0.0/8", // private
  "100.64.0.0/10", // carrier-grade NAT
  "127.0.0.0/8", // loopback
  "169.254.0.0/16", // link-local; includes cloud metadata services
  "172.16.0.0/12", // private
  "192.0.0.0/24", // protocol assignments
  "192.0.2.0/24", // documentation
  "192.88.99.0/24", // 6to4 relays
  "192.168.0.0/16", // private
  "198.18.0.0/15", // benchmarks
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, and broadcast
]);

const given6 = rangesOf("ipv6", ["2000::/3"]);
const special6 = rangesOf("ipv6", [
  "2001::/23", // protocol assignments: Teredo, benchmarks, ORCHID
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4
  "3fff::/20", // documentation
]);

/** The canonical form, used for all comparisons. Undefined if it is not an address, or has a zone index. */
export function plainAddress(text: string): string | undefined {
  const family = isIP(text);
  if (family === 4) return text;
  if (family !== 6 || text.includes("%")) return undefined;
  const groups = groupsOf(text);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  return isMapped ? inner4(groups) : groups.map((group) => group.toString(16)).join(":");
}

export function isPublic(text: string): boolean {
  const address = plainAddress(text);
  if (address === undefined) return false;
  if (isIP(address) === 4) return !special4.check(address, "ipv4");
  const groups = groupsOf(address);
  // 64:ff9b::/96 is NAT64: how an IPv6-only network reaches IPv4.
  const isNat64 = groups[0] === 0x64 && groups[1] === 0xff9b && groups.slice(2, 6).every((group) => group === 0);
  if (isNat64) return isPublic(inner4(groups));
  return given6.check(address, "ipv6") && !special6.check(address, "ipv6");
}

/** The exceptions that the operator allows. */
export function isListed(text: string, list: BlockList): boolean {
  const address = plainAddress(text);
  return address !== undefined && list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

function inner4(groups: readonly number[]): string {
  const [a = 0, b = 0] = groups.slice(6);
  return [a >> 8, a & 255, b >> 8, b & 255].join(".");
}

function rangesOf(family: "ipv4" | "ipv6", ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [start = "", bits] = range.split("/");
    list.addSubnet(start, Number(bits), family);
  }
  return list;
}
