import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../ground/ports.ts";
import { postgresAvailable, sharedPostgres } from "../ground/postgres.ts";
import type { Environment } from "../ground/process.ts";
import { type RedisServer, redisAvailable, startRedis, startRedisCluster } from "../ground/redis.ts";
import { startS3 } from "../ground/s3.ts";
import { cli } from "../ground/server.ts";
import { tempFolder } from "../ground/temp.ts";
import { databases, must, newDatabase } from "./servers.ts";

interface Finding {
  readonly status: "ok" | "warn" | "fail";
  readonly check: string;
  readonly found: string;
  readonly advice?: string;
}

/** With an address and keys that are right for every kind of server. */
const published = {
  ...{ QL_BASE_URL: "https://go.example.com", QL_TRUSTED_PROXIES: "127.0.0.1" },
  QL_SIGNING_KEYS: `k1:${"1".repeat(64)}`,
};

async function doctor(env: Environment): Promise<{ code: number; findings: Finding[] }> {
  const { code, stdout, stderr } = await cli(["doctor", "--json"], { env: { ...published, ...env } });
  expect(stderr).toBe("");
  return { code, findings: JSON.parse(stdout) as Finding[] };
}

/** How fast something answers is left out: this machine may be busy. */
const wrong = (findings: readonly Finding[]) =>
  findings.filter(({ status, found }) => status !== "ok" && !found.startsWith("answers in"));

const salt = "a salt for tests of the doctor";

describe.each([...databases])("doctor on %s", (database) => {
  test("finds nothing wrong with a database of today", async () => {
    const env = await newDatabase(database);
    must(await cli(["tenant", "list"], { env }));
    const { code, findings } = await doctor(env);
    expect([code, wrong(findings)]).toEqual([0, []]);
    expect(findings).toContainEqual({ status: "ok", check: "database schema", found: "up to date" });
  });
});

describe("doctor", () => {
  test("changes nothing where nothing is yet", async () => {
    const folder = tempFolder();
    const { code, findings } = await doctor({ QL_DATA: folder });
    expect([code, wrong(findings)]).toEqual([0, []]);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("names what is no setting, and fails at a value that cannot be used", async () => {
    const typo = await doctor({ QL_BASEURL: "https://go.example.com" });
    expect([typo.code, wrong(typo.findings)]).toMatchObject([0, [{ status: "warn", check: "settings" }]]);
    const bad = await doctor({ PORT: "many" });
    expect([bad.code, bad.findings]).toMatchObject([1, [{ status: "fail", found: expect.stringContaining("PORT") }]]);
  });

  test("fails where the data folder is no folder", async () => {
    const file = join(tempFolder(), "data");
    writeFileSync(file, "", { mode: 0o600 });
    const { code, findings } = await doctor({ QL_DATA: file });
    expect([code, wrong(findings)]).toMatchObject([1, [{ status: "fail", check: "data folder" }]]);
  });

  test("checks the file storage, and does not show its secret", async () => {
    const s3 = startS3();
    const well = await doctor({ S3_URL: s3.url });
    expect([well.code, wrong(well.findings)]).toEqual([0, []]);
    expect(well.findings).toContainEqual(
      expect.objectContaining({ check: "files", found: expect.stringContaining(s3.endpoint) }),
    );
    const refused = await doctor({ S3_URL: s3.url.replace("a%20secret", "hush") });
    const [code, findings] = [refused.code, wrong(refused.findings)];
    expect([code, findings]).toMatchObject([
      1,
      [{ check: "files", found: expect.stringContaining("the key is invalid") }],
    ]);
    expect(JSON.stringify(refused.findings)).not.toContain("hush");
    await s3.stop();
    expect(wrong((await doctor({ S3_URL: s3.url })).findings)).toMatchObject([{ status: "fail", check: "files" }]);
  });

  test("warns when the folder for files has little room", async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, "files"));
    const { code, findings } = await doctor({ QL_DATA: folder, QL_FILE_LIMIT: "5000000000" });
    const { bavail, bsize } = statfsSync(folder);
    const little = bavail * bsize < 50_000_000_000;
    expect([code, wrong(findings)]).toMatchObject([0, little ? [{ status: "warn", check: "files" }] : []]);
  });

  test("prints a line per finding", async () => {
    const { code, stdout } = await cli(["doctor"]);
    expect(code).toBe(0);
    for (const line of stdout.trimEnd().split("\n")) expect(line.split("\t")).toHaveLength(4);
  });
});

if (postgresAvailable()) {
  describe("doctor on PostgreSQL", () => {
    test("fails where it is unavailable, and where its tables are missing", async () => {
      const away = await doctor({
        DATABASE_URL: `postgres://nobody:hush@127.0.0.1:${freePort()}/none`,
        QL_CODE_SALT: salt,
      });
      expect([away.code, wrong(away.findings)]).toMatchObject([1, [{ status: "fail", check: "database" }]]);
      expect(JSON.stringify(away.findings)).not.toContain("hush");
      const url = await (await sharedPostgres()).createDatabase("doctor");
      const empty = await doctor({ DATABASE_URL: url, QL_CODE_SALT: salt });
      expect([empty.code, wrong(empty.findings)]).toMatchObject([
        1,
        [{ status: "fail", check: "database schema", advice: "Run: quicklink migrate" }],
      ]);
      expect(empty.findings).toContainEqual(expect.objectContaining({ status: "ok", check: "database clock" }));
    });
  });
}

if (postgresAvailable() && redisAvailable()) {
  describe("doctor on Redis", () => {
    const good = ["--maxmemory", "64mb", "--maxmemory-policy", "volatile-lru", "--maxmemory-samples", "10"];
    let env: Environment;
    let redis: RedisServer;

    beforeAll(async () => {
      env = await newDatabase("PostgreSQL");
      redis = await startRedis({ settings: good });
    });

    afterAll(() => redis.stop());

    test("finds nothing wrong with one that is set up for the cache, and says so if limits are in it", async () => {
      const both = await doctor({ ...env, REDIS_URL: redis.url });
      expect([both.code, wrong(both.findings)]).toEqual([0, []]);
      const said = both.findings.filter(({ check }) => check === "redis (cache and limits)").map(({ found }) => found);
      expect(said).toContainEqual(expect.stringContaining("it also stores limits"));
      expect(said).toContainEqual(expect.stringContaining("version 7"));
    });

    test.each([
      ["no bound", ["maxmemory", "0"], "fail", /maxmemory/],
      ["another policy", ["maxmemory-policy", "allkeys-lru"], "fail", /volatile-lru/],
      ["no eviction", ["maxmemory-policy", "noeviction"], "fail", /volatile-lru/],
      ["few samples", ["maxmemory-samples", "5"], "warn", /maxmemory-samples 10/],
    ] as const)("finds %s", async (_, [setting, value], status, advice) => {
      const usual = good[good.indexOf(`--${setting}`) + 1] ?? "";
      await redis.command("CONFIG", "SET", setting, value);
      const { code, findings } = await doctor({ ...env, REDIS_URL: redis.url });
      await redis.command("CONFIG", "SET", setting, usual);
      expect([code, wrong(findings)]).toMatchObject([
        status === "fail" ? 1 : 0,
        [{ status, check: "redis (cache and limits)", advice: expect.stringMatching(advice) }],
      ]);
    });

    test("looks at one for limits alone by other rules", async () => {
      const limits = await startRedis({ settings: ["--maxmemory", "64mb"] });
      const urls = { REDIS_URL: redis.url, LIMITS_REDIS_URL: limits.url };
      const well = await doctor({ ...env, ...urls });
      expect([well.code, wrong(well.findings)]).toEqual([0, []]);
      await limits.command("CONFIG", "SET", "maxmemory-policy", "volatile-lru");
      const evicting = await doctor({ ...env, ...urls });
      expect([evicting.code, wrong(evicting.findings)]).toMatchObject([
        0,
        [{ status: "warn", check: "redis (limits)", advice: expect.stringContaining("noeviction") }],
      ]);
      await limits.stop();
    });

    test("fails where one is unavailable, and still checks the other", async () => {
      const nowhere = `redis://127.0.0.1:${freePort()}`;
      const { code, findings } = await doctor({ ...env, REDIS_URL: nowhere, LIMITS_REDIS_URL: redis.url });
      expect(code).toBe(1);
      expect(findings).toContainEqual(
        expect.objectContaining({
          status: "fail",
          check: "redis (cache)",
          advice: expect.stringContaining("REDIS_URL"),
        }),
      );
      expect(findings).toContainEqual(expect.objectContaining({ status: "ok", check: "redis (limits)" }));
    });

    test("looks at every shard of a cluster", async () => {
      const cluster = await startRedisCluster();
      await cluster.shards[1]?.command("CONFIG", "SET", "maxmemory", "64mb");
      const { code, findings } = await doctor({ ...env, REDIS_URL: cluster.url });
      const unbounded = findings.filter(({ found }) => found.startsWith("no maxmemory")).map(({ check }) => check);
      const expected = [cluster.shards[0], cluster.shards[2]].map(
        (one) => `redis (cache and limits) 127.0.0.1:${one?.port}`,
      );
      expect([code, unbounded.toSorted()]).toEqual([1, expected.toSorted()]);
      await cluster.stop();
    });
  });
}
