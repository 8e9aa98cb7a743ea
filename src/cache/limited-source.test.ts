import { expect, test } from "bun:test";
import { manualClock } from "../base/clock.ts";
import { createMetrics } from "../base/metrics.ts";
import type { LookupAnswer } from "./cache.ts";
import { countCache } from "./hit-counts.ts";
import { limitedSource } from "./limited-source.ts";

/** One at a time, none waiting, and a database that answers when the test says so. */
function setUp(waiting = 0) {
  const asked: PromiseWithResolvers<LookupAnswer<object>>[] = [];
  const failed: string[] = [];
  const counts = countCache(createMetrics());
  const source = limitedSource<object>(
    {
      load() {
        const answer = Promise.withResolvers<LookupAnswer<object>>();
        asked.push(answer);
        return answer.promise;
      },
    },
    {
      ...{ atOnce: 1, waiting, waitMs: 5, counts, clock: manualClock(0) },
      run: (work) =>
        work().catch((error: Error) => {
          failed.push(error.name);
          throw error;
        }),
    },
  );
  const late: LookupAnswer<object>[] = [];
  const visit = () => ({
    patience: { redis: 0, sql: 5 },
    later: (answer: Promise<LookupAnswer<object>>) => void answer.then((one) => late.push(one)),
  });
  return { source, asked, failed, counts, late, visit };
}

test("a query outlives the visitor: it counts as a failure, keeps its place, and its answer is still used", async () => {
  const { source, asked, failed, counts, late, visit } = setUp();
  await expect(source.load("a", 0, visit())).rejects.toThrow("did not answer");
  await Bun.sleep(1);
  expect(failed).toEqual(["Late"]);
  await expect(source.load("b", 0, visit())).rejects.toThrow();
  expect(counts.events.shed).toBe(1);
  asked[0]?.resolve({ version: 1, value: undefined });
  await Bun.sleep(0);
  expect(late).toEqual([{ version: 1, value: undefined }]);
  expect(asked).toHaveLength(1);
});

test("a lookup of the same key while a query runs waits for that query", async () => {
  const { source, asked, visit } = setUp();
  await expect(source.load("a", 0, visit())).rejects.toThrow();
  const second = source.load("a", 0);
  asked[0]?.resolve({ version: 1, value: undefined });
  expect(await second).toEqual({ version: 1, value: undefined });
  expect(asked).toHaveLength(1);
  const third = source.load("a", 0);
  asked[1]?.resolve({ version: 2, value: undefined });
  expect(await third).toEqual({ version: 2, value: undefined });
});
