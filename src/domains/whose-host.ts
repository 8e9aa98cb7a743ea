import { hostName, isNameless } from "../base/host-name.ts";

/**
 * Whose host a request came to. This is the only place that decides it; the server asks before anything else, so
 * redirects, pages, the API and all mounts get the same answer.
 *
 * Ports are ignored and one trailing dot is stripped. A name that the operator set is ours, even if a tenant has
 * verified it. An IP address or a name without a dot can never be a custom domain, so it is ours too. Any other name is
 * foreign: serving our links there would let strangers use a customer's name. While QL_BASE_URL is not set, every name
 * that is not a custom domain is ours.
 */
export type WhoseHost = OwnHost | CustomHost | { readonly kind: "foreign" } | { readonly kind: "malformed" };

export interface OwnHost {
  readonly kind: "ours";
  /** In QL_BASE_URL or QL_HOSTS; otherwise it is ours because it cannot belong to anyone else. */
  readonly named: boolean;
}

export interface CustomHost {
  readonly kind: "custom";
  readonly host: string;
  readonly rootUrl: string | null;
  readonly missingUrl: string | null;
}

export interface OwnNames {
  /** The host of QL_BASE_URL and the names in QL_HOSTS. */
  readonly names: ReadonlySet<string>;
  /** Whether QL_BASE_URL is set. */
  readonly onlyThese: boolean;
}

export function whoseHost(
  header: string | null,
  own: OwnNames,
  domains: Pick<ReadonlyMap<string, CustomHost>, "get">,
): WhoseHost {
  const name = hostName(header);
  if (name === undefined) return malformed;
  if (own.names.has(name)) return namedOwn;
  const custom = domains.get(name);
  if (custom !== undefined) return custom;
  return own.onlyThese && !isNameless(name) ? foreign : otherOwn;
}

const namedOwn: OwnHost = { kind: "ours", named: true };
const otherOwn: OwnHost = { kind: "ours", named: false };
const foreign = { kind: "foreign" } as const;
const malformed = { kind: "malformed" } as const;
