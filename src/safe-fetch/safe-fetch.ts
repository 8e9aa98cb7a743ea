import { lookup } from "node:dns/promises";
import { type BlockList, isIP } from "node:net";
import type { SecureContextOptions } from "node:tls";
import { type Failed, type Fetched, failed, type Refused, refused } from "./outcome.ts";
import { isListed, isPublic } from "./public-address.ts";

/**
 * HTTP requests to user-supplied addresses that cannot reach what only this machine can reach: other programs on it,
 * its private network, or the metadata service of its cloud.
 *
 * The URL is read by the same parser as everywhere (127.1, 0x7f000001 and 2130706433 become the same address). A name
 * is resolved once. If any of its addresses is not public, no request is made. The request goes to an IP address that
 * was checked. Redirects are followed here, and each one is checked again. One deadline covers everything, only the
 * first part of the body is read, and no cookies or credentials are sent.
 */
export interface SafeFetch {
  /** `signal` aborts it early. `bodyMostBytes`: for what is larger than a page. */
  fetch(method: "GET" | "HEAD", url: string, signal?: AbortSignal, bodyMostBytes?: number): Promise<Fetched>;
}

export interface SafeFetchSettings {
  /** Private addresses that may be requested anyway. */
  readonly allow: BlockList;
  readonly ports: readonly number[];
  readonly userAgent: string;
  readonly deadlineMs?: number;
  readonly bodyMostBytes?: number;
  /** All addresses of a name. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
  readonly ca?: SecureContextOptions["ca"];
}

const redirectsMost = 5;
const triesMost = 3;

export function createSafeFetch(settings: SafeFetchSettings): SafeFetch {
  const { allow, ports, userAgent, deadlineMs = 10_000, bodyMostBytes: usualBytes = 262_144, ca } = settings;
  const resolve = settings.resolve ?? everyAddress;

  /** The address to connect to, or why the request is refused. */
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
    // All of them: a mix of public and private addresses is an attack, or a mistake that enables one.
    if (!addresses.every((address) => isPublic(address) || isListed(address, allow))) return refused("private_address");
    // IPv4 first: many machines have no IPv6, few have no IPv4.
    return addresses.toSorted((a, b) => isIP(a) - isIP(b)).slice(0, triesMost);
  }

  async function one(method: "GET" | "HEAD", url: URL, signal: AbortSignal, bodyMostBytes: number) {
    const addresses = await admit(url, signal);
    if ("kind" in addresses) return addresses;
    const { sendPinned } = await import("./pinned-request.ts"); // most servers start without fetching anything
    let last: Failed = failed("no_connection");
    for (const address of addresses) {
      const reply = await sendPinned({
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

  async function follow(
    method: "GET" | "HEAD",
    first: string,
    signal: AbortSignal,
    bodyMostBytes: number,
  ): Promise<Fetched> {
    let address = first;
    for (let redirects = 0; redirects <= redirectsMost; redirects++) {
      if (!URL.canParse(address)) return refused("bad_address");
      const url = new URL(address);
      const reply = await one(method, url, signal, bodyMostBytes);
      if (reply.kind !== "replied") return reply;
      const { status, location, contentType, body } = reply;
      if (location === undefined) return { kind: "answered", status, url: url.href, contentType, body };
      if (!URL.canParse(location, url.href)) return refused("bad_address");
      address = new URL(location, url).href;
    }
    return refused("too_many_redirects");
  }

  return {
    async fetch(method, url, signal, bodyMostBytes = usualBytes) {
      const ending = new AbortController();
      const end = () => ending.abort();
      const timer = setTimeout(end, deadlineMs);
      if (signal?.aborted) end();
      signal?.addEventListener("abort", end);
      try {
        return await follow(method, url, ending.signal, bodyMostBytes);
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener("abort", end);
      }
    },
  };
}

const everyAddress = async (name: string): Promise<string[]> =>
  (await lookup(name, { all: true })).map(({ address }) => address);

/** A DNS query cannot be cancelled, but the caller need not wait for it. */
function inTime<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error("late"));
    if (signal.aborted) late();
    signal.addEventListener("abort", late, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", late));
  });
}
