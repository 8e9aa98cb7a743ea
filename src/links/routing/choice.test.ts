import { describe, expect, test } from "bun:test";
import { Problem } from "../../base/errors.ts";
import { createAdmit } from "../destination.ts";
import { type ChoiceFields, checkChoice } from "./choice.ts";
import { isCountry } from "./countries.ts";
import type { RuleCondition } from "./rules.ts";

const own = createAdmit(new Set(["s.example"]), () => false);
const url = "https://example.com/";
const plain: ChoiceFields & { url: string } = { url, rules: [], split: [], utm: null, forwardQuery: false };

/** What is wrong, as `field code`; nothing if it is accepted. */
function refusal(fields: Partial<ChoiceFields>): string | undefined {
  try {
    checkChoice({ ...plain, ...fields }, new Set(Object.keys(fields)), own);
    return undefined;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const [bad] = error.more.errors ?? [];
    return `${bad?.field} ${bad?.code}`;
  }
}
const rules = (...whens: RuleCondition[]) => ({ rules: whens.map((when, i) => ({ when, url: `${url}${i}` })) });

describe("rules", () => {
  test.each<[string, RuleCondition]>([
    ["rules.0.when empty", {}],
    ["rules.0.when.country.1 unknown_country", { country: ["DE", "XX"] }],
    ["rules.0.when.from contradiction", { from: 5, until: 5 }],
    ["rules.0.when.from contradiction", { from: 6, until: 5 }],
    ["rules.0.when.hours.from contradiction", { hours: { zone: "UTC", fromMinute: 60, untilMinute: 60 } }],
    ["rules.0.when.device contradiction", { device: ["desktop"], os: ["ios", "android"] }],
    ["rules.0.when.device contradiction", { device: ["mobile", "tablet"], os: ["windows"] }],
  ])("that can never match are refused: %s", (expected, when) => {
    expect(refusal(rules(when))).toBe(expected);
  });

  test.each<[string, RuleCondition[]]>([
    ["rules.1 unreachable", [{ country: ["DE"] }, { country: ["DE"] }]],
    ["rules.1 unreachable", [{ country: ["DE", "AT"] }, { country: ["AT"], device: ["mobile"] }]],
    ["rules.2 unreachable", [{ os: ["ios"] }, { language: ["de"] }, { language: ["de-at"] }]],
    ["rules.1 unreachable", [{ until: 10 }, { until: 9, from: 1 }]],
    ["rules.1 unreachable", [{ query: { name: "a" } }, { query: { name: "a", value: "1" } }]],
  ])("that never have their turn are refused: %s", (expected, whens) => {
    expect(refusal(rules(...whens))).toBe(expected);
  });

  test("from the narrow to the wide are accepted", () => {
    expect(
      refusal(
        rules(
          { country: ["AT"], device: ["mobile"] },
          { country: ["AT"] },
          { country: ["DE", "AT"] },
          { language: ["de-at"] },
          { language: ["de"] },
          { query: { name: "a", value: "1" } },
          { query: { name: "a" } },
        ),
      ),
    ).toBeUndefined();
  });

  test("may not lead in a circle, nor anywhere that a link may not", () => {
    const to = (address: string) => refusal({ rules: [{ when: { country: ["DE"] }, url: address }] });
    expect(to("https://s.example/abc")).toBe("rules.0.url own_host");
    expect(to("javascript:alert(1)")).toBe("rules.0.url scheme_not_allowed");
  });

  test("have a maximum size together", () => {
    const long = `${url}${"x".repeat(1_500)}`;
    const many = Array.from({ length: 20 }, (_, i) => ({ when: { query: { name: `n${i}` } }, url: long }));
    expect(refusal({ rules: many })).toBe("rules too_long");
  });

  test("of a link stay unchanged when something else is changed", () => {
    const old = rules({ country: ["DE"] }, { country: ["DE"] });
    expect(checkChoice({ ...plain, ...old }, new Set(["url"]), own).rules).toEqual(old.rules);
  });
});

describe("a split", () => {
  const split = (...urls: string[]) => ({ split: urls.map((one) => ({ url: one, weight: 1 })) });

  test("needs two different addresses, none of them our own", () => {
    expect(refusal(split(url))).toBe("split too_few");
    expect(refusal(split(url, "https://example.com"))).toBe("split.1.url duplicate");
    expect(refusal(split(url, "https://s.example/x"))).toBe("split.1.url own_host");
    expect(refusal(split(url, `${url}b`))).toBeUndefined();
    expect(refusal(split())).toBeUndefined();
  });
});

test("UTM parameters that make any of the addresses too long are refused", () => {
  const utm = { source: "ü".repeat(200), campaign: "ü".repeat(200) };
  expect(refusal({ utm })).toBeUndefined();
  const long = { when: { country: ["DE"] }, url: `${url}${"x".repeat(2_000)}` };
  expect(refusal({ utm, rules: [long] })).toBe("utm too_long");
});

test("the list of countries is that of the world, and Kosovo", () => {
  const names = new Intl.DisplayNames("en", { type: "region", fallback: "none" });
  const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
  const codes = letters.flatMap((a) => letters.map((b) => a + b)).filter(isCountry);
  expect(codes.filter((code) => names.of(code) === undefined)).toEqual([]);
  expect(codes.length).toBe(250);
  expect(["EU", "UN", "ZZ", "XX", "UK", "de", ""].filter(isCountry)).toEqual([]);
});
