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

test("groups do not wait for each other, and fail by themselves", async () => {
  const calls: string[][] = [];
  const work = async (items: readonly string[]): Promise<string[]> => {
    calls.push([...items]);
    if (items[0]?.startsWith("broken")) throw new Error("of this group");
    if (items[0]?.startsWith("hanging")) await new Promise(() => {});
    return [...items];
  };
  const ask = gatherPerTurn<string, string>(2, work, { groupOf: (item) => item.split(" ")[0] });
  const items = ["hanging 1", "good 1", "broken 1", "good 2", "hanging 2", "broken 2", "good 3"];
  const answers = items.map((item) => ask(item).catch((error: Error) => error.message));
  const those = (name: string) => Promise.all(answers.filter((_, place) => items[place]?.startsWith(name)));
  expect(await those("good")).toEqual(["good 1", "good 2", "good 3"]);
  expect(await those("broken")).toEqual(["of this group", "of this group"]);
  expect(calls).toEqual([["hanging 1", "hanging 2"], ["good 1", "good 2"], ["good 3"], ["broken 1", "broken 2"]]);
});
