import { invalid } from "../../base/errors.ts";

/** The five parameters by which people tell where a visitor came from. Added to an address unless it has them. */
export const utmNames = ["source", "medium", "campaign", "term", "content"] as const;
export type Utm = { readonly [Name in (typeof utmNames)[number]]?: string };

/** An address as it is sent at last: what is stored has 2,048 characters at most, and something may be added. */
export const sentMost = 4_096;

export function withUtm(url: string, utm: Utm | null): string {
  if (utm === null) return url;
  return withParameters(
    url,
    utmNames.flatMap((name): [string, string][] => {
      const value = utm[name];
      return value === undefined ? [] : [[`utm_${name}`, value]];
    }),
  );
}

/**
 * Those that the address does not have yet, at the end of its query. What stands there stays as it is spelled: `URL`
 * would write all of it anew, and some servers care.
 */
export function withParameters(url: string, added: Iterable<readonly [name: string, value: string]>): string {
  const own = new URL(url).searchParams;
  const more = new URLSearchParams();
  for (const [name, value] of added) if (!own.has(name)) more.append(name, value);
  const text = more.toString();
  if (text === "") return url;
  const hash = url.indexOf("#");
  const [address, fragment] = hash === -1 ? [url, ""] : [url.slice(0, hash), url.slice(hash)];
  const joint = !address.includes("?") ? "?" : /[?&]$/.test(address) ? "" : "&";
  return `${address}${joint}${text}${fragment}`;
}

export function refuseUtm(utm: Utm, urls: readonly string[]): void {
  if (urls.some((url) => withUtm(url, utm).length > sentMost)) {
    throw invalid(
      "utm",
      "too_long",
      `With these parameters the URL would have more than ${sentMost} characters. Shorten them.`,
    );
  }
}
