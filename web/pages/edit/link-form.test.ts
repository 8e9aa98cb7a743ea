import { expect, test } from "bun:test";
import type { Link } from "../../api/generated.ts";
import { changesOf, copyOf, emptyForm, formOf, newLinkOf, withScheme } from "./link-form.ts";

const link: Link = {
  ...{ id: "lnk_1", domain: "go.example", code: "winter", shortUrl: "https://go.example/winter" },
  ...{ url: "https://example.com/", file: null, permanent: false, status: "active" },
  ...{ expiresAt: "2027-11-16T22:59:41.000Z", title: "Winter", notes: null, tags: ["a"], fallbackUrl: null },
  ...{ fileName: null, hitsUsed: 0, hitsLimit: 5_000 },
  ...{ hitsPerMonth: 5_000, clickFacts: true, rules: [{ when: { country: ["DE"] }, url: "https://example.com/de" }] },
  ...{ split: [], utm: { source: "mail" }, forwardQuery: false, password: true, target: null, suspended: null },
  ...{ clicks: 3, lastClickAt: null, version: 4, createdAt: "2026-01-01T00:00:00Z", updatedAt: "2026-01-01T00:00:00Z" },
};

test("a form that nobody touched changes nothing, not even the seconds of the expiry", () => {
  expect(changesOf(formOf(link), formOf(link))).toEqual({});
});

test("only what was changed is sent", () => {
  const form = formOf(link);
  expect(changesOf(form, { ...form, title: " Summer ", hits: "10,000" })).toEqual({
    title: "Summer",
    hitsPerMonth: 10_000,
  });
  expect(changesOf(form, { ...form, password: { mode: "none", text: "" } })).toEqual({ password: null });
  expect(changesOf(form, { ...form, kind: "file", file: "fil_1" })).toEqual({ url: null, file: "fil_1" });
});

test("an empty form sends an empty address, so that the API names the field", () => {
  expect(newLinkOf(emptyForm("", 365))).toMatchObject({ url: "" });
});

test("a private code is only asked for when no code was typed", () => {
  const form = { ...emptyForm("https://example.com", 365), isPrivate: true };
  expect(newLinkOf(form)).toMatchObject({ private: true });
  expect(newLinkOf({ ...form, code: "mine" })).not.toHaveProperty("private");
});

test("a copy has no code and no password", () => {
  expect(copyOf(link)).toMatchObject({ code: "", password: { mode: "none", text: "" }, title: "Winter" });
});

test("an address without a scheme is https, and what is no address stays as it is", () => {
  expect(withScheme(" example.com/a?b ")).toBe("https://example.com/a?b");
  expect(withScheme("http://example.com")).toBe("http://example.com");
  expect(withScheme("javascript:alert(1)")).toBe("javascript:alert(1)");
  expect(withScheme("hello")).toBe("hello");
});
