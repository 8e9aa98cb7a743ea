import { hostName, isNameless } from "../base/host-name.ts";
import type { Logger } from "../base/log.ts";
import { createMemo } from "../base/memo.ts";
import type { Domain } from "./domain.ts";

/**
 * The verified domains in memory. All are read at the start; each change in the feed reloads one domain, and all are
 * reloaded periodically, which corrects anything missed.
 *
 * Every request needs to know whose host it came to, and nearly all of them send one of a few names: answers are cached
 * by the header as sent, until a domain changes. Strangers can send any number of names, so the cache is bounded.
 */
export interface Hosts {
  /** By the `Host` header. */
  of(header: string | null): WhoseHost;
  /** Number of custom domains. */
  readonly size: number;
  /** Number of cached answers. */
  readonly kept: number;
  /** Reloads one domain. */
  changed(host: string): void;
  /** Reloads all domains. */
  readAll(): Promise<void>;
  /** Resolves when pending reloads are done. */
  idle(): Promise<void>;
}

export interface HostSettings {
  readonly load: (host?: string) => Promise<readonly Domain[]>;
  readonly own: OwnNames;
  readonly log: Logger;
}

const keptMost = 1_000;

export async function openHosts({ load, own, log }: HostSettings): Promise<Hosts> {
  let domains = new Map<string, CustomHost>();
  const answers = createMemo<WhoseHost>({
    most: keptMost,
    find: (header) => whoseHost(header, own, domains),
    // What is no name may be of any length, and takes no room here.
    keeps: (_, { kind }) => kind !== "malformed",
  });
  let reading: Promise<void> = Promise.resolve();

  async function readAll(): Promise<void> {
    domains = new Map((await load()).map((domain) => [domain.host, toCustomHost(domain)]));
    answers.clear();
  }

  async function readOne(host: string): Promise<void> {
    const [domain] = await load(host);
    if (domain) domains.set(host, toCustomHost(domain));
    else domains.delete(host);
    answers.clear();
  }

  /** One after the other, so that an older answer never replaces a newer one. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    const done = reading.then(work);
    reading = done.catch(() => {});
    return done;
  }

  await readAll();
  for (const host of own.names) {
    if (domains.has(host))
      log.warn({ host }, "QL_BASE_URL or QL_HOSTS contains a workspace's custom domain; its links are not served");
  }
  return {
    of: (header) => (header === null ? whoseHost(null, own, domains) : answers.get(header)),
    get size() {
      return domains.size;
    },
    get kept() {
      return answers.size;
    },
    changed(host) {
      inTurn(() => readOne(host)).catch((error: unknown) =>
        log.warn({ error }, "cannot read custom domains; will retry"),
      );
    },
    readAll: () => inTurn(readAll),
    idle: () => reading,
  };
}

const toCustomHost = ({ host, rootUrl, missingUrl }: Domain): CustomHost => ({
  kind: "custom",
  host,
  rootUrl,
  missingUrl,
});

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
