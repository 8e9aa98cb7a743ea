import { expect, test } from "bun:test";
import { postgresAvailable } from "../ground/postgres.ts";
import { until } from "../ground/process.ts";
import { redisAvailable, startRedis } from "../ground/redis.ts";
import { startServer } from "../ground/server.ts";
import { newDatabase, query, type Site, siteOf } from "./servers.ts";

const code = "same-code";
const leadsTo = async (site: Site) => (await site.reach(`/${code}`)).headers.get("location");

/** Databases of tests are copies of one, and so have its name. */
async function startOn(redisUrl: string, name: string): Promise<Site> {
  const env = await newDatabase("PostgreSQL");
  await query(env, `update schema_migrations set timestamp = '${name}'`);
  const settings = { ...env, REDIS_URL: redisUrl };
  return siteOf(await startServer({ dataDir: String(env.QL_DATA), env: settings }), settings);
}

if (postgresAvailable() && redisAvailable()) {
  test("two databases with one Redis by mistake: neither serves links of the other, and the second says what to do", async () => {
    const redis = await startRedis();
    const first = await startOn(redis.url, "2026-11-18T01:00:00.000Z");
    await first.create({ url: "https://example.com/first", code });
    expect(await leadsTo(first)).toBe("https://example.com/first");
    const isInUse = async () => (await redis.command("EXISTS", "ql:v6:feed:{all}")) === "1";
    await until("Redis to be in use", async () => (await isInUse()) || undefined);

    const second = await startOn(redis.url, "2026-11-18T02:00:00.000Z");
    await second.server.waitForOutput(/used by servers of another database.*its own Redis/);
    await second.create({ url: "https://example.com/second", code });
    expect(await leadsTo(second)).toBe("https://example.com/second");
    expect(await leadsTo(first)).toBe("https://example.com/first");
    const found = "contains links of another database";
    expect((await second.cli("doctor")).stdout).toContain(found);
    expect((await first.cli("doctor")).stdout).not.toContain(found);
    for (const { server } of [first, second]) expect(await server.stop()).toBe(0);
    await redis.stop();
  });
}
