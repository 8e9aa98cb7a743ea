/** Live clicks of two processes that share a Redis: a single server, Sentinel or Cluster. */
import { describe, expect, test } from "bun:test";
import { openChannels } from "../../src/redis/channels.ts";
import { connectRedis } from "../../src/redis/client.ts";
import { batchOf, codesOf, type LiveReader, mine, others, startLive, watchLive } from "../ground/live.ts";
import { until } from "../ground/process.ts";
import { redisAvailable, startRedis, startRedisCluster, startRedisSentinel } from "../ground/redis.ts";

const [a, b, theirs] = [0, 1, 2];

function startOn(url: string) {
  const redis = connectRedis(url, { silenceMostMs: 2_000 });
  const { live, count } = startLive({ channels: openChannels(redis) });
  const close = async () => {
    await live.close();
    await redis.close();
  };
  return { live, count, close };
}

const codes = (reader: LiveReader) => codesOf(reader.events("click"));

/** Clicks again until the reader sees one: announcements take a moment. */
const untilSeen = (reader: LiveReader, code: string, click: () => void) =>
  until(`a click on ${code}`, () => {
    click();
    return codes(reader).includes(code) || undefined;
  });

// They mostly wait for the next announcement: side by side that takes a third of the time.
if (redisAvailable()) {
  const kinds = { "one Redis": startRedis, Sentinel: startRedisSentinel, Cluster: startRedisCluster };
  describe.each(Object.entries(kinds))("on %s", (_, startKind) => {
    test.concurrent("a click in one process is seen in the other, by its own tenant only, and only while somebody reads", async () => {
      const redis = await startKind();
      const [here, there] = [startOn(redis.url), startOn(redis.url)];
      const [own, foreign] = [await watchLive(here.live, mine), await watchLive(here.live, others)];
      await untilSeen(own, "a", () => there.live.offer(batchOf([a])));
      expect(codes(foreign)).toEqual([]);
      await untilSeen(foreign, "a", () => there.live.offer(batchOf([theirs])));
      expect(new Set(codes(own))).toEqual(new Set(["a"]));
      await untilSeen(own, "b", () => here.live.offer(batchOf([b])));
      expect([...own.events("notice"), ...foreign.events("notice")]).toEqual([]);
      await Promise.all([own.leave(), foreign.leave()]);
      await until("nobody to read", () => !there.live.wanted || undefined);
      expect([there.live.isWanted(mine), there.count.sent.failed]).toEqual([false, 0]);
      await Promise.all([here.close(), there.close()]);
      await redis.stop();
    }, 60_000);
  });

  test.concurrent("while Redis is gone the stream says so once and shows this process's clicks; then all again", async () => {
    const redis = await startRedis();
    const [here, there] = [startOn(redis.url), startOn(redis.url)];
    const reader = await watchLive(here.live);
    await untilSeen(reader, "a", () => there.live.offer(batchOf([a])));
    await redis.kill();
    const notices = () => reader.events("notice").map(({ code }) => code);
    await until("a notice", () => notices().length > 0 || undefined);
    const before = codes(reader).length;
    here.live.offer(batchOf([b]));
    there.live.offer(batchOf([a]));
    await until("the own click", () => codes(reader).length > before || undefined);
    expect(codes(reader).slice(before)).toEqual(["b"]);
    expect(notices()).toEqual(["this_server_only"]);
    await redis.restart();
    await until("a second notice", () => notices().length > 1 || undefined);
    expect(notices()).toEqual(["this_server_only", "all_servers"]);
    const lost = codes(reader).length;
    await until("the other's click", () => {
      there.live.offer(batchOf([a]));
      return codes(reader).slice(lost).includes("a") || undefined;
    });
    await Promise.all([here.close(), there.close()]);
    await redis.stop();
  }, 60_000);

  test.concurrent("a Redis that hangs is noticed too, and blocks nothing", async () => {
    const redis = await startRedis();
    const here = startOn(redis.url);
    const reader = await watchLive(here.live);
    await until("a click", () => {
      here.live.offer(batchOf([a]));
      return codes(reader).length > 0 || undefined;
    });
    redis.pause();
    await until("a notice", () => reader.events("notice").length > 0 || undefined);
    const before = codes(reader).length;
    here.live.offer(batchOf([b]));
    await until("the click", () => codes(reader).length > before || undefined);
    redis.resume();
    await until("the second notice", () => reader.events("notice").length > 1 || undefined);
    await here.close();
    await redis.stop();
  }, 60_000);
}
