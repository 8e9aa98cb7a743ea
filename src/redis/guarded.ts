import type { Breaker } from "../base/breaker.ts";
import type { Redis } from "./client.ts";

/** The same Redis, whose commands fail at once while it is open. Pings go through: they ask how it is. */
export const guarded = (redis: Redis, breaker: Breaker): Redis => ({
  ...redis,
  send: (key, command) => breaker.run(() => redis.send(key, command)),
  script: (script, keys, args) => breaker.run(() => redis.script(script, keys, args)),
  get generation() {
    return redis.generation;
  },
});
