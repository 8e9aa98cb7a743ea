import { expect, test } from "bun:test";
import { pagesOf } from "./pages.ts";

const all = Array.from({ length: 250 }, (_, i) => i + 1);

async function read(list: readonly number[], most?: number): Promise<number[]> {
  const found: number[] = [];
  const next = async (limit: number, last = 0) => list.filter((one) => one > last).slice(0, limit);
  for await (const page of pagesOf(next, most)) found.push(...page);
  return found;
}

test.each([0, 1, 99, 100, 101, 200, 250])("all of %d items come once, in order", async (count) => {
  expect(await read(all.slice(0, count))).toEqual(all.slice(0, count));
});

test.each([0, 1, 100, 101, 200])("at most %d are read if no more are wanted", async (most) => {
  expect(await read(all, most)).toEqual(all.slice(0, most));
});
