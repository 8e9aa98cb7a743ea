import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  builtInPlans,
  effectiveLimits,
  isName,
  type Limits,
  limitNames,
  parseLimits,
  parseOverrides,
} from "./tenants.ts";

const anyLimit = fc.oneof(fc.constant(null), fc.nat());
const anyLimits = fc.record(Object.fromEntries(limitNames.map((name) => [name, anyLimit]))) as fc.Arbitrary<Limits>;
const anyOverrides = fc.record(Object.fromEntries(limitNames.map((name) => [name, anyLimit])), {
  requiredKeys: [],
}) as fc.Arbitrary<Partial<Limits>>;

describe("plans", () => {
  test("the plan default has the numbers of the requirements", () => {
    expect(builtInPlans.get("default")).toEqual({
      hitsPerLinkPerMonth: 10_000,
      linksPerMonth: 1_000,
      storageBytes: 1_000_000_000,
      emailsPerHourSmtp: 50,
      emailsPerHourSendgrid: 200,
      apiPerMinute: 600,
      eventDays: 90,
    });
  });

  test("a plan that was stored before it had days of events keeps them as the default plan does", () => {
    const { eventDays, ...before } = builtInPlans.get("unlimited") as Limits;
    expect(parseLimits(JSON.stringify(before))).toEqual({ ...before, eventDays: 90 });
    expect(eventDays).toBeNull();
  });

  test("the plan unlimited limits nothing", () => {
    expect(limitNames.map((name) => builtInPlans.get("unlimited")?.[name])).toEqual(limitNames.map(() => null));
  });

  test("limits come back from SQL as they went in", () => {
    fc.assert(
      fc.property(anyLimits, (limits) => {
        expect(parseLimits(JSON.stringify(limits))).toEqual(limits);
      }),
    );
  });

  test("a tenant's own limits override those of its plan", () => {
    fc.assert(
      fc.property(anyLimits, anyOverrides, (plan, overrides) => {
        const limits = effectiveLimits(plan, parseOverrides(JSON.stringify(overrides)));
        for (const name of limitNames)
          expect(limits[name]).toBe(name in overrides ? (overrides[name] ?? null) : plan[name]);
      }),
    );
  });

  test.each([
    "",
    "null",
    "[]",
    "{}",
    JSON.stringify({ ...builtInPlans.get("default"), apiPerMinute: -1 }),
    JSON.stringify({ ...builtInPlans.get("default"), apiPerMinute: 0.5 }),
    JSON.stringify({ ...builtInPlans.get("default"), apiPerMinute: "600" }),
    JSON.stringify({ ...builtInPlans.get("default"), coffeePerDay: 3 }),
  ])("what is not a full set of limits is refused: %s", (json) => {
    expect(() => parseLimits(json)).toThrow();
  });

  test.each(["[]", '{"apiPerMinute":-1}', '{"coffeePerDay":3}', "7"])(
    "what are not exceptions is refused: %s",
    (json) => {
      expect(() => parseOverrides(json)).toThrow();
    },
  );

  test("a name is easy to type", () => {
    const good = ["a", "acme", "acme-2", "0", "x".repeat(63)];
    const bad = ["", "-a", "Acme", "a b", "a_b", "x".repeat(64), "caf\u00e9", "a\n", "../a"];
    expect(good.filter((name) => !isName(name))).toEqual([]);
    expect(bad.filter((name) => isName(name))).toEqual([]);
  });
});
