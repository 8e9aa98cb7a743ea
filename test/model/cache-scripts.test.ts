/** The scripts of the cache, run in this process and by a real server: the same replies, and the same left behind. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { connectRedis, defineScript, type Redis } from "../../src/redis/client.ts";
import putText from "../../src/redis/put.lua" with { type: "text" };
import standText from "../../src/redis/stand.lua" with { type: "text" };
import { connected, patientMs } from "../conformance/counter-stores.ts";
import { createLuaRedis, type LuaRedis } from "../ground/lua-redis.ts";
import { type RedisServer, redisAvailable, startRedis } from "../ground/redis.ts";

const scripts = { put: defineScript(putText), stand: defineScript(standText) };
const links = ["link:{a}", "404:{a}"] as const;
const place = "feed:{a}";
const keys = { put: links, stand: [place] };
const hourMs = "3600000";
const never = String(Number.MAX_SAFE_INTEGER);

type Call = { readonly what: "put" | "stand" | "command"; readonly words: readonly string[] };

const puts = fc
  .tuple(fc.nat({ max: 4 }), fc.constantFrom("link", "missing", "fence"), fc.constantFrom("0", "1", never))
  .map(([version, kind, notAfter]): Call => {
    const words = [String(version), kind, `{"u":"x","v":${version}}`, hourMs, notAfter];
    return { what: "put", words };
  });
const positions = fc.constantFrom("", "1", "2", "3");
const epochs = fc.constantFrom("", "k1", "k2");
const databases = fc.constantFrom("", "d1", "d1", "d2");
const stands = fc
  .tuple(positions, positions, epochs, epochs, databases)
  .map((words): Call => ({ what: "stand", words }));
const byOthers = fc
  .constantFrom(
    ["SET", links[0], "not ours"],
    ["SET", links[1], "not ours"],
    ["HSET", place, "f", "7"],
    ["HSET", place, "x", "1"],
    ["HDEL", place, "d"],
    ["DEL", ...links],
    ["DEL", place],
  )
  .map((words): Call => ({ what: "command", words }));
const calls = fc.array(
  fc.oneof({ weight: 6, arbitrary: puts }, { weight: 6, arbitrary: stands }, { weight: 1, arbitrary: byOthers }),
  { maxLength: 30 },
);

type Asked = Pick<Redis, "send" | "script">;

const run = (redis: Asked, { what, words }: Call) =>
  what === "command" ? redis.send(place, words) : redis.script(scripts[what], keys[what], words);

const left = async (redis: Asked) => [
  await redis.send(place, ["MGET", ...links]),
  await redis.send(place, ["HMGET", place, "f", "e", "p", "t", "d"]),
  await redis.send(place, ["DBSIZE"]),
];

/** Times are the server's own and differ. */
const timeless = (reply: unknown) => JSON.stringify(reply).replaceAll(/"1\d{12}"/g, '"now"');

if (redisAvailable()) {
  describe("the scripts of the cache", () => {
    let server: RedisServer;
    let real: Redis;
    let own: LuaRedis;

    beforeAll(async () => {
      server = await startRedis();
      real = connectRedis(server.url, { deadlineMs: patientMs });
      await connected(real);
      own = await createLuaRedis(() => 1_800_000_000_000);
    });

    afterAll(async () => {
      await real.close();
      await server.stop();
    });

    test("do in this process what they do in Redis", async () => {
      const inProcess: Asked = {
        send: async (_, words) => own.command(words),
        script: async ({ text }, names, args) => own.script(text, names, args),
      };
      await fc.assert(
        fc.asyncProperty(calls, async (list) => {
          await server.flush();
          own.command(["FLUSHALL"]);
          for (const call of list) {
            expect(timeless(await run(inProcess, call))).toBe(timeless(await run(real, call)));
            expect(timeless(await left(inProcess))).toBe(timeless(await left(real)));
          }
        }),
        { numRuns: 100 },
      );
    });
  });
}
