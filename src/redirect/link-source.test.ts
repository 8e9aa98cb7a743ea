import { expect, test } from "bun:test";
import type { Choice } from "../links/routing/choice.ts";
import type { LinkNumber, TenantNumber } from "../sql/schema.ts";
import { unknownStanding } from "../tenants/known-tenants.ts";
import { cachedLink, knownHitsMax, settle, sizeOfCached } from "./link-source.ts";

const plain = cachedLink({
  ...{ url: "https://example.com/", file: null, permanent: false, expiresAt: null, fallbackUrl: null },
  ...{ password: false, suspended: false, hitsPerMonth: null, choice: null },
  clicks: { link: 7 as LinkNumber, tenant: -3 as TenantNumber, tags: [], facts: true },
});

test("rules take their room in memory, so that many of them push others out", () => {
  const ruled = (count: number): Choice => ({
    rules: Array.from({ length: count }, (_, i) => ({ when: { country: ["DE"] }, url: `https://example.com/${i}` })),
    split: [],
    forwardQuery: false,
  });
  const [none, one, fifty] = [plain, { ...plain, choice: ruled(1) }, { ...plain, choice: ruled(50) }].map(sizeOfCached);
  expect(none).toBe(940);
  expect(Number(one)).toBeGreaterThan(Number(none));
  expect(Number(fifty) - Number(one)).toBeGreaterThan(3 * 49 * "https://example.com/10".length);
});

test("tags take their room in memory", () => {
  const tagged = { ...plain, clicks: { ...plain.clicks, tags: ["spring", "x".repeat(50)] } };
  expect(sizeOfCached(tagged) - sizeOfCached(plain)).toBeGreaterThan(2 * "spring".length + 2 * 50);
});

test("the limit of a link that was not used yet is not known", () => {
  const link = cachedLink(plain);
  expect(knownHitsMax(link)).toBeUndefined();
  settle(link, { ...unknownStanding, hitsPerLink: 5 });
  expect(knownHitsMax(link)).toBe(5);
  settle(link, { ...unknownStanding, hitsPerLink: null });
  expect(knownHitsMax(link)).toBeNull();
});
