import { expect, test } from "bun:test";
import { emptyForm } from "../link-form.ts";
import { finalUrl, sharesOf, simulate, type Visit } from "./simulate.ts";

const visit: Visit = {
  ...{
    country: "DE",
    device: "mobile",
    os: "ios",
    language: "de-AT",
    at: Date.UTC(2026, 10, 20, 12),
    query: "ref=print",
  },
};
const form = emptyForm("example.com/page", 365);

test("the first matching rule decides, else the split, else the destination", () => {
  const rules = [
    { key: "1", when: { country: ["FR"] }, url: "https://example.com/fr" },
    { key: "2", when: { language: ["de"], device: ["mobile" as const] }, url: "https://example.com/de" },
  ];
  expect(simulate({ ...form, rules }, visit)).toEqual({ kind: "rule", place: 1, url: "https://example.com/de" });
  expect(simulate({ ...form, rules }, { ...visit, language: "en" })).toEqual({
    kind: "default",
    url: "https://example.com/page",
  });
  const split = [
    { key: "a", url: "https://example.com/a", weight: "3" },
    { key: "b", url: "https://example.com/b", weight: "1" },
  ];
  expect(simulate({ ...form, split }, visit)).toMatchObject({
    kind: "split",
    parts: [{ share: 0.75 }, { share: 0.25 }],
  });
});

test("hours and dates are those of the visit", () => {
  const hours = { zone: "Europe/Berlin", from: "12:30", until: "13:30" };
  const rules = [{ key: "1", when: { hours }, url: "https://example.com/lunch" }];
  expect(simulate({ ...form, rules }, visit).kind).toBe("rule");
  expect(simulate({ ...form, rules }, { ...visit, at: visit.at + 3_600_000 }).kind).toBe("default");
});

test("parameters of the link are added, and those of the visitor only if they are passed on", () => {
  const utm = { ...form.utm, source: "news letter" };
  expect(simulate({ ...form, utm }, visit)).toMatchObject({ url: "https://example.com/page?utm_source=news+letter" });
  expect(simulate({ ...form, utm, forwardQuery: true }, visit)).toMatchObject({
    url: "https://example.com/page?utm_source=news+letter&ref=print",
  });
});

test("what is no address yet is shown as it was typed", () => {
  expect(finalUrl("htt", form)).toBe("htt");
  expect(sharesOf(["", "0", "x"])).toEqual([0, 0, 0]);
});
