import { describe, expect, test } from "bun:test";
import type { TenantId } from "../base/ids.ts";
import { isCachedLink, isTenantRecord, sharedForm } from "../redirect/cache-format.ts";
import { cachedLink } from "../redirect/link-source.ts";
import type { LinkNumber, TenantNumber } from "../sql/schema.ts";
import type { TenantRecord } from "./tenants.ts";

const record: TenantRecord = {
  ...{ id: "ten_1" as TenantId, slug: "acme", name: "Acme", plan: "team", overrides: { apiPerMinute: null } },
  ...{ defaultDomain: "go.example.com", createdAt: 5, suspended: "spam", deleteAt: 7, clickFacts: false },
};
const link = cachedLink({
  ...{ url: "https://example.com/", file: null, permanent: false, expiresAt: null, fallbackUrl: null, password: false },
  ...{ suspended: false, choice: null, hitsPerMonth: 3 },
  clicks: { link: 1 as LinkNumber, tenant: -1 as TenantNumber, tags: [], facts: true },
});
const sent = (value: TenantRecord | typeof link) =>
  sharedForm.fromJson(JSON.parse(JSON.stringify(sharedForm.toJson(value))));

describe("what Redis keeps", () => {
  test("is a tenant or a link, as it was", () => {
    expect(sent(record)).toEqual(record);
    expect(isTenantRecord(sent(record))).toBe(true);
    expect(sent(link)).toEqual(link);
    expect(isCachedLink(sent(link))).toBe(true);
  });

  test("is a link alone, whatever its tenant allows", () => {
    const standing = { ...link.standing, hitsPerLink: 1, isStopped: true };
    const settled = { ...link, standing, clicks: { ...link.clicks, facts: false } };
    expect(sent(settled)).toEqual(link);
  });

  test("has a key for links and tenants, which differ", () => {
    expect(sharedForm.keysOf({ kind: "tenant", key: "-12", version: 1 })).toEqual(["/-12"]);
    expect(sharedForm.keysOf({ kind: "link", domain: "", code: "-12", version: 1 })).toEqual(["-12"]);
    expect(sharedForm.keysOf({ kind: "links", domain: "go.example", codes: "a b", version: 1 })).toEqual([
      ...["go.example/a", "go.example/b"],
    ]);
    expect(sharedForm.keysOf({ kind: "plan", key: "team", version: 1 })).toEqual([]);
  });

  const wrong: [string, object][] = [
    ...Object.keys(record).map((name): [string, object] => [`no ${name}`, { [name]: undefined }]),
    ...Object.keys(record).map((name): [string, object] => [`${name} of another type`, { [name]: [1] }]),
    ["a field that this version does not know", { other: 1 }],
    ["a limit that this version does not know", { overrides: { other: 1 } }],
  ];
  test.each(wrong)("is read from SQL if a tenant has %s", (_, change) => {
    const json = JSON.parse(JSON.stringify({ tenant: { ...record, ...change } }));
    expect(() => sharedForm.fromJson(json)).toThrow();
  });
});
