import { heapStats } from "bun:jsc";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { BoundedMap } from "./bounded-map.ts";

type Step =
  | { readonly kind: "set"; readonly key: number; readonly value: number }
  | { readonly kind: "delete"; readonly key: number }
  | { readonly kind: "clear" };

const keys = fc.integer({ min: 0, max: 12 });
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ kind: fc.constant("set"), key: keys, value: fc.integer({ min: 1, max: 9 }) }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant("delete"), key: keys }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("clear") }) },
  ) as fc.Arbitrary<Step>,
  { maxLength: 200 },
);

/** The same with a list, the oldest first. */
function slowly(all: readonly Step[], most: number, weigh: (value: number) => number): [number, number][] {
  let list: [number, number][] = [];
  for (const step of all) {
    if (step.kind === "clear") list = [];
    else list = list.filter(([key]) => key !== step.key);
    if (step.kind !== "set") continue;
    list.push([step.key, step.value]);
    while (list.reduce((sum, [, value]) => sum + weigh(value), 0) > most) list.shift();
  }
  return list;
}

describe("a bounded map", () => {
  for (const [name, weigh] of [
    ["by number", () => 1],
    ["by weight", (value: number) => value],
  ] as const) {
    test(`has what was set last, ${name}`, () => {
      fc.assert(
        fc.property(steps, fc.integer({ min: 1, max: 8 }), (all, most) => {
          const map = new BoundedMap<number, number>(most, weigh);
          for (const step of all) {
            if (step.kind === "clear") map.clear();
            else if (step.kind === "delete") map.delete(step.key);
            else map.set(step.key, step.value);
          }
          const expected = slowly(all, most, weigh);
          expect([...map.entries()]).toEqual(expected);
          expect(map.size).toBe(expected.length);
          for (const [key, value] of expected) expect(map.get(key)).toBe(value);
        }),
      );
    });
  }

  test("returns what it deletes", () => {
    const map = new BoundedMap<string, number>(2);
    map.set("a", 1);
    expect([map.delete("a"), map.delete("a"), map.size]).toEqual([1, undefined, 0]);
  });

  test("finds the oldest without passing those that have left", () => {
    const [size, more] = [20_000, 20_000];
    const map = new BoundedMap<number, number>(size);
    const plain = new Map<number, number>();
    const add = {
      map: (key: number) => map.set(key, key),
      plain(key: number) {
        plain.set(key, key);
        if (plain.size <= size) return;
        const [oldest = 0] = plain.keys();
        plain.delete(oldest);
      },
    };
    const cpuOf = (one: (key: number) => void): number => {
      for (let key = 0; key < size; key++) one(key);
      const before = process.cpuUsage();
      for (let key = size; key < size + more; key++) one(key);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    // Measured: 1 to 30.
    expect(cpuOf(add.map) * 3).toBeLessThan(cpuOf(add.plain));
    expect([...map.entries()]).toEqual([...plain]);
  });

  describe("that was full once", () => {
    const keys = Array.from({ length: 1_000 }, (_, place) => `key ${place}`);

    function wasFull(): BoundedMap<string, object> {
      const map = new BoundedMap<string, object>(2 * keys.length);
      for (let key = 0; key <= 2 * keys.length; key++) map.set(`at first ${key}`, {});
      for (const [key] of [...map.entries()]) map.delete(key);
      for (const key of keys) map.set(key, {});
      return map;
    }

    function bytesAfter(work: () => void): number {
      const bytes = () => {
        Bun.gc(true);
        const { heapSize, extraMemorySize } = heapStats();
        return heapSize + extraMemorySize;
      };
      const before = bytes();
      work();
      return bytes() - before;
    }

    // Measured with a hand that is never let go: 70 MB and 60 MB.
    const bytesMost = 10_000_000;

    test("keeps nothing of what has left it since", () => {
      const map = wasFull();
      const bytes = bytesAfter(() => {
        for (let round = 0; round < 500; round++) for (const key of keys) map.set(key, {});
      });
      expect(bytes).toBeLessThan(bytesMost);
      expect(map.size).toBe(keys.length);
    });

    test("keeps nothing of what it had before it was cleared", () => {
      const map = wasFull();
      const bytes = bytesAfter(() => {
        for (let round = 0; round < 500; round++) {
          map.clear();
          for (const key of keys) map.set(key, {});
        }
      });
      expect(bytes).toBeLessThan(bytesMost);
      expect(map.size).toBe(keys.length);
    });
  });
});
