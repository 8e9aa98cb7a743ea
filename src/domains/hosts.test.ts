import { expect, test } from "bun:test";
import { systemClock } from "../base/clock.ts";
import type { TenantId } from "../base/ids.ts";
import { createLog } from "../base/log.ts";
import type { Domain } from "./domain.ts";
import { openHosts } from "./hosts.ts";

const log = createLog("silent", { write() {} }, false, systemClock.now);
const own = { names: new Set(["go.example.com"]), onlyThese: true };
const domain = (host: string, rootUrl: string | null = null): Domain => ({
  tenantId: "ten_a" as TenantId,
  host,
  state: "verified",
  token: "t",
  isDefault: false,
  rootUrl,
  missingUrl: null,
  rootBlocked: false,
  missingBlocked: false,
  createdAt: 0,
  verifiedAt: 0,
});

test("hosts are known from the start, and a change has that one read again", async () => {
  const stored = new Map([["a.example", domain("a.example")]]);
  const load = async (host?: string) => [...stored.values()].filter((one) => host === undefined || one.host === host);
  const hosts = await openHosts({ load, own, log });
  expect(hosts.of("a.example")).toEqual({ kind: "custom", host: "a.example", rootUrl: null, missingUrl: null });
  expect(hosts.of("b.example").kind).toBe("foreign");

  stored.set("b.example", domain("b.example", "https://example.com/"));
  stored.delete("a.example");
  hosts.changed("b.example");
  hosts.changed("a.example");
  await hosts.idle();
  expect(hosts.of("b.example")).toMatchObject({ rootUrl: "https://example.com/" });
  expect(hosts.of("a.example").kind).toBe("foreign");
  expect(hosts.size).toBe(1);
});

test("an older answer that comes late does not replace a newer one", async () => {
  const slow = Promise.withResolvers<void>();
  let asked = 0;
  const load = async (host?: string) => {
    if (host === undefined) return [];
    if (++asked > 1) return [domain(host, "https://example.com/new")];
    await slow.promise;
    return [domain(host, "https://example.com/old")];
  };
  const hosts = await openHosts({ load, own, log });
  hosts.changed("a.example");
  hosts.changed("a.example");
  slow.resolve();
  await hosts.idle();
  expect(hosts.of("a.example")).toMatchObject({ rootUrl: "https://example.com/new" });
});

test("what cannot be read stays as it was", async () => {
  let away = false;
  const load = async () => (away ? Promise.reject(new Error("away")) : [domain("a.example")]);
  const hosts = await openHosts({ load, own, log });
  away = true;
  hosts.changed("a.example");
  await hosts.idle();
  expect(hosts.of("a.example").kind).toBe("custom");
});

test("as many names as strangers send take no more room than a thousand, and change no answer", async () => {
  const hosts = await openHosts({ load: async () => [domain("a.example")], own, log });
  for (let i = 0; i < 5_000; i++) {
    expect(hosts.of(`h${i}.example`).kind).toBe("foreign");
    if (i % 100 === 0)
      expect([hosts.of("a.example").kind, hosts.of("go.example.com").kind]).toEqual(["custom", "ours"]);
  }
  expect(hosts.kept).toBeLessThanOrEqual(1_000);
  const before = hosts.kept;
  for (const header of ["x".repeat(16_000), "not a host", null]) hosts.of(header);
  expect(hosts.kept).toBe(before);
});
