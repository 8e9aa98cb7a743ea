import { lookup } from "node:dns/promises";
import { type BlockList, isIP } from "node:net";
import type { SecureContextOptions } from "node:tls";
import { ask } from "./ask.ts";
import { type Failed, type Fetched, failed, type Refused, refused } from "./outcome.ts";
import { isListed, isPublic } from "./public-address.ts";

/**
 * Requests to addresses that strangers name, without letting them reach what only this machine can: other programs on
 * it, its neighbours, the place where a cloud keeps a machine's secrets.
 *
 * The address is read by the same parser as everywhere (127.1, 0x7f000001 and 2130706433 are one address to it), a name
 * is resolved once, and if any of its addresses is not public it is not asked at all. The request goes to an address
 * that was checked, by number. Redirects are followed by hand, each of them checked anew. One deadline is over all of
 * it, only the beginning of the body is read, and no cookie or credential is ever sent.
 */
export interface Guarded {
  /** `signal` ends it before its time. */
  fetch(method: "GET" | "HEAD", url: string, signal?: AbortSignal): Promise<Fetched>;
}

export interface GuardedSettings {
  /** Addresses that are not public and may be asked nevertheless. */
  readonly allow: BlockList;
  readonly ports: readonly number[];
  readonly userAgent: string;
  readonly deadlineMs?: number;
  readonly bodyMostBytes?: number;
  /** Every address of a name. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
  readonly ca?: SecureContextOptions["ca"];
}

const redirectsMost = 5;
const triesMost = 3;

export function createGuarded(settings: GuardedSettings): Guarded {
  const { allow, ports, userAgent, deadlineMs = 10_000, bodyMostBytes = 262_144, ca } = settings;
  const resolve = settings.resolve ?? everyAddress;

  /** Where it may be asked, or why not. */
  async function admit(url: URL, signal: AbortSignal): Promise<readonly string[] | Refused | Failed> {
    if (url.protocol !== "https:" && url.protocol !== "http:") return refused("scheme");
    if (url.username !== "" || url.password !== "") return refused("credentials");
    const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
    if (!ports.includes(port)) return refused("port");
    const name = url.hostname.replace(/^\[|\]$/g, "");
    let addresses: readonly string[] = [name];
    if (isIP(name) === 0) {
      try {
        addresses = await inTime(resolve(name), signal);
      } catch {
        return failed(signal.aborted ? "timeout" : "unknown_host");
      }
      if (addresses.length === 0) return failed("unknown_host");
    }
    // All of them: an answer that mixes public and private ones is a trick, or a mistake that becomes one.
    if (!addresses.every((address) => isPublic(address) || isListed(address, allow))) return refused("private_address");
    // Machines without a way to IPv6 are many, those without one to IPv4 few.
    return addresses.toSorted((a, b) => isIP(a) - isIP(b)).slice(0, triesMost);
  }

  async function one(method: "GET" | "HEAD", url: URL, signal: AbortSignal) {
    const addresses = await admit(url, signal);
    if ("kind" in addresses) return addresses;
    let last: Failed = failed("no_connection");
    for (const address of addresses) {
      const reply = await ask({
        method,
        url,
        address,
        userAgent,
        bodyMostBytes,
        signal,
        ...(ca !== undefined && { ca }),
      });
      if (reply.kind === "replied" || reply.reason !== "no_connection") return reply;
      last = reply;
    }
    return last;
  }

  async function follow(method: "GET" | "HEAD", first: string, signal: AbortSignal): Promise<Fetched> {
    let address = first;
    for (let redirects = 0; redirects <= redirectsMost; redirects++) {
      if (!URL.canParse(address)) return refused("bad_address");
      const url = new URL(address);
      const reply = await one(method, url, signal);
      if (reply.kind !== "replied") return reply;
      const { status, location, contentType, body } = reply;
      if (location === undefined) return { kind: "answered", status, url: url.href, contentType, body };
      if (!URL.canParse(location, url.href)) return refused("bad_address");
      address = new URL(location, url).href;
    }
    return refused("too_many_redirects");
  }

  return {
    async fetch(method, url, signal) {
      const ending = new AbortController();
      const end = () => ending.abort();
      const timer = setTimeout(end, deadlineMs);
      if (signal?.aborted) end();
      signal?.addEventListener("abort", end);
      try {
        return await follow(method, url, ending.signal);
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener("abort", end);
      }
    },
  };
}

const everyAddress = async (name: string): Promise<string[]> =>
  (await lookup(name, { all: true })).map(({ address }) => address);

/** A resolver cannot be stopped, but nobody has to wait for it. */
function inTime<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error("late"));
    if (signal.aborted) late();
    signal.addEventListener("abort", late, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", late));
  });
}
