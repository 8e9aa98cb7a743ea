import { expect, test } from "bun:test";
import { type CustomHost, type OwnNames, whoseHost } from "./whose-host.ts";

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
