import { describe, expect, test } from "bun:test";
import type { RedisInfo } from "../redis/info.ts";
import { clockFinding } from "./finding.ts";
import { judgeRedis } from "./redis.ts";

const well: RedisInfo = {
  version: "7.0.15",
  usedBytes: 1_048_576,
  maxBytes: 4_294_967_296,
  policy: "volatile-lru",
  evictedKeys: 0,
};

const statuses = (...asked: Parameters<typeof judgeRedis>) => judgeRedis(...asked).map(({ status }) => status);

describe("a Redis", () => {
  test("that is set up as it should be is fine", () => {
    expect(statuses("redis", "cache", well, 10)).toEqual(["ok", "ok", "ok", "ok"]);
    expect(statuses("redis", "both", well, 16)).toEqual(["ok", "ok", "ok", "ok"]);
    expect(statuses("redis", "limits", { ...well, policy: "noeviction" }, 5)).toEqual(["ok", "ok", "ok"]);
  });

  test.each([
    ["is too old", { version: "6.2.14" }, 10, /version 7/],
    ["has no bound", { maxBytes: 0 }, 10, /Set maxmemory/],
    ["evicts nothing", { policy: "noeviction" }, 10, /volatile-lru/],
    ["evicts what says how far it was corrected", { policy: "allkeys-lru" }, 10, /volatile-lru/],
  ] as const)("for the cache that %s fails", (_, planted, samples, advice) => {
    const failed = judgeRedis("redis", "cache", { ...well, ...planted }, samples).filter(
      ({ status }) => status !== "ok",
    );
    expect(failed).toMatchObject([{ status: "fail", advice: expect.stringMatching(advice) }]);
  });

  test("that looks at few keys when it evicts, or does not say at how many, is worth a warning", () => {
    expect(statuses("redis", "cache", well, 5)).toEqual(["ok", "ok", "ok", "warn"]);
    expect(statuses("redis", "cache", well, undefined)).toEqual(["ok", "ok", "ok", "warn"]);
  });

  test("for limits alone that evicts is worth a warning; one for both says what that means", () => {
    expect(statuses("redis", "limits", well, 10)).toEqual(["ok", "ok", "warn"]);
    expect(judgeRedis("redis", "both", well, 10).map(({ found }) => found)).toContainEqual(
      expect.stringContaining("rebuilt from SQL"),
    );
  });
});

test("a clock may differ by a second", () => {
  expect(clockFinding("clock", 400)).toEqual({ status: "ok", check: "clock", found: "0.40 s ahead of this machine" });
  expect(clockFinding("clock", -1_000).status).toBe("ok");
  expect(clockFinding("clock", -61_000)).toMatchObject({ status: "warn", found: "61.00 s behind this machine" });
  expect(clockFinding("clock", 1_001).status).toBe("warn");
});
