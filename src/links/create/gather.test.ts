import { describe, expect, test } from "bun:test";
import { createGather, type GatherSettings } from "./gather.ts";

interface Wanted {
  readonly group: string;
  readonly all: readonly number[];
  readonly holder: string;
}

/** Writes that end on demand. */
function slowly(most: number, more: Partial<GatherSettings<Wanted, string[]>> = {}) {
  const writes: { wanted: readonly Wanted[]; end: PromiseWithResolvers<void> }[] = [];
  const gathered = createGather<Wanted, string[]>({
    keyOf: ({ group }) => group,
    holderOf: ({ holder }) => holder,
    sizeOf: ({ all }) => all.length,
    most,
    failsForAll: (error) => error instanceof Error && error.message === "away",
    async run(wanted) {
      const end = Promise.withResolvers<void>();
      writes.push({ wanted, end });
      await end.promise;
      return wanted.map(({ group, all }) => all.map((one) => `${group}${one}`));
    },
    ...more,
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  async function end(index: number, error?: Error): Promise<void> {
    if (error) writes[index]?.end.reject(error);
    else writes[index]?.end.resolve();
    await turn();
  }
  return {
    gather: (group: string, all: readonly number[], holder = "one") => gathered({ group, all, holder }),
    end,
    made: () => writes.map(({ wanted }) => `${wanted[0]?.group}:${wanted.flatMap(({ all }) => all).join()}`),
  };
}

describe("gathering", () => {
  test("does not delay a single caller", () => {
    const { gather, made } = slowly(10);
    void gather("a", [1]);
    void gather("b", [1]);
    expect(made()).toEqual(["a:1", "b:1"]);
  });

  test("writes together what came meanwhile, in its order, and gives each its own", async () => {
    const { gather, end, made } = slowly(10);
    const [first, second, third] = [gather("a", [1]), gather("a", [2, 3]), gather("a", [4])];
    await end(0);
    await end(1);
    expect(made()).toEqual(["a:1", "a:2,3,4"]);
    expect(await Promise.all([first, second, third])).toEqual([["a1"], ["a2", "a3"], ["a4"]]);
  });

  test("lets those who wait take turns: one with many requests delays nobody by more than a run", async () => {
    const { gather, end, made } = slowly(3);
    for (const all of [[1], [2], [3], [4], [5], [6]]) void gather("a", all, "busy");
    void gather("a", [11], "quiet");
    void gather("a", [12], "quiet");
    for (const place of [0, 1, 2]) await end(place);
    expect(made()).toEqual(["a:1", "a:2,11,3", "a:12,4,5", "a:6"]);
  });

  test("refuses one with a thousand requests that wait, and nobody else", async () => {
    const { gather, end, made } = slowly(10_000);
    void gather("a", [0], "busy");
    const waiting = Array.from({ length: 1_000 }, (_, i) => gather("a", [i], "busy"));
    await expect(gather("a", [1], "busy")).rejects.toMatchObject({ code: "busy" });
    void gather("a", [1], "quiet");
    await end(0);
    await end(1);
    await Promise.all(waiting);
    expect(made()[1]?.split(",")).toHaveLength(1_001);
  });

  test("writes together what came in one turn, where a write leaves no time for others to come", async () => {
    const turns: PromiseWithResolvers<void>[] = [];
    const { gather, end, made } = slowly(3, {
      turn() {
        const turn = Promise.withResolvers<void>();
        turns.push(turn);
        return turn.promise;
      },
    });
    const all = [1, 2, 3, 4].map((one) => gather("a", [one]));
    expect(made()).toEqual([]);
    turns[0]?.resolve();
    await end(-1);
    expect(made()).toEqual(["a:1,2,3"]);
    await end(0);
    // Others have their turn before the next write.
    expect([turns.length, made().length]).toEqual([2, 1]);
    turns[1]?.resolve();
    await end(-1);
    await end(1);
    expect(await Promise.all(all)).toEqual([["a1"], ["a2"], ["a3"], ["a4"]]);
  });

  test("puts no more into one write than it may, unless one brings more", async () => {
    const { gather, end, made } = slowly(3);
    const all = [[1], [2, 3], [4, 5], [6, 7, 8, 9], [10]].map((some) => gather("a", some));
    for (let i = 0; i < 5; i++) await end(i);
    expect(made()).toEqual(["a:1", "a:2,3", "a:4,5", "a:6,7,8,9", "a:10"]);
    await Promise.all(all);
  });

  test("repeats a failed write for each alone, and continues", async () => {
    const { gather, end, made } = slowly(10);
    const all = [1, 2, 3].map((one) => gather("a", [one]).catch((error: Error) => error.message));
    await end(0);
    await end(1, new Error("bad"));
    await end(2, new Error("bad"));
    await end(3);
    const last = gather("a", [4]);
    await end(4);
    expect(made()).toEqual(["a:1", "a:2,3", "a:2", "a:3", "a:4"]);
    expect(await Promise.all([...all, last])).toEqual([["a1"], "bad", ["a3"], ["a4"]]);
  });

  test("does not repeat a write that failed for all", async () => {
    const { gather, end, made } = slowly(10);
    const all = [1, 2, 3].map((one) => gather("a", [one]).catch((error: Error) => error.message));
    await end(0);
    await end(1, new Error("away"));
    expect(await Promise.all(all)).toEqual([["a1"], "away", "away"]);
    expect(made()).toEqual(["a:1", "a:2,3"]);
  });

  test("lets only so many wait", async () => {
    const { gather, end } = slowly(10_000);
    const waiting = Array.from({ length: 1_001 }, (_, i) => gather("a", [i]));
    await expect(gather("a", [0])).rejects.toMatchObject({ code: "busy" });
    await end(0);
    await end(1);
    expect(await Promise.all(waiting)).toHaveLength(1_001);
  });
});
