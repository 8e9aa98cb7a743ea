import { expect, test } from "bun:test";
import type { Form } from "../cache/tier.ts";
import { createRedisCache } from "./cache.ts";
import type { Redis } from "./client.ts";

const form: Form<{ name: string }> = {
  name: "v1",
  keysOf: () => [],
  toJson: (value) => value,
  fromJson: (json) => json as { name: string },
};

/** A Redis without links that counts its reads. */
function emptyRedis() {
  const asked: string[][] = [];
  const redis = {
    generation: 1,
    slotOf: () => 0,
    serverOf: () => "only",
    send: async (_: string, words: string[]) => {
      asked.push(words);
      return words.slice(1).map(() => null);
    },
  };
  return { redis, asked, asRedis: redis as unknown as Redis };
}

test("reads of one turn share a command", async () => {
  const { asked, asRedis } = emptyRedis();
  const { get } = createRedisCache({ redis: asRedis, form });
  const answers = await Promise.all([get("a"), get("b"), get("c")]);
  expect(answers.map(({ kind }) => kind)).toEqual(["unknown", "unknown", "unknown"]);
  expect(asked.map((words) => words.length)).toEqual([1 + 2 * 3]);
});

test("a read that waits for its turn is not answered by a server that was connected meanwhile", async () => {
  const { redis, asked, asRedis } = emptyRedis();
  const starts: (() => void)[] = [];
  const { get } = createRedisCache({ redis: asRedis, form, nextTurn: (start) => starts.push(start) });
  const before = get("a").catch((error: Error) => error.message);
  redis.generation = 2;
  const after = get("a");
  for (const start of starts) start();
  expect(await before).toBe("the connection changed before a was read");
  expect((await after).kind).toBe("unknown");
  expect(asked).toHaveLength(1);
});

test("of the reads of one turn, those of a node that does not answer do not delay the others", async () => {
  const { redis, asRedis } = emptyRedis();
  const answer = redis.send;
  redis.slotOf = ((key: string) => (key === "{hanging}" ? 1 : 0)) as typeof redis.slotOf;
  redis.send = (key, words) => (key.includes("hanging") ? new Promise(() => {}) : answer(key, words));
  const { get } = createRedisCache({ redis: asRedis, form });
  void get("hanging");
  const [one, two] = await Promise.all([get("a"), get("b")]);
  expect([one.kind, two.kind]).toEqual(["unknown", "unknown"]);
});
