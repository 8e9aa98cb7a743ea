import { expect, test } from "bun:test";
import { instantOf, newestFirst } from "./instants.ts";

test("one moment in two zones is one instant, although its texts sort the other way", () => {
  const [list, stream] = ["2026-11-17T04:19:00+05:45", "2026-11-16T22:35:00Z"];
  expect(list > stream).toBe(true);
  expect(instantOf(list)).toBeLessThan(instantOf(stream));
});

test("the newest click is first, whatever zone its time is written in", () => {
  const times = ["2026-11-17T04:19:00+05:45", "2026-11-16T22:35:00Z", "2026-11-16T17:33:00-05:00"];
  expect(
    times
      .map((at) => ({ at }))
      .toSorted(newestFirst)
      .map(({ at }) => at),
  ).toEqual(["2026-11-16T22:35:00Z", "2026-11-17T04:19:00+05:45", "2026-11-16T17:33:00-05:00"]);
});
