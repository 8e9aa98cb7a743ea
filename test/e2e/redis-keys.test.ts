/** docs/redis.md describes every key that a server writes to Redis, and no other: name, type, life and size. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { connectRedis, type Redis } from "../../src/redis/client.ts";
import { postgresAvailable } from "../ground/postgres.ts";
import { until } from "../ground/process.ts";
import { type RedisCluster, redisAvailable, startRedisCluster } from "../ground/redis.ts";
import { must, type Site, siteOf, startSite } from "./servers.ts";

interface Row {
  readonly pattern: string;
  readonly type: string;
  readonly livesMs: number | undefined;
  readonly bytes: number;
}

interface Found {
  readonly key: string;
  readonly type: string;
  /** -1: for ever. */
  readonly leftMs: number;
  readonly bytes: number;
}

const page = readFileSync(join(import.meta.dir, "../../docs/redis.md"), "utf8");
const instantMs = 30_000;
const unitsMs: Readonly<Record<string, number>> = { s: 1_000, min: 60_000, h: 3_600_000, days: 86_400_000 };
const rows: readonly Row[] = [...page.matchAll(/^\| `([^`]+)` \| (string|hash) \| ([^|]+) \| ≤ ([\d,]+) \|/gm)].map(
  ([, pattern = "", type = "", lives = "", bytes = ""]) => {
    const [, count, unit] = /^≤ (\d+) (s|min|h|days)$/.exec(lives) ?? [];
    if (unit === undefined && lives !== "none") throw new Error(`"${lives}" is not a life`);
    const livesMs = unit === undefined ? undefined : Number(count) * (unitsMs[unit] ?? 0);
    return { pattern, type, livesMs, bytes: Number(bytes.replaceAll(",", "")) };
  },
);

const words: Readonly<Record<string, string>> = {
  form: "v\\d+(?:\\.[0-9a-f]+)?",
  link: "[^{}]+",
  node: "[^{}]+",
  tenant: "ten_[0-9A-Za-z]+",
  key: "key_[0-9A-Za-z]+",
  provider: "(?:smtp|sendgrid)",
  address: "[^{}:]+",
  month: "\\d{4}-\\d{2}",
  id: ".+",
  tag: "[^{}]+",
};

const regexOf = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .split(/(<\w+>)/)
      .map((part) => (part.startsWith("<") ? words[part.slice(1, -1)] : part.replaceAll(/[{}.]/g, "\\$&")))
      .join("")}$`,
  );

/** The most specific one: the fewest places that can be anything. */
const rowOf = (key: string): Row | undefined =>
  rows
    .filter(({ pattern }) => regexOf(pattern).test(key))
    .toSorted((one, other) => one.pattern.split("<").length - other.pattern.split("<").length)[0];

if (postgresAvailable() && redisAvailable()) {
  describe("Redis", () => {
    let cluster: RedisCluster;
    let redis: Redis;
    let site: Site;
    const seen = new Map<string, Found>();

    beforeAll(async () => {
      cluster = await startRedisCluster();
      const settings = { REDIS_URL: cluster.url, QL_TRUSTED_PROXIES: "127.0.0.1", QL_GUESSES_PER_MINUTE: "1000" };
      const { server, env } = await startSite("PostgreSQL", settings);
      site = siteOf(server, { ...env, ...settings });
      redis = connectRedis(cluster.url, { deadlineMs: 5_000 });
      await until("Redis", () =>
        redis.ping().then(
          () => true,
          () => undefined,
        ),
      );
    }, 60_000);

    afterAll(async () => {
      await redis.close();
      await site.server.stop();
      await cluster.stop();
    });

    /** Some keys live for seconds: what was seen once counts. */
    async function look(): Promise<void> {
      for (const server of redis.servers()) {
        let cursor = "0";
        do {
          const [next, keys] = (await redis.sendTo(server, ["SCAN", cursor, "COUNT", "1000"])) as [string, string[]];
          cursor = next;
          for (const key of keys) {
            const asked = [
              ["TYPE", key],
              ["PTTL", key],
              ["MEMORY", "USAGE", key, "SAMPLES", "0"],
            ];
            const [type, left, bytes] = await Promise.all(asked.map((command) => redis.sendTo(server, command)));
            // Gone since it was listed.
            if (String(type) === "none" || Number(left) === -2) continue;
            seen.set(key, { key, type: String(type), leftMs: Number(left), bytes: Number(bytes) });
          }
        } while (cursor !== "0");
      }
    }

    async function form(path: string, fields: Record<string, string>): Promise<number> {
      const body = new URLSearchParams(fields);
      const headers = { "x-forwarded-for": "198.51.100.7" };
      return (await fetch(`${site.server.url}${path}`, { method: "POST", redirect: "manual", body, headers })).status;
    }

    test("has the keys that docs/redis.md describes, and no others", async () => {
      expect(rows.length).toBeGreaterThan(15);
      must(await site.cli("tenant", "update", "default", "--api", "1000", "--storage", "1000000"));
      const key = must(await site.cli("key", "create", "limited", "--per-minute", "100")).trim();
      const watching = setInterval(() => void look().catch(() => {}), 20);
      // What lives between two commands may never be caught.
      const lasting = rows.filter(({ livesMs = instantMs + 1 }) => livesMs > instantMs);
      const everyRow = () => lasting.filter((row) => ![...seen.keys()].some((name) => rowOf(name) === row));
      // Redis is written to once it was corrected.
      await until(
        "a key for every row",
        async () => {
          const limited = await site.create({ url: "https://example.com/", hitsPerMonth: 1_000 });
          const locked = await site.create({ url: "https://example.com/", password: "open sesame 8" });
          await site.reach(`/${limited.code}`);
          await site.reach(`/${limited.code}`, {}, "HEAD");
          await site.reach(`/nowhere-${limited.code}`, { "x-forwarded-for": "198.51.100.7" });
          await site.call("GET", "/api/links", { key });
          await form(`/${locked.code}`, { password: "wrong one" });
          await form(`/${locked.code}`, { password: "open sesame 8" });
          await form("/report", { code: limited.code, reason: "spam" });
          for (let i = 0; i < 5; i++)
            await site.call("POST", `/api/links/${limited.id}/share`, { body: { to: `ann${i}@example.com` } });
          await site.call("POST", "/api/files", { body: { name: "a.txt", size: 5, type: "text/plain" } });
          await site.store("hello");
          must(await site.cli("cache", "get", limited.code));
          await look();
          return everyRow().length === 0 || undefined;
        },
        60_000,
        () =>
          `without a key: ${everyRow()
            .map(({ pattern }) => pattern)
            .join(", ")}`,
      );
      clearInterval(watching);

      const wrong = [...seen.values()].flatMap((found) => {
        const row = rowOf(found.key);
        if (row === undefined) return [{ ...found, why: "no row describes it" }];
        const lives =
          row.livesMs === undefined ? found.leftMs === -1 : found.leftMs >= 0 && found.leftMs <= row.livesMs;
        const fits = row.type === found.type && lives && found.bytes <= row.bytes;
        return fits ? [] : [{ ...found, why: `${row.pattern} says otherwise` }];
      });
      expect(wrong).toEqual([]);
    }, 90_000);
  });
}
