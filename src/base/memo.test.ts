import { describe, expect, test } from "bun:test";
import { createMemo } from "./memo.ts";

function setUp(keeps?: (key: string) => boolean) {
  const asked: string[] = [];
  const memo = createMemo({
    most: 4,
    find(key: string) {
      asked.push(key);
      return key.length % 2 === 0;
    },
    ...(keeps === undefined ? {} : { keeps }),
  });
  return { memo, asked };
}

describe("a memo", () => {
  test("asks once for each key, also when the answer is false", () => {
    const { memo, asked } = setUp();
    expect(["a", "bb", "a", "bb"].map(memo.get)).toEqual([false, true, false, true]);
    expect(asked).toEqual(["a", "bb"]);
  });

  test("keeps at most so many, and those that are asked for", () => {
    const { memo, asked } = setUp();
    for (let i = 0; i < 20; i++) {
      memo.get("usual");
      memo.get(`new ${i}`);
      expect(memo.size).toBeLessThanOrEqual(4);
    }
    expect(asked.filter((key) => key === "usual")).toEqual(["usual"]);
    asked.length = 0;
    for (const key of ["new 19", "new 0"]) memo.get(key);
    expect(asked).toEqual(["new 0"]);
  });

  test("answers what is not worth keeping, and does not keep it", () => {
    const { memo, asked } = setUp((key) => key.length < 3);
    expect([memo.get("long"), memo.get("long")]).toEqual([true, true]);
    expect([memo.size, asked.length]).toEqual([0, 2]);
  });

  test("asks again after it was cleared", () => {
    const { memo, asked } = setUp();
    memo.get("a");
    memo.clear();
    memo.get("a");
    expect(asked).toEqual(["a", "a"]);
  });
});
