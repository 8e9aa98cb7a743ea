import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { days, devices, type Rule, type RuleCondition, shadows, systems } from "../links/routing/rules.ts";
import { matchRule, pickSplit, type Visitor } from "./match-rules.ts";

const now = Date.UTC(2026, 10, 16, 12);
const nobody: Visitor = {
  country: undefined,
  device: undefined,
  os: undefined,
  language: undefined,
  asked: () => [],
};
const url = "https://example.com/rule";
const chooseUrl = (rules: readonly Rule[], visitor: Visitor, at: number) => rules[matchRule(rules, visitor, at)]?.url;
const fits = (when: RuleCondition, visitor: Partial<Visitor>, at = now) =>
  chooseUrl([{ when, url }], { ...nobody, ...visitor }, at) === url;
const asking = (query: Record<string, string[]>): Partial<Visitor> => ({ asked: (name) => query[name] ?? [] });

describe("a rule", () => {
  const cases: [string, RuleCondition, Partial<Visitor>, boolean][] = [
    ["by country fits one of them", { country: ["DE", "AT"] }, { country: "AT" }, true],
    ["by country matches no one else", { country: ["DE", "AT"] }, { country: "FR" }, false],
    ["by country matches no visitor whose country is unknown", { country: ["DE"] }, {}, false],
    ["by device fits it", { device: ["tablet"] }, { device: "tablet" }, true],
    ["by system fits it", { os: ["ios", "android"] }, { os: "android" }, true],
    ["by system fits no other", { os: ["ios"] }, { os: "macos" }, false],
    ["by language fits its regions", { language: ["de"] }, { language: "de-at" }, true],
    ["by region does not fit the language alone", { language: ["de-at"] }, { language: "de" }, false],
    ["by language does not fit one that only begins alike", { language: ["fi"] }, { language: "fil" }, false],
    ["by parameter fits if it is there", { query: { name: "ref" } }, asking({ ref: [""] }), true],
    ["by parameter does not fit if it is not", { query: { name: "ref" } }, asking({ other: ["1"] }), false],
    ["by value fits if one of them is it", { query: { name: "a", value: "2" } }, asking({ a: ["1", "2"] }), true],
    ["by value fits no other", { query: { name: "a", value: "3" } }, asking({ a: ["1", "2"] }), false],
    ["from a moment on fits at that moment", { from: now }, {}, true],
    ["from a moment on does not fit before", { from: now + 1 }, {}, false],
    ["until a moment does not fit at that moment", { until: now }, {}, false],
    ["until a moment fits before", { until: now + 1 }, {}, true],
    [
      "with two conditions needs both",
      { country: ["DE"], device: ["mobile"] },
      { country: "DE", device: "desktop" },
      false,
    ],
  ];
  test.each(cases)("%s", (_, when, visitor, expected) => {
    expect(fits(when, visitor)).toBe(expected);
  });

  test("asks only for what its conditions are about", () => {
    const asked: string[] = [];
    const told = new Proxy(nobody, {
      get(visitor, name: keyof Visitor) {
        asked.push(name);
        return visitor[name];
      },
    });
    chooseUrl(
      [
        { when: { from: now + 1, country: ["DE"] }, url },
        { when: { language: ["de"] }, url },
      ],
      told,
      now,
    );
    expect(asked).toEqual(["language"]);
  });
});

test("the first rule that fits wins, and none may fit", () => {
  const rules: Rule[] = [
    { when: { country: ["FR"] }, url: "https://example.com/1" },
    { when: { language: ["de"] }, url: "https://example.com/2" },
    { when: { country: ["DE"] }, url: "https://example.com/3" },
  ];
  expect(chooseUrl(rules, { ...nobody, country: "DE", language: "de" }, now)).toBe("https://example.com/2");
  expect(chooseUrl(rules, { ...nobody, country: "DE", language: "en" }, now)).toBe("https://example.com/3");
  expect(chooseUrl(rules, nobody, now)).toBeUndefined();
});

const few = <Value>(...values: Value[]) => fc.subarray(values, { minLength: 1 });
const anyWhen: fc.Arbitrary<RuleCondition> = fc.record(
  {
    country: few("DE", "AT", "FR"),
    device: few(...devices),
    os: few(...systems),
    language: few("de", "de-at", "de-at-1996", "fr"),
    from: fc.integer({ min: now - 3, max: now + 3 }),
    until: fc.integer({ min: now - 3, max: now + 3 }),
    hours: fc.record(
      {
        zone: fc.constantFrom("UTC", "Europe/Berlin"),
        days: few(...days),
        fromMinute: fc.constantFrom(0, 600, 720, 780, 1_200),
        untilMinute: fc.constantFrom(60, 721, 781, 1_440),
      },
      { requiredKeys: ["zone", "fromMinute", "untilMinute"] },
    ),
    query: fc.record({ name: fc.constantFrom("a", "b"), value: fc.constantFrom("1", "2") }, { requiredKeys: ["name"] }),
  },
  { requiredKeys: [] },
);
const anyVisitor: fc.Arbitrary<Visitor> = fc.record({
  country: fc.constantFrom(undefined, "DE", "AT", "FR", "US"),
  device: fc.constantFrom(undefined, ...devices),
  os: fc.constantFrom(undefined, ...systems),
  language: fc.constantFrom(undefined, "de", "de-at", "de-at-1996", "de-ch", "fr", "fr-ca"),
  asked: fc
    .dictionary(fc.constantFrom("a", "b"), few("1", "2", "3"))
    .map((query) => (name: string) => query[name] ?? []),
});
const anyTime = fc.oneof(fc.integer({ min: now - 4, max: now + 4 }), fc.integer({ min: 0, max: 2 * now }));

describe("whatever the rules and the visitor", () => {
  test("a rule that is covered by an earlier one never matches first", () => {
    // Few conditions, or hardly any rule would cover another.
    const wide = anyWhen.map((when): RuleCondition => Object.fromEntries(Object.entries(when).slice(0, 1)));
    let covered = 0;
    fc.assert(
      fc.property(wide, anyWhen, anyVisitor, anyTime, (earlier, later, visitor, at) => {
        if (!shadows(earlier, later)) return true;
        covered++;
        const chosen = chooseUrl(
          [
            { when: earlier, url: "earlier" },
            { when: later, url: "later" },
          ],
          visitor,
          at,
        );
        return chosen !== "later";
      }),
      { numRuns: 20_000 },
    );
    expect(covered).toBeGreaterThan(1_000);
  });

  test("a rule covers itself, and itself with one condition more", () => {
    fc.assert(
      fc.property(anyWhen, anyWhen, (when, more) => shadows(when, when) && shadows(when, { ...more, ...when })),
      { numRuns: 1_000 },
    );
  });

  test("what is chosen is the address of a rule that fits alone, and no earlier one does", () => {
    const list = fc.array(anyWhen, { maxLength: 5 });
    fc.assert(
      fc.property(list, anyVisitor, anyTime, (whens, visitor, at) => {
        const chosen = chooseUrl(
          whens.map((when, i) => ({ when, url: String(i) })),
          visitor,
          at,
        );
        const alone = whens.findIndex((when) => fits(when, visitor, at));
        return chosen === (alone === -1 ? undefined : String(alone));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("a split", () => {
  const split = [
    { url: "a", weight: 1 },
    { url: "b", weight: 3 },
    { url: "c", weight: 996 },
  ];

  test("gives each its share of the range, with nothing left over at either end", () => {
    expect(
      [0, 0.000_999, 0.001, 0.003_999, 0.004, 0.999_999].map((point) => split[pickSplit(split, point)]?.url),
    ).toEqual([...["a", "a", "b", "b", "c", "c"]]);
  });

  test("always gives one of its addresses, and shares points out by weight", () => {
    const weights = fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 2, maxLength: 10 });
    const steps = 1_000;
    fc.assert(
      fc.property(weights, (all) => {
        const targets = all.map((weight, i) => ({ url: String(i), weight }));
        const sum = all.reduce((left, right) => left + right, 0);
        const picked = Array.from({ length: steps }, (_, i) => targets[pickSplit(targets, (i + 0.5) / steps)]?.url);
        return targets.every(({ url: one, weight }) => {
          const share = picked.filter((other) => other === one).length;
          return Math.abs(share - (steps * weight) / sum) <= 1;
        });
      }),
    );
  });
});
