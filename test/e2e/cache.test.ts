import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { postgresAvailable } from "../ground/postgres.ts";
import { type Finished, until } from "../ground/process.ts";
import { type RedisServer, redisAvailable, startRedis } from "../ground/redis.ts";
import { cli } from "../ground/server.ts";
import { databases, must, newDatabase, query, type Site, siteOf, startSite } from "./servers.ts";

interface Looked {
  readonly sqlVersion: number;
  readonly sqlUrl: string | null;
  readonly status: string | null;
  readonly expiresAt: string | null;
  readonly hitsThisMonth: number | null;
  readonly redis: string;
  readonly redisVersion: number | null;
  readonly redisUrl: string | null;
  readonly freshPercent: number | null;
  readonly keptSeconds: number;
  readonly node: string;
  readonly epoch: string;
  readonly behind: number | null;
}

const right = "https://example.com/right";
const wrong = "https://example.com/wrong";

const destination = async (site: Site, code: string) => (await site.reach(`/${code}`)).headers.get("location");

/** A link whose row was corrected by hand, as after a mistake in the database. */
async function mendedLink(site: Site): Promise<string> {
  const { code } = await site.create({ url: wrong });
  expect(await destination(site, code)).toBe(wrong);
  await query(site.env, `update links set url = '${right}' where code = '${code}'`);
  return code;
}

function dropsOn(place: string, running: () => Site) {
  describe(`cache drop on ${place}`, () => {
    let site: Site;

    beforeAll(() => {
      site = running();
    });

    test("makes every server reload a link whose row was corrected by hand", async () => {
      const code = await mendedLink(site);
      expect(must(await site.cli("cache", "drop", code))).toContain(`${code} is now at version 2`);
      await until("the right address", async () => (await destination(site, code)) === right || undefined);
      expect(JSON.parse(must(await site.cli("cache", "get", code, "--json")))).toMatchObject({
        sqlVersion: 2,
        sqlUrl: right,
      });
    });

    test("works where a link is gone, and not where there never was one", async () => {
      const { code } = await site.create({ url: right });
      must(await site.cli("link", "delete", code));
      expect(JSON.parse(must(await site.cli("cache", "drop", code, "--json")))).toEqual({ code, version: 3 });
      const { code: status, stderr } = await site.cli("cache", "drop", "never-there");
      expect([status, stderr]).toEqual([1, expect.stringContaining("never been used")]);
    });

    test("wants a code or --all, and not both", async () => {
      for (const words of [[], ["sale", "--all"]]) {
        const { code, stderr } = await site.cli("cache", "drop", ...words);
        expect([code, stderr]).toEqual([2, "Give either a code or --all.\n"]);
      }
    });
  });
}

for (const database of databases) {
  describe(database, () => {
    let site: Site;

    beforeAll(async () => {
      site = await startSite(database);
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
    });

    dropsOn(database, () => site);
  });
}

describe("cache without Redis", () => {
  test("says what that means", async () => {
    const env = await newDatabase("SQLite");
    must(await cli(["tenant", "create", "default"], { env }));
    must(await cli(["link", "create", right, "--code", "sale"], { env }));
    const run = async (...words: string[]) => must(await cli(["cache", ...words], { env }));
    expect(JSON.parse(await run("get", "sale", "--json"))).toEqual({
      code: "sale",
      sqlVersion: 1,
      sqlUrl: right,
      status: "active",
      expiresAt: expect.stringMatching(/^\d{4}-/),
      hitsThisMonth: 0,
      redis: expect.stringContaining("REDIS_URL is not set"),
    });
    expect(await run("warm", "sale")).toStartWith("No Redis to warm. REDIS_URL is not set");
    expect(await run("drop", "--all")).toStartWith("No Redis to drop from. REDIS_URL is not set");
  });
});

if (postgresAvailable() && redisAvailable()) {
  const startOn = async ({ url: REDIS_URL, command }: RedisServer): Promise<Site> => {
    const { server, env } = await startSite("PostgreSQL", { REDIS_URL });
    // What is visited before that is in memory for 30 s, and not written to Redis before it is asked for again.
    await until("Redis to be in use", async () => (await command("EXISTS", "ql:v6:feed:{all}")) === "1" || undefined);
    return siteOf(server, { ...env, REDIS_URL });
  };

  describe("cache with Redis", () => {
    let redis: RedisServer;
    let site: Site;
    const look = async (code: string) => JSON.parse(must(await site.cli("cache", "get", code, "--json"))) as Looked;
    const held = (code: string, wanted: Partial<Looked>) =>
      until(`Redis to hold ${JSON.stringify(wanted)}`, async () => {
        await site.reach(`/${code}`);
        const looked = await look(code);
        return Bun.deepEquals({ ...looked, ...wanted }, looked) ? looked : undefined;
      });

    beforeAll(async () => {
      redis = await startRedis();
      site = await startOn(redis);
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
      await redis.stop();
    });

    dropsOn("PostgreSQL with Redis", () => site);

    test("get shows what Redis has, for how long, and whether it was corrected", async () => {
      const { code } = await site.create({ url: right });
      const looked = await held(code, { redis: "link", behind: 0 });
      expect(looked).toMatchObject({ redisVersion: 1, redisUrl: right, node: `127.0.0.1:${redis.port}` });
      expect(looked.freshPercent).toBeWithin(50, 101);
      expect(looked.keptSeconds).toBeWithin(80_000, 86_401);
      expect(await held("leads-nowhere", { redis: "missing" })).toMatchObject({ redisVersion: 0, sqlUrl: null });
    });

    test("get shows the status and the hits of a link, and has them from Redis until the link changes", async () => {
      const { id, code } = await site.create({ url: right, expiresAt: null });
      const kept = async () => JSON.parse(await redis.command("GET", `ql:v1:meta:{${code}}`)) as unknown;
      expect(await look(code)).toMatchObject({ status: "active", expiresAt: null, hitsThisMonth: 0 });
      expect(await kept()).toEqual({ c: 0, e: null, s: "active", v: 1 });
      await site.reach(`/${code}`);
      await until("the hit to be written down", async () => {
        const rows = (await query(site.env, `select * from quotas where code = '${code}'`)) as unknown[];
        return rows.length > 0 || undefined;
      });
      expect((await look(code)).hitsThisMonth).toBe(0);
      const expiresAt = "2031-01-31T00:00:00.000Z";
      await site.call("PATCH", `/api/links/${id}`, { body: { status: "disabled", expiresAt } });
      expect(await look(code)).toMatchObject({ status: "disabled", expiresAt, hitsThisMonth: 1, sqlUrl: null });
      expect(await kept()).toEqual({ c: 1, e: Date.parse(expiresAt) / 1_000, s: "disabled", v: 2 });
      expect(await look("leads-nowhere")).toMatchObject({ status: null, expiresAt: null, hitsThisMonth: null });
    });

    test("drop --all starts over, for running servers too", async () => {
      const { code } = await site.create({ url: right });
      const { epoch } = await held(code, { redis: "link" });
      expect(must(await site.cli("cache", "drop", "--all"))).toContain(`127.0.0.1:${redis.port}`);
      const after = await look(code);
      expect(after.epoch).not.toBe(epoch);
      expect(after.redisUrl).toBeNull();
      // A server that has noticed by now replays what it knows of the feed, as fences.
      expect(["unknown", "fence"]).toContain(after.redis);
      const next = await site.create({ url: right });
      await held(next.code, { redis: "link", epoch: after.epoch, behind: 0 });
    });

    test("warm writes a link before its first visit", async () => {
      const { code } = await site.create({ url: right });
      const warmed = JSON.parse(must(await site.cli("cache", "warm", code, "--json"))) as Looked;
      expect(warmed).toMatchObject({ redis: "link", redisVersion: 1, redisUrl: right, freshPercent: 100 });
    });

    test("a Redis without any server is not warmed", async () => {
      const empty = await startRedis();
      const env = { ...site.env, REDIS_URL: empty.url };
      const refused: Finished = await cli(["cache", "warm", "sale"], { env });
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("No server has used this Redis")]);
      expect(await empty.command("DBSIZE")).toBe("0");
      await empty.stop();
    });

    test("while Redis is unavailable a link can still be dropped, and the other commands say what is wrong", async () => {
      const code = await mendedLink(site);
      await redis.kill();
      must(await site.cli("cache", "drop", code));
      await until("the right address", async () => (await destination(site, code)) === right || undefined);
      const refused = await site.cli("cache", "get", code);
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("quicklink doctor")]);
      await redis.restart();
    });
  });
}
