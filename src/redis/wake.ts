import type { Listening, Redis } from "./client.ts";

/**
 * Wakes the followers of the change feed, which then read it at once instead of within half a second. Nothing depends
 * on these messages: a follower that misses one still polls.
 */
const channel = "ql:invalidate";

export const onWake = (redis: Redis, work: () => void): Promise<Listening> => redis.listen(channel, work);

export async function wake(redis: Redis): Promise<void> {
  await redis.send(channel, ["PUBLISH", channel, ""]).catch(() => {});
}
