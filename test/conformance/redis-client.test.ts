import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connectRedis, defineScript } from "../../src/redis/client.ts";
import { until } from "../ground/process.ts";
import { startProxy } from "../ground/proxy.ts";
import { type RedisServer, redisAvailable, startRedis } from "../ground/redis.ts";

if (redisAvailable()) {
  describe("a script that Redis does not know", () => {
    let server: RedisServer;
    beforeAll(async () => {
      server = await startRedis();
    });
    afterAll(() => server.stop());

    const script = defineScript("return redis.call('INCR', KEYS[1])");
    /** How often Redis was asked this since it started. */
    const calls = async (command: string) =>
      Number(
        new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(await server.command("INFO", "commandstats"))?.[1] ?? 0,
      );

    test("is sent once, however many find it unknown at the same time", async () => {
      const redis = connectRedis(server.url, { deadlineMs: 5_000 });
      await until("a connection", () =>
        redis.ping().then(
          () => true,
          () => undefined,
        ),
      );
      const all = Array.from({ length: 100 }, () => redis.script(script, ["visits"], []));
      expect((await Promise.all(all)).map(Number).toSorted((a, b) => a - b)).toEqual(all.map((_, i) => i + 1));
      expect(await calls("eval")).toBe(1);
      // And again when Redis has forgotten it.
      await server.command("SCRIPT", "FLUSH");
      expect(Number(await redis.script(script, ["visits"], []))).toBe(101);
      expect(await calls("eval")).toBe(2);
      await redis.close();
    });

    test("is sent before anybody needs it, with every connection", async () => {
      const isSent = async () => (await calls("script\\|load").catch(() => 0)) > 0 || undefined;
      const redis = connectRedis(server.url, { scripts: [script] });
      await until("the script to be sent", isSent);
      await server.restart();
      await until("the script to be sent again", isSent);
      await redis.close();
    });
  });

  test("a listener receives messages again soon after the network has dropped its connection", async () => {
    const server = await startRedis();
    const proxy = await startProxy(server.port);
    const redis = connectRedis(proxy.url(server.url), { silenceMostMs: 400 });
    let heard = 0;
    const listening = await redis.listen("news", () => heard++);
    const untilHeard = () =>
      until("news", async () => {
        await server.command("PUBLISH", "news", "");
        return heard > 0 || undefined;
      });
    await untilHeard();
    proxy.drop();
    await server.command("PUBLISH", "news", "");
    proxy.pass();
    heard = 0;
    await untilHeard();
    expect(heard).toBeGreaterThan(0);
    listening.close();
    await redis.close();
    proxy.stop();
    await server.stop();
  });
}
