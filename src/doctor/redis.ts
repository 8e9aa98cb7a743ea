import { systemClock } from "../base/clock.ts";
import type { Redis } from "../redis/client.ts";
import { type RedisInfo, readInfo } from "../redis/info.ts";
import type { RedisUse } from "../redis/info-metrics.ts";
import { withRedis } from "../redis/with-redis.ts";
import { type Check, clockFinding, type Finding, fail, ok, warn } from "./finding.ts";

/** Redis for the cache, for limits, or one for both; each of its servers. */
export const checkRedis: Check = async ({ REDIS_URL: cacheUrl, limitsRedisUrl: limitsUrl }) => {
  const same = cacheUrl === limitsUrl;
  const findings = await Promise.all([
    cacheUrl === undefined ? [] : examine(same ? "both" : "cache", cacheUrl),
    limitsUrl === undefined || same ? [] : examine("limits", limitsUrl),
  ]);
  return findings.flat();
};

const versionLeast = 7;
const samplesWanted = 10;
const latencyMostMs = 5;
const pings = 5;

const names: Readonly<Record<RedisUse, string>> = {
  cache: "redis (cache)",
  limits: "redis (limits)",
  both: "redis (cache and limits)",
};

async function examine(use: RedisUse, url: string): Promise<Finding[]> {
  const name = names[use];
  try {
    return await withRedis(url, async (redis) => {
      const servers = redis.servers();
      const findings = await Promise.all(
        servers.map(async (server) => {
          const at = servers.length > 1 ? `${name} ${redis.nodeOf(server)}` : name;
          const [info, samples] = [await readInfo(redis, server), await readSamples(redis, server)];
          return [...judgeRedis(at, use, info, samples), ...(await measure(at, redis, server))];
        }),
      );
      return findings.flat();
    });
  } catch (error) {
    const setting = use === "limits" ? "LIMITS_REDIS_URL" : "REDIS_URL";
    return [fail(name, error, `Start it, or fix ${setting}. Servers work without Redis, but SQL carries its load.`)];
  }
}

/** `samples`: `undefined` if Redis does not let us ask, as with some hosted services. */
export function judgeRedis(name: string, use: RedisUse, info: RedisInfo, samples: number | undefined): Finding[] {
  const { version, maxBytes } = info;
  const megabytes = (bytes: number) => `${Math.round(bytes / 1_048_576)} MB`;
  return [
    Number.parseInt(version, 10) >= versionLeast
      ? ok(name, `version ${version}`)
      : fail(name, `version ${version}`, `Use version ${versionLeast} or later.`),
    maxBytes > 0
      ? ok(name, `maxmemory ${megabytes(maxBytes)}, ${megabytes(info.usedBytes)} used`)
      : fail(
          name,
          "no maxmemory: Redis grows until the machine has no memory left",
          "Set maxmemory; 4gb is a good start.",
        ),
    judgePolicy(name, use, info.policy),
    ...(use === "limits" ? [] : [judgeSamples(name, samples)]),
  ];
}

function judgePolicy(name: string, use: RedisUse, policy: string): Finding {
  const found = `maxmemory-policy ${policy}`;
  if (use === "limits") {
    if (policy === "noeviction") return ok(name, found);
    return warn(name, `${found}: an evicted counter must be rebuilt from SQL`, "Set maxmemory-policy noeviction.");
  }
  if (policy !== "volatile-lru") return fail(name, found, "Set maxmemory-policy volatile-lru.");
  if (use === "cache") return ok(name, found);
  return ok(name, `${found}; it also stores limits: evicted ones are rebuilt from SQL, see docs/limits.md`);
}

function judgeSamples(name: string, samples: number | undefined): Finding {
  const advice = `Set maxmemory-samples ${samplesWanted}; with fewer, links in use are evicted.`;
  if (samples === undefined) return warn(name, "cannot read maxmemory-samples", advice);
  const found = `maxmemory-samples ${samples}`;
  return samples >= samplesWanted ? ok(name, found) : warn(name, found, advice);
}

async function readSamples(redis: Redis, server: string): Promise<number | undefined> {
  const setting = "maxmemory-samples";
  try {
    const reply = await redis.sendTo(server, ["CONFIG", "GET", setting]);
    return Number((reply as Readonly<Record<string, string>>)[setting]);
  } catch {
    return undefined;
  }
}

async function measure(name: string, redis: Redis, server: string): Promise<Finding[]> {
  const times: number[] = [];
  for (let n = 0; n < pings; n++) {
    const started = systemClock.elapsed();
    await redis.sendTo(server, ["PING"]);
    times.push(systemClock.elapsed() - started);
  }
  const median = times.sort((a, b) => a - b)[Math.floor(pings / 2)] ?? 0;
  const found = `answers in ${median.toFixed(1)} ms`;
  const asked = systemClock.now();
  const [seconds, micros] = (await redis.sendTo(server, ["TIME"])) as [string, string];
  const now = Number(seconds) * 1_000 + Number(micros) / 1_000;
  return [
    median <= latencyMostMs
      ? ok(name, found)
      : warn(name, found, "Place Redis closer to the servers, and check what keeps it busy: redis-cli slowlog get."),
    clockFinding(`${name} clock`, now - (asked + systemClock.now()) / 2),
  ];
}
