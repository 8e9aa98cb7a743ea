import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { other } from "../click.ts";
import { valueKey } from "./value-key.ts";
import { ValueSums } from "./value-sums.ts";

describe("the key of a value", () => {
  test("never changes: roll-ups have it", () => {
    const keys = ["", other, "DE", "US", "news.example.com", "Munich, Bavaria, DE", "東京", "💚"].map(valueKey);
    expect(keys).toEqual([
      4_342_622_566_590_577, 1_992_915_480_286_282, 6_018_167_210_837_140, 7_174_341_478_116_664, 6_394_076_662_071_079,
      3_195_921_201_507_088, 8_705_809_800_752_456, 3_123_373_014_341_025,
    ]);
  });

  test("is another one for another text, of 200,000 that are alike", () => {
    const keys = new Set<number>();
    for (let n = 0; n < 100_000; n++) keys.add(valueKey(`site-${n}.example.com`)).add(valueKey(`${n}`));
    expect(keys.size).toBe(200_000);
    for (const key of keys) if (!Number.isSafeInteger(key) || key <= 0) throw new Error(`${key} is no key`);
  });
});

describe("sums by key", () => {
  test("are those of a map, whatever keys collide and however many there are", () => {
    // Few places of the table, so that many keys want the same one.
    const key = fc.oneof(
      fc.integer({ min: 1, max: 40 }),
      fc.nat(20).map((n) => 1 + n * 2 ** 40),
      fc.nat().map((n) => n + 1),
    );
    const added = fc.array(fc.tuple(key, fc.nat(1_000), fc.nat(1_000)), { maxLength: 400, size: "max" });
    fc.assert(
      fc.property(added, (all) => {
        const [sums, map] = [new ValueSums(), new Map<number, { clicks: number; visitors: number }>()];
        for (const [one, clicks, visitors] of all) {
          sums.add(one, clicks, visitors);
          const before = map.get(one) ?? { clicks: 0, visitors: 0 };
          map.set(one, { clicks: before.clicks + clicks, visitors: before.visitors + visitors });
        }
        const found = new Map<number, { clicks: number; visitors: number }>();
        sums.each((one, clicks, visitors) => found.set(one, { clicks, visitors }));
        expect(found).toEqual(map);
        expect(sums.size).toBe(map.size);
        for (const [one, count] of map) expect(sums.get(one)).toEqual(count);
        expect(sums.get(2 ** 50 + 1)).toEqual({ clicks: 0, visitors: 0 });
        expect(sums.clicksOf(2 ** 50 + 1)).toBe(0);
      }),
    );
  });

  test("of a column are those of its marked rows, one by one", () => {
    const key = fc.oneof(fc.nat(40), fc.constantFrom(2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 32 + 1, 2 ** 40));
    const rows = fc.array(fc.tuple(key, fc.boolean(), fc.boolean()), { maxLength: 200, size: "max" });
    fc.assert(
      fc.property(rows, rows, (before, all) => {
        const [sums, expected] = [new ValueSums(), new ValueSums()];
        for (const some of [before, all]) {
          for (const [one, isMarked, isVisitor] of some) if (isMarked) expected.add(one, 1, isVisitor ? 1 : 0);
          const marks = Uint8Array.from(some, ([, isMarked]) => (isMarked ? 1 : 0));
          const visitors = Uint8Array.from(some, ([, , isVisitor]) => (isVisitor ? 1 : 0));
          const numbers = some.flatMap(([one]) => [7, one, 9]);
          sums.addColumn(numbers, 1, 3, { marks, visitors });
        }
        const listed = (one: ValueSums) => {
          const list: number[][] = [];
          one.each((...found) => list.push(found));
          return list;
        };
        expect(listed(sums)).toEqual(listed(expected));
      }),
    );
  });
});
