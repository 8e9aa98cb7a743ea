import { isIP } from "node:net";
import { domainToASCII } from "node:url";
import type { TenantId } from "../base/ids.ts";

/** A custom domain: a host name for a tenant's links, besides the server's own. */
export interface Domain {
  readonly tenantId: TenantId;
  /** Lower-case ASCII, without a port. */
  readonly host: string;
  readonly state: "pending" | "verified";
  /** The tenant publishes this to verify the domain. */
  readonly token: string;
  /** Whether new links of the tenant are created on it by default. */
  readonly isDefault: boolean;
  /** Where `/` redirects; null for a plain page. */
  readonly rootUrl: string | null;
  /** Where an unknown code redirects; null for the default 404 page. */
  readonly missingUrl: string | null;
  /** Its host is on the blocklist: it is not served. */
  readonly rootBlocked: boolean;
  readonly missingBlocked: boolean;
  readonly createdAt: number;
  readonly verifiedAt: number | null;
}

const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** As DNS has it; `undefined` if it is not a public host name. */
export function parseHost(text: string): string | undefined {
  const name = text.trim().replace(/\.$/, "");
  // domainToASCII parses a URL and would drop everything after the host.
  const host = /[/\\?#@:]/.test(name) ? "" : domainToASCII(name);
  if (host.length > 253 || isIP(host) !== 0) return undefined;
  const labels = host.split(".");
  const isName = labels.length > 1 && labels.every((one) => label.test(one)) && /^[a-z]/.test(labels.at(-1) ?? "");
  return isName ? host : undefined;
}

export const tokenName = (host: string): string => `_quicklink.${host}`;
export const tokenPath = "/.well-known/quicklink-domain.txt";
export const tokenText = (token: string): string => `quicklink-domain=${token}`;
