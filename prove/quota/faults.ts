/** The faults of the proof. Each returns what is seen to have happened: a fault that had no effect is not named. */
import type { RedisServer } from "../../test/ground/redis.ts";
import type { Server } from "../../test/ground/server.ts";

export type Fault = () => Promise<readonly string[]>;

const pausedMs = 5_000;
const goneMs = 2_000;
/** Until every server has noticed that Redis is back. */
const returnMs = 3_000;
const silentMs = 1_000;

export async function pauseRedis(redis: RedisServer): Promise<string[]> {
  redis.pause();
  const isSilent = await Promise.race([
    redis.command("PING").then(
      () => false,
      () => true,
    ),
    Bun.sleep(silentMs).then(() => true),
  ]);
  await Bun.sleep(pausedMs - silentMs);
  redis.resume();
  await Bun.sleep(returnMs);
  return isSilent ? ["Redis was stopped for 5 s"] : [];
}

export async function loseRedis(redis: RedisServer, meanwhile: Fault = async () => []): Promise<string[]> {
  const [before, keys] = [redis.pid, Number(await redis.command("DBSIZE"))];
  await redis.kill();
  await Bun.sleep(goneMs / 2);
  const more = await meanwhile();
  await Bun.sleep(goneMs / 2);
  await redis.restart();
  await Bun.sleep(returnMs);
  return [...(redis.pid !== before && keys > 0 ? [`Redis was killed and lost ${keys} keys`] : []), ...more];
}

export async function kill(server: Server): Promise<string[]> {
  await server.kill();
  return (await isAnswering(server)) ? [] : ["a server was killed"];
}

export const isAnswering = (server: Server): Promise<boolean> =>
  fetch(`${server.url}/healthz`).then(
    () => true,
    () => false,
  );
