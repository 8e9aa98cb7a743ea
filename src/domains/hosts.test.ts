import { expect, test } from "bun:test";
import { systemClock } from "../base/clock.ts";
import type { TenantId } from "../base/ids.ts";
import { createLog } from "../base/log.ts";
import type { Domain } from "./domain.ts";
import { type CustomHost, type OwnNames, openHosts, whoseHost } from "./hosts.ts";

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

test("hosts are known from the start, and a change reloads that host", async () => {
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

const acme: CustomHost = { kind: "custom", host: "links.acme.example", rootUrl: null, missingUrl: null };
const domains = new Map([[acme.host, acme]]);
const strict: OwnNames = { names: new Set(["go.example.com", "s.example.com"]), onlyThese: true };
const open: OwnNames = { names: new Set(["localhost"]), onlyThese: false };

const named = { kind: "ours", named: true } as const;
const ours = { kind: "ours", named: false } as const;
const foreign = { kind: "foreign" } as const;
const malformed = { kind: "malformed" } as const;

test.each([
  ["go.example.com", named],
  ["GO.example.COM:8443", named],
  ["go.example.com.", named],
  ["go.example.com.:443", named],
  ["s.example.com", named],
  ["links.acme.example", acme],
  ["Links.Acme.Example:80", acme],
  ["links.acme.example.", acme],
  ["links.acme.example.:8080", acme],
  ["links.acme.example:", acme],
  ["www.links.acme.example", foreign],
  ["acme.example", foreign],
  ["evil.example", foreign],
  ["go.example.com.evil.example", foreign],
  ["a_b.example", foreign],
  ["0x7f.1", foreign],
  ["127.0.0.1", ours],
  ["127.0.0.1:3000", ours],
  ["10.1.2.3.", ours],
  ["[::1]", ours],
  ["[::1]:3000", ours],
  ["[2001:DB8::1]", ours],
  ["localhost:3000", ours],
  ["quicklink", ours],
  ["quicklink_web_1:3000", ours],
  ["", ours],
  [null, ours],
])("with QL_BASE_URL set, %j is %j", (header, whose) => {
  expect(whoseHost(header, strict, domains)).toEqual(whose);
});

test.each([
  ["localhost", named],
  ["links.acme.example.", acme],
  ["evil.example", ours],
  ["127.0.0.1", ours],
  [null, ours],
])("without QL_BASE_URL, %j is %j", (header, whose) => {
  expect(whoseHost(header, open, domains)).toEqual(whose);
});

test.each([
  "[",
  "[::1",
  "[::1]x",
  "[links.acme.example]",
  "::1",
  "links.acme.example, links.acme.example",
  "links.acme.example..",
  ".links.acme.example",
  "links..acme.example",
  "links.acme.example:http",
  "links.acme.example:123456",
  "links.acme.example/",
  "user@links.acme.example",
  "links.acme.example#",
  "lin\u212As.acme.example",
  "bücher.example",
  "links%2eacme.example",
  "links.acme.example\u0000",
  `${"a".repeat(300)}.example`,
])("%j is no host, whatever is set", (header) => {
  for (const own of [strict, open]) expect(whoseHost(header, own, domains)).toEqual(malformed);
});

test("a name that the operator set is ours, even if a tenant has verified it", () => {
  expect(whoseHost(acme.host, { names: new Set([acme.host]), onlyThese: true }, domains)).toEqual(named);
});
