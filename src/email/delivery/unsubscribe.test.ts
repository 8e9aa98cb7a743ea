import { describe, expect, test } from "bun:test";
import { manualClock, systemClock } from "../../base/clock.ts";
import { newId } from "../../base/ids.ts";
import { createSigningKeys } from "../../base/signature.ts";
import { noticeNames } from "../settings/notice-kinds.ts";
import { createStopLinks, stopPath } from "./unsubscribe.ts";

const signerOf = (key: string) =>
  createSigningKeys([{ id: "k1", key: Buffer.from(key) }], systemClock).signerFor("tests");
const base = "https://go.example.com";
const links = createStopLinks(signerOf("a secret"), base);
const tenant = newId("tenant", manualClock(0));
const tokenOf = (url: string) => url.slice(base.length + stopPath.length);
const longest = `${"x".repeat(64)}@${"y".repeat(63)}.${"z".repeat(63)}.${"w".repeat(57)}.de`;

describe("a link to stop further emails", () => {
  test.each(["jo@example.com", "Jo+tag@example.com", "jörg@xn--bcher-kva.example", longest])(
    "names who asks, and can be an address: %s",
    (address) => {
      const url = links.urlFor(tenant, address);
      expect(new URL(url).href).toBe(url);
      expect(links.read(tokenOf(url))).toEqual({ tenant, address });
    },
  );

  test("names the kind of notice that it stops, and no other is read from it", () => {
    for (const notice of noticeNames) {
      const url = links.urlFor(tenant, "jo@example.com", notice);
      expect(links.read(tokenOf(url))).toEqual({ tenant, address: "jo@example.com", notice });
    }
    expect(links.read(tokenOf(links.urlFor(tenant, "jo@example.com", "toString" as "digest")))).toBeUndefined();
  });

  test("is the same every time: an old email's works as well", () => {
    expect(links.urlFor(tenant, "jo@example.com")).toBe(links.urlFor(tenant, "jo@example.com"));
  });

  test("that was tampered with is invalid, wherever it was changed", () => {
    const token = tokenOf(links.urlFor(tenant, "jo@example.com"));
    for (let place = 0; place < token.length; place++) {
      const other = token[place] === "A" ? "B" : "A";
      expect(links.read(token.slice(0, place) + other + token.slice(place + 1))).toBeUndefined();
    }
  });

  test.each(["", ".", "x", "a.b", `${"a".repeat(10_000)}.${"b".repeat(43)}`, "%00", "é.é", `x.${"=".repeat(43)}`])(
    "is not %p",
    (token) => {
      expect(links.read(token)).toBeUndefined();
    },
  );

  test("of another server is invalid", () => {
    const theirs = createStopLinks(signerOf("another secret"), base).urlFor(tenant, "jo@example.com");
    expect(links.read(tokenOf(theirs))).toBeUndefined();
  });
});
