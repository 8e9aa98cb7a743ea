import { systemClock } from "../base/clock.ts";
import { createLog } from "../base/log.ts";
import { openSql } from "../core.ts";
import { linkForm } from "../redirect/cache-format.ts";
import { databaseOn } from "../redis/cache.ts";
import { withRedis } from "../redis/with-redis.ts";
import { databaseName } from "../sql/migrate.ts";
import { type Check, fail } from "./finding.ts";

/** Whether the links in Redis are those of this database. If one of the two is unavailable, its own check says so. */
export const checkRedisDatabase: Check = async (config) => {
  const { REDIS_URL: url, embedded } = config;
  if (url === undefined || embedded) return [];
  const [ours, theirs] = await Promise.all([nameOf(config), namesIn(url)]).catch(() => [undefined, []] as const);
  if (ours === undefined || theirs.every((name) => name === ours)) return [];
  return [
    fail(
      "redis (cache)",
      "contains links of another database",
      "Give each database its own Redis, or another database number (redis://host/1). If the other database is gone, nothing is to be done: servers of this one take over after three minutes.",
    ),
  ];
};

async function nameOf(config: Parameters<Check>[0]): Promise<string | undefined> {
  const sql = await openSql(config, createLog("silent", { write() {} }, false, systemClock.now));
  try {
    return await databaseName(sql);
  } finally {
    await sql.close();
  }
}

const namesIn = (url: string): Promise<string[]> =>
  withRedis(url, async (redis) => {
    const names = await Promise.all(redis.servers().map((tag) => databaseOn(redis, linkForm.name, tag)));
    return names.flatMap((name) => name ?? []);
  });
