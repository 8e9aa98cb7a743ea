import { expect, test } from "bun:test";
import { gatherPerTurn } from "./per-turn.ts";

function setUp(most: number) {
  const calls: number[][] = [];
  const ask = gatherPerTurn<number, string>(most, async (items) => {
    calls.push([...items]);
    if (items.includes(0)) throw new Error("all of them");
    return items.map((item) => (item < 0 ? new Error("this one") : String(item)));
  });
  return { calls, ask };
}

test("calls of one turn share the work, up to a number of them, and get their own results", async () => {
  const { calls, ask } = setUp(3);
  expect(await Promise.all([1, 2, 3, 4].map(ask))).toEqual(["1", "2", "3", "4"]);
  expect(calls).toEqual([[1, 2, 3], [4]]);
  expect(await ask(5)).toBe("5");
  expect(calls).toHaveLength(3);
});

test("an item that fails fails alone, and work that fails fails for its items only", async () => {
  const { ask } = setUp(2);
  const outcomes = await Promise.allSettled([1, -1, 0, 3, 4].map(ask));
  expect(outcomes.map((one) => (one.status === "fulfilled" ? one.value : one.reason.message))).toEqual([
    ...["1", "this one", "all of them", "all of them", "4"],
  ]);
});
