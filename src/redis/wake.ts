import type { Listening, Redis } from "./client.ts";

/**
 * Wakes whoever follows the change feed: they read it at once instead of within half a second. Messages may be lost, and
 * who does not hear one looks by himself: nothing depends on them.
 */
const channel = "ql:invalidate";

export const onWake = (redis: Redis, work: () => void): Promise<Listening> => redis.listen(channel, work);

export async function wake(redis: Redis): Promise<void> {
  await redis.send(channel, ["PUBLISH", channel, ""]).catch(() => {});
}
