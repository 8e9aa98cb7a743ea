import { describe, expect, test } from "bun:test";
import { createLog } from "../base/log.ts";
import { type CountrySettings, createCountries, loadCountries } from "./countries.ts";

const log = createLog("silent", { write() {} }, false, () => 0);
const from = (address: string, headers: Record<string, string> = {}) =>
  new Request("http://localhost/abc", { headers: { "x-from": address, ...headers } });
const open = (more: Partial<CountrySettings> = {}) =>
  createCountries({
    addressOf: (request) => request.headers.get("x-from") ?? undefined,
    isFromProxy: () => false,
    header: undefined,
    log,
    ...more,
  });

/** Asks until the table is there. */
async function known(countries: ReturnType<typeof open>, request: Request): Promise<string | undefined> {
  for (let tries = 0; tries < 1_000; tries++) {
    const country = countries.of(request);
    if (country !== undefined) return country;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return undefined;
}

describe("the country of an address", () => {
  test("is not known while the table is read, and is then", async () => {
    const table = Promise.withResolvers<{ get(): { country_code: string } }>();
    let loads = 0;
    const countries = open({
      load() {
        loads++;
        return table.promise;
      },
    });
    expect(loads).toBe(0);
    expect([countries.of(from("192.0.2.1")), countries.of(from("192.0.2.1"))]).toEqual([undefined, undefined]);
    table.resolve({ get: () => ({ country_code: "DE" }) });
    await table.promise;
    expect(await known(countries, from("192.0.2.1"))).toBe("DE");
    expect(loads).toBe(1);
  });

  test("is in the table that comes with the program, in both families", async () => {
    const table = await loadCountries();
    const countries = open({ load: async () => table });
    expect(await known(countries, from("8.8.8.8"))).toBe("US");
    expect(countries.of(from("::ffff:8.8.8.8"))).toBe("US");
    expect(countries.of(from("2001:4860:4860::8888"))).toBe("US");
    for (const nowhere of ["127.0.0.1", "10.1.2.3", "::1", "fe80::1%eth0", "nonsense", ""]) {
      expect(countries.of(from(nowhere))).toBeUndefined();
    }
  });

  test("is looked up once for an address that comes again", async () => {
    const asked: string[] = [];
    const load = async () => ({
      get(address: string) {
        asked.push(address);
        return { country_code: address.startsWith("192") ? "DE" : "FR" };
      },
    });
    const countries = open({ load });
    expect(await known(countries, from("192.0.2.1"))).toBe("DE");
    for (const [address, country] of [
      ["203.0.113.1", "FR"],
      ["192.0.2.1", "DE"],
      ["203.0.113.1", "FR"],
    ] as const) {
      expect(countries.of(from(address))).toBe(country);
    }
    expect(asked).toEqual(["192.0.2.1", "203.0.113.1"]);
  });

  test("is not known if there is no table, and nothing fails", async () => {
    const countries = open({ load: () => Promise.reject(new Error("not there")) });
    expect(countries.of(from("8.8.8.8"))).toBeUndefined();
    await Promise.resolve();
    expect(countries.of(from("8.8.8.8"))).toBeUndefined();
  });
});

describe("a header that tells the country", () => {
  const load = async () => ({ get: () => ({ country_code: "DE" }) });
  const told = { "cf-ipcountry": "fr" };

  test("is trusted from one of our proxies", () => {
    expect(open({ load, header: "CF-IPCountry", isFromProxy: () => true }).of(from("192.0.2.1", told))).toBe("FR");
  });

  test("is not trusted from any other peer, nor if the operator did not name it", async () => {
    expect(await known(open({ load, header: "CF-IPCountry" }), from("192.0.2.1", told))).toBe("DE");
    expect(await known(open({ load, isFromProxy: () => true }), from("192.0.2.1", told))).toBe("DE");
  });

  test("that says 'unknown' is trusted too", () => {
    const countries = open({ load, header: "CF-IPCountry", isFromProxy: () => true });
    for (const code of ["XX", "T1", "", "Germany"]) {
      expect(countries.of(from("192.0.2.1", { "cf-ipcountry": code }))).toBeUndefined();
    }
  });
});
