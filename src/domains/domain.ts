import { isIP } from "node:net";
import { domainToASCII } from "node:url";
import type { TenantId } from "../base/ids.ts";

/** A host name that a tenant's links are on, besides the server's own. */
export interface Domain {
  readonly tenantId: TenantId;
  /** Lower-case ASCII, without a port. */
  readonly host: string;
  readonly state: "pending" | "verified";
  /** What the tenant must publish to show that it is in charge. */
  readonly token: string;
  /** Where new links of the tenant go when nobody says. */
  readonly isDefault: boolean;
  /** Where `/` leads; null is a plain page. */
  readonly rootUrl: string | null;
  /** Where a code that does not exist leads; null is the usual 404. */
  readonly missingUrl: string | null;
  /** The blocklist names the host that it leads to: it is not served. */
  readonly rootBlocked: boolean;
  readonly missingBlocked: boolean;
  readonly createdAt: number;
  readonly verifiedAt: number | null;
}

const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** As DNS has it; nothing if it is no name of a public kind. */
export function parseHost(text: string): string | undefined {
  const name = text.trim().replace(/\.$/, "");
  // domainToASCII reads an address, and would drop what follows the host.
  const host = /[/\\?#@:]/.test(name) ? "" : domainToASCII(name);
  if (host.length > 253 || isIP(host) !== 0) return undefined;
  const labels = host.split(".");
  const isName = labels.length > 1 && labels.every((one) => label.test(one)) && /^[a-z]/.test(labels.at(-1) ?? "");
  return isName ? host : undefined;
}

export const tokenName = (host: string): string => `_quicklink.${host}`;
export const tokenPath = "/.well-known/quicklink-domain.txt";
export const tokenText = (token: string): string => `quicklink-domain=${token}`;
