import { describe, expect, test } from "bun:test";
import { createMemo } from "./memo.ts";

function setUp(keeps?: (key: string) => boolean) {
  const asked: string[] = [];
  const memo = createMemo({
    most: 3,
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

  test("keeps so many, and drops the one that was asked for longest ago", () => {
    const { memo, asked } = setUp();
    for (const key of ["a", "b", "c", "a", "d"]) memo.get(key);
    expect(memo.size).toBe(3);
    asked.length = 0;
    for (const key of ["a", "c", "d", "b"]) memo.get(key);
    expect(asked).toEqual(["b"]);
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
