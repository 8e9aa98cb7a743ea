import { describe, expect, test } from "bun:test";
import { createGather } from "./gather.ts";

/** Writes that end on demand. */
function slowly(most: number) {
  const writes: { group: string; all: readonly number[]; end: PromiseWithResolvers<void> }[] = [];
  const gather = createGather<string, number, string>({
    keyOf: (group) => group,
    most,
    async run(group, all) {
      const end = Promise.withResolvers<void>();
      writes.push({ group, all, end });
      await end.promise;
      return all.map((one) => `${group}${one}`);
    },
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  async function end(index: number, error?: Error): Promise<void> {
    if (error) writes[index]?.end.reject(error);
    else writes[index]?.end.resolve();
    await turn();
  }
  return { gather, end, made: () => writes.map(({ group, all }) => `${group}:${all.join()}`) };
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

  test("puts no more into one write than it may, unless one brings more", async () => {
    const { gather, end, made } = slowly(3);
    const all = [[1], [2, 3], [4, 5], [6, 7, 8, 9], [10]].map((some) => gather("a", some));
    for (let i = 0; i < 5; i++) await end(i);
    expect(made()).toEqual(["a:1", "a:2,3", "a:4,5", "a:6,7,8,9", "a:10"]);
    await Promise.all(all);
  });

  test("fails for those in the failed write, and continues", async () => {
    const { gather, end } = slowly(10);
    const [first, second] = [gather("a", [1]).catch((error: Error) => error.message), gather("a", [2])];
    await end(0, new Error("lost"));
    await end(1);
    expect([await first, await second]).toEqual(["lost", ["a2"]]);
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
