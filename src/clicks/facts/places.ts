import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { messageOf, OperatorError } from "../../base/errors.ts";
import type { Countries } from "../../redirect/countries.ts";
import { none } from "../click.ts";

/**
 * Where an address is: its country from the table that rules use, so that reports and rules agree; region and city from
 * the operator's file, if there is one. Nothing is looked up over the network.
 */
export interface Places {
  /** Whether all tables are loaded. Until then, places are unknown. */
  readonly isReady: boolean;
  of(address: string): KnownPlace;
}

export interface KnownPlace {
  /** ISO 3166-1, such as DE. */
  readonly country: string;
  /** With the country, because names repeat: "Bavaria, DE". */
  readonly region: string;
  /** "Munich, Bavaria, DE". */
  readonly city: string;
}

/** What a record of a city table says; the country as ISO code. */
export interface CityRecord {
  readonly country: string;
  readonly region: string;
  readonly city: string;
}

export interface CityTable {
  get(address: string): CityRecord | undefined;
}

export function createPlaces(
  countries: Pick<Countries, "ofAddress" | "isReady">,
  cities: CityTable | undefined,
): Places {
  return {
    get isReady() {
      return countries.isReady;
    },
    of(address) {
      const country = countries.ofAddress(address) ?? none;
      const found = cities?.get(address);
      // Two tables that contradict each other would show Munich in Austria.
      if (found === undefined || found.country !== country) return { country, region: none, city: none };
      const { region, city } = found;
      return {
        country,
        region: region === none ? none : `${region}, ${country}`,
        city: city === none ? none : [city, region, country].filter((part) => part !== none).join(", "),
      };
    },
  };
}

/** Reads a file in MaxMind's format, such as GeoLite2-City or DB-IP City Lite. Throws what the operator can act on. */
export async function openCityTable(path: string): Promise<CityTable> {
  const { Reader } = await import("mmdb-lib");
  const wrong = (error: unknown) =>
    new OperatorError(`QL_CITY_DATABASE: cannot read ${path} as a MaxMind database (.mmdb): ${messageOf(error)}.`);
  const read = async () => {
    const reader = new Reader(await readFile(path));
    // The format has no checksum: looking something up finds a file that was cut off.
    for (const address of probes) reader.get(address);
    return reader;
  };
  const reader = await read().catch((error: unknown) => {
    throw wrong(error);
  });
  const kind = reader.metadata.databaseType;
  if (!/city/i.test(kind)) throw wrong(`it is "${kind}", not a database of cities`);
  return {
    get(address) {
      try {
        const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
        // A table for IPv4 would take the first bits of an IPv6 address for one.
        if (isIP(plain) === 0 || (reader.metadata.ipVersion === 4 && isIP(plain) === 6)) return undefined;
        return cityRecord(reader.get(plain));
      } catch {
        // A damaged part of the file.
        return undefined;
      }
    },
  };
}

const probes = ["1.1.1.1", "8.8.8.8", "203.0.113.1"];

/** The shapes of MaxMind and DB-IP, and the flat one of ip-location-db. */
export function cityRecord(record: unknown): CityRecord | undefined {
  if (!isObject(record)) return undefined;
  const part = (name: string): unknown => record[name];
  const [subdivision] = Array.isArray(record.subdivisions) ? (record.subdivisions as unknown[]) : [];
  return {
    country: textOf(isObject(record.country) ? record.country.iso_code : part("country_code")),
    region: nameOf(subdivision) || textOf(part("state1")),
    city: nameOf(record.city) || textOf(record.city),
  };
}

const nameOf = (value: unknown): string => (isObject(value) && isObject(value.names) ? textOf(value.names.en) : none);
const textOf = (value: unknown): string => (typeof value === "string" ? value : none);
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
