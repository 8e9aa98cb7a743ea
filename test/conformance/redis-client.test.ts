import { expect, test } from "bun:test";
import { connectRedis } from "../../src/redis/client.ts";
import { until } from "../ground/process.ts";
import { startProxy } from "../ground/proxy.ts";
import { redisAvailable, startRedis } from "../ground/redis.ts";

if (redisAvailable()) {
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
