import type { Place } from "../sql/versions.ts";
import { ownDomain } from "./link.ts";

/**
 * The address of a link, as people see it: the only place that puts one together. The same code may be another tenant's
 * link on another domain, so an address without the domain leads to somebody else.
 */
export const shortUrl = (baseUrl: string, { domain, code }: Place): string => `${originOf(baseUrl, domain)}/${code}`;

/** Custom domains are reached by the same scheme, on its usual port. */
export const originOf = (baseUrl: string, domain: string): string =>
  domain === ownDomain ? baseUrl : `${new URL(baseUrl).protocol}//${domain}`;
