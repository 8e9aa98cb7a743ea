import type { Redis, Subscriber } from "./client.ts";

/** Publish and subscribe: one connection for all subscriptions; messages go over the shared one, with its deadline. */
export interface Channels extends Subscriber {
  /** Throws if Redis is unavailable. */
  publish(channel: string, message: string): Promise<unknown>;
}

export function openChannels(redis: Pick<Redis, "send" | "subscriber">): Channels {
  const { subscribe, close } = redis.subscriber();
  return { subscribe, close, publish: (channel, message) => redis.send(channel, ["PUBLISH", channel, message]) };
}
