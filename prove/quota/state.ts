/** What SQL and Redis have of one link's hits, read directly. */
import { type Environment, until } from "../../test/ground/process.ts";
import type { RedisServer } from "../../test/ground/redis.ts";
import { look } from "../database.ts";

export interface State {
  /** Recorded in SQL. */
  readonly counted: number;
  /** On lease by SQL. */
  readonly reservedInSql: number;
  /** Whether SQL has ever granted a lease of it. */
  readonly lentBySql: boolean;
  /** Used as Redis sees it, including what is on lease. */
  readonly usedInRedis: number;
  /** Leases of Redis whose end it has not heard of. */
  readonly reservedInRedis: number;
}

/** Longer than a lease lives, is recorded and returned. */
const returnedMs = 12_000;

/** When nothing is reserved any more, or it has taken too long. */
export async function settledState(env: Environment, redis: RedisServer | undefined, code: string): Promise<State> {
  const isSettled = async () => {
    const { reservedInSql, reservedInRedis } = await stateOf(env, redis, code);
    return (reservedInSql === 0 && reservedInRedis === 0) || undefined;
  };
  await until("nothing to be reserved", isSettled, returnedMs).catch(() => {});
  return await stateOf(env, redis, code);
}

export async function stateOf(env: Environment, redis: RedisServer | undefined, code: string): Promise<State> {
  const inSql = await look(env, async ({ db }) => {
    const quotas = await db
      .selectFrom("quotas")
      .select(["counted", "reserved", "lent_until"])
      .where("code", "=", code)
      .where("draws", "=", "hits")
      .execute();
    return {
      counted: quotas.reduce((sum, row) => sum + row.counted, 0),
      reservedInSql: quotas.reduce((sum, row) => sum + row.reserved, 0),
      lentBySql: quotas.some(({ lent_until }) => lent_until > 0),
    };
  });
  if (redis === undefined) return { ...inSql, usedInRedis: 0, reservedInRedis: 0 };
  const [used, reserved] = (await redis.command("EVAL", readLeases, "0", `links:{*${code}}:hits:*`)).split(" ");
  return { ...inSql, usedInRedis: Number(used), reservedInRedis: Number(reserved) };
}

const readLeases = `
local used, reserved = 0, 0
for _, key in ipairs(redis.call("KEYS", ARGV[1])) do
  local fields = redis.call("HGETALL", key)
  for i = 1, #fields, 2 do
    if fields[i] == "u" then used = used + fields[i + 1] end
    local size = string.match(fields[i + 1], "^(%d+):%d+$")
    if string.sub(fields[i], 1, 2) == "l:" and size then reserved = reserved + size end
  end
end
return string.format("%.0f %.0f", used, reserved)`;
