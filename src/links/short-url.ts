import type { Place } from "../sql/versions.ts";
import { ownDomain } from "./link.ts";

/**
 * The public URL of a link: the only place that builds one. On another domain the same code may be another tenant's
 * link, so a URL without the domain would lead to the wrong link.
 */
export const shortUrl = (baseUrl: string, { domain, code }: Place): string => `${originOf(baseUrl, domain)}/${code}`;

/** Custom domains use the same scheme, on its default port. */
export const originOf = (baseUrl: string, domain: string): string =>
  domain === ownDomain ? baseUrl : `${new URL(baseUrl).protocol}//${domain}`;
