import { isIP } from "node:net";

/**
 * The part of an address that identifies one user: all of an IPv4 address; the first 64 bits of an IPv6 address,
 * because every home and every rented machine has 2^64 addresses behind those. IPv4-mapped IPv6 counts as IPv4.
 */
export function networkOf(address: string): string | undefined {
  const plain = address.split("%", 1)[0] ?? ""; // the interface of a link-local address
  const family = isIP(plain);
  if (family !== 6) return family === 4 ? plain : undefined;
  const groups = groupsOf(plain);
  const [a = 0, b = 0] = groups.slice(6);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped) return [a >> 8, a & 255, b >> 8, b & 255].join(".");
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":")}::/64`;
}

/** The eight groups of an IPv6 address in any notation. */
export function groupsOf(address: string): number[] {
  const hex = address.replace(/:(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/, (_, ...bytes: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.map(Number);
    return `:${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
  const [first = [], last = []] = hex.split("::").map((part) =>
    part
      .split(":")
      .filter((group) => group !== "")
      .map((group) => Number.parseInt(group, 16)),
  );
  return [...first, ...new Array<number>(8 - first.length - last.length).fill(0), ...last];
}
