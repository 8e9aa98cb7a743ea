import type { Logger } from "../base/log.ts";
import { type Domain, hostOfHeader } from "./domain.ts";

/**
 * The verified domains in memory, for redirects: which hosts are tenants', and where `/` and missing codes lead there.
 * All of them are read at the start; each change in the feed has that one read again, and now and then all are, which
 * mends whatever went wrong in between. A host that is not here is the server's own: its address has many names.
 */
export interface Hosts {
  /** Nothing: the server's own domain. */
  find(host: string): HostTargets | undefined;
  of(request: Request): HostTargets | undefined;
  readonly size: number;
  /** Reads one anew. */
  changed(host: string): void;
  /** Done when what was being read has been read. */
  idle(): Promise<void>;
  stop(): void;
}

export interface HostTargets {
  readonly host: string;
  readonly rootUrl: string | null;
  readonly missingUrl: string | null;
}

export interface HostSettings {
  readonly load: (host?: string) => Promise<readonly Domain[]>;
  readonly log: Logger;
  readonly everyMs?: number;
}

export async function openHosts({ load, log, everyMs = 30_000 }: HostSettings): Promise<Hosts> {
  let hosts = new Map<string, HostTargets>();
  let reading: Promise<void> = Promise.resolve();

  async function readAll(): Promise<void> {
    hosts = new Map((await load()).map((domain) => [domain.host, targetsOf(domain)]));
  }

  async function readOne(host: string): Promise<void> {
    const [domain] = await load(host);
    if (domain) hosts.set(host, targetsOf(domain));
    else hosts.delete(host);
  }

  /** One after the other, so that an older answer never replaces a newer one. */
  function next(work: () => Promise<void>): void {
    reading = reading.then(work).catch((error) => log.warn({ error }, "domains could not be read; they will be again"));
  }

  await readAll();
  const timer = setInterval(() => next(readAll), everyMs);
  return {
    find: (host) => hosts.get(host),
    of: (request) => hosts.get(hostOfHeader(request.headers.get("host") ?? "")),
    get size() {
      return hosts.size;
    },
    changed: (host) => next(() => readOne(host)),
    idle: () => reading,
    stop: () => clearInterval(timer),
  };
}

const targetsOf = ({ host, rootUrl, missingUrl }: Domain): HostTargets => ({ host, rootUrl, missingUrl });
