import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { manualClock } from "./clock.ts";
import { createOrderedIds, newId, parseId } from "./ids.ts";

const start = Date.UTC(2026, 10, 16);

describe("an id", () => {
  test("says what it names, and has the shape that is accepted back", () => {
    const clock = manualClock(start);
    for (const [name, prefix] of [
      ["tenant", "ten_"],
      ["link", "lnk_"],
      ["key", "key_"],
      ["member", "mem_"],
    ] as const) {
      const id = newId(name, clock);
      expect(id).toMatch(new RegExp(`^${prefix}[0-9abcdefghjkmnpqrstvwxyz]{26}$`));
      expect(parseId(name, id)).toBe(id);
    }
  });

  test("never repeats, also within a millisecond", () => {
    const clock = manualClock(start);
    expect(new Set(Array.from({ length: 10_000 }, () => newId("link", clock))).size).toBe(10_000);
  });

  test("sorts in the order in which it was made, if that matters, also within a millisecond", () => {
    const clock = manualClock(start);
    const next = createOrderedIds("history");
    const ids = Array.from({ length: 10_000 }, (_, i) => {
      if (i % 4_000 === 3_999) clock.advance(1);
      return next(clock);
    });
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => parseId("history", id) === id)).toBe(true);
    // Another process, or a start later, does not continue where this one was.
    expect(createOrderedIds("history")(clock).slice(0, -4)).not.toBe(next(clock).slice(0, -4));
  });

  test("sorts after every id that was created a millisecond or more before", () => {
    const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });
    fc.assert(
      fc.property(time, time, (a, b) => {
        const [one, two] = [newId("link", manualClock(a)), newId("link", manualClock(b))];
        return a === b || a < b === one < two;
      }),
    );
  });

  test("is not taken for one that names something else", () => {
    const clock = manualClock(start);
    expect(parseId("tenant", newId("link", clock))).toBeUndefined();
    expect(parseId("link", newId("tenant", clock))).toBeUndefined();
  });

  test("is not accepted from arbitrary text", () => {
    const id = newId("link", manualClock(start));
    for (const text of [
      "",
      "lnk_",
      id.slice(0, -1),
      `${id}0`,
      ` ${id.slice(1)}`,
      id.toUpperCase(),
      `${id.slice(0, -1)}\n`,
      `${id.slice(0, -1)}'`,
      `${id.slice(0, -1)}\u00e9`,
      id.slice(4),
      `lnk-${id.slice(4)}`,
      "__proto__",
    ]) {
      expect(parseId("link", text)).toBeUndefined();
    }
    fc.assert(fc.property(fc.string(), (text) => parseId("link", text) === undefined));
  });
});
