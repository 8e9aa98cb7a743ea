import { expect, test } from "bun:test";
import { manualClock } from "../base/clock.ts";
import { createMetrics } from "../base/metrics.ts";
import type { LookupAnswer } from "./cache.ts";
import { type GatheredSourceSettings, gatheredSource, keysPerQuery } from "./gathered-source.ts";
import { countCache } from "./hit-counts.ts";

type Answers = readonly (LookupAnswer<object> | Error)[];

/** A database that answers when the test says so; by default, queries and keys that wait have no end. */
function setUp(settings: Partial<GatheredSourceSettings> = {}) {
  const asked: { keys: readonly string[]; answer: PromiseWithResolvers<Answers> }[] = [];
  const failed: string[] = [];
  const counts = countCache(createMetrics());
  const clock = manualClock(0);
  const source = gatheredSource<object>(
    (keys) => {
      const answer = Promise.withResolvers<Answers>();
      asked.push({ keys, answer });
      return answer.promise;
    },
    {
      ...{ atOnce: 1, waiting: 10_000, waitMs: 60_000, counts, clock, ...settings },
      run: (work) =>
        work().catch((error: Error) => {
          failed.push(error.name);
          throw error;
        }),
    },
  );
  const late: LookupAnswer<object>[] = [];
  const visit = (sql: number) => ({
    patience: { redis: 0, sql },
    later: (answer: Promise<LookupAnswer<object>>) =>
      void answer.then(
        (one) => late.push(one),
        () => {},
      ),
  });
  /** Answers the query at this place, with the version that a key ends with. */
  const answer = async (place: number) => {
    asked[place]?.answer.resolve(asked[place].keys.map(answerFor));
    await turn();
  };
  return { source, asked, failed, counts, clock, late, visit, answer };
}

const answerFor = (key: string): LookupAnswer<object> => ({
  version: Number(/\d+$/.exec(key)?.[0] ?? 1),
  value: undefined,
});
/** Timers of 0 ms and immediates that are due come before this ends. */
const turn = () => Bun.sleep(0);
const range = (count: number) => Array.from({ length: count }, (_, i) => `link${i}`);

test("links that are looked up in one turn, or while a query runs, share the next query", async () => {
  const { source, asked, answer } = setUp();
  const first = ["a1", "b2"].map((key) => source.load(key, 0));
  await turn();
  const second = ["c3", "d4"].map((key) => source.load(key, 0));
  await turn();
  expect(asked.map(({ keys }) => keys)).toEqual([["a1", "b2"]]);
  await answer(0);
  expect((await Promise.all(first)).map(({ version }) => version)).toEqual([1, 2]);
  expect(asked.map(({ keys }) => keys)).toEqual([
    ["a1", "b2"],
    ["c3", "d4"],
  ]);
  await answer(1);
  expect((await Promise.all(second)).map(({ version }) => version)).toEqual([3, 4]);
});

test("2,000 links at once are eight queries, of which as many run at once as there are connections", async () => {
  const { source, asked, answer, counts } = setUp({ atOnce: 3 });
  const all = Promise.all(range(2_000).map((key) => source.load(key, 0)));
  await turn();
  expect(asked.map(({ keys }) => keys.length)).toEqual([keysPerQuery, keysPerQuery, keysPerQuery]);
  for (let place = 0; place < 8; place++) await answer(place);
  expect((await all).map(({ version }) => version)).toEqual(range(2_000).map((_, i) => i));
  expect(asked.map(({ keys }) => keys.length)).toEqual([...new Array(7).fill(keysPerQuery), 2_000 - 7 * keysPerQuery]);
  expect(counts.events.shed).toBe(0);
});

test("a query that takes long does not hold up the others while there is a free connection", async () => {
  const { source, asked } = setUp({ atOnce: 2 });
  void source.load("slow", 0);
  await turn();
  void source.load("next", 0);
  void source.load("and another", 0);
  while (asked.length < 2) await turn();
  expect(asked.map(({ keys }) => keys)).toEqual([["slow"], ["next", "and another"]]);
});

test("a link that cannot be read fails alone", async () => {
  const { source, asked } = setUp();
  const [good, bad] = [source.load("good", 0), source.load("bad", 0)];
  await turn();
  asked[0]?.answer.resolve([{ version: 1, value: undefined }, new Error("a damaged row")]);
  await expect(bad).rejects.toThrow("a damaged row");
  expect(await good).toEqual({ version: 1, value: undefined });
});

test("a query that fails fails for its links, and the next one starts", async () => {
  const { source, asked, answer } = setUp();
  const first = [source.load("a", 0), source.load("b", 0)];
  const outcomes = Promise.allSettled(first);
  await turn();
  const next = source.load("c3", 0);
  await turn();
  asked[0]?.answer.reject(new Error("no connection"));
  expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await answer(1);
  expect(await next).toEqual({ version: 3, value: undefined });
});

test("a query outlives the visitor: it counts as a failure, keeps its place, and its answer is still used", async () => {
  const { source, asked, failed, late, visit, answer } = setUp({ waitMs: 5 });
  await expect(source.load("a1", 0, visit(5))).rejects.toThrow("did not answer");
  while (failed.length === 0) await turn();
  expect(failed).toEqual(["Late"]);
  void source.load("b", 0).catch(() => {});
  await turn();
  expect(asked).toHaveLength(1);
  await answer(0);
  expect(late).toEqual([{ version: 1, value: undefined }]);
  expect(asked).toHaveLength(2);
});

test("too many links that wait are turned away at once", async () => {
  const { source, asked, counts } = setUp({ waiting: 2 });
  void source.load("a", 0);
  void source.load("b", 0);
  await expect(source.load("c", 0)).rejects.toThrow("already wait");
  expect(counts.events.shed).toBe(1);
  await turn();
  expect(asked[0]?.keys).toEqual(["a", "b"]);
});

test("a link whose visitors gave up while it waited is not asked for, unless somebody else waits", async () => {
  const { source, asked, counts, clock, visit, answer } = setUp();
  void source.load("running", 0);
  await turn();
  const given = ["gone", "wanted"].map((key) => source.load(key, 0, visit(1)));
  for (const { status } of await Promise.allSettled(given)) expect(status).toBe("rejected");
  const wanted = source.load("wanted", 0);
  clock.advance(2);
  await answer(0);
  expect(asked.map(({ keys }) => keys)).toEqual([["running"], ["wanted"]]);
  expect(counts.events.shed).toBe(1);
  await answer(1);
  expect(await wanted).toEqual({ version: 1, value: undefined });
});

test("a lookup of the same key while a query runs waits for that query", async () => {
  const { source, asked, answer } = setUp();
  const first = source.load("a1", 0);
  await turn();
  const second = source.load("a1", 0);
  await answer(0);
  expect(await Promise.all([first, second])).toHaveLength(2);
  expect(asked).toHaveLength(1);
  // One that is not satisfied asks again.
  const third = first.then(() => source.load("a1", 0));
  await turn();
  expect(asked).toHaveLength(2);
  await answer(1);
  expect(await third).toEqual({ version: 1, value: undefined });
});
