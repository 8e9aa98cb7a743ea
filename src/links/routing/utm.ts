import { invalid } from "../../base/errors.ts";

/** The five UTM parameters that mark where a visitor came from. Added to a URL unless it has them. */
const utmNames = ["source", "medium", "campaign", "term", "content"] as const;
export type Utm = { readonly [Name in (typeof utmNames)[number]]?: string };

/** Maximum length of a URL as sent: stored ones have at most 2,048 characters, and parameters may be added. */
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
 * Appends the parameters that the URL does not have yet to its query. The existing query keeps its spelling: `URL`
 * would rewrite it, and some servers care.
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
