import type { Breakers } from "../base/breaker.ts";
import type { Redis } from "./client.ts";

/**
 * A Redis whose commands fail at once while the circuit breaker of the node that has the key is open. Pings still go
 * through, to see whether it has recovered.
 */
export const withBreakers = (redis: Redis, breakers: Breakers): Redis => ({
  ...redis,
  send: (key, command) => breakers.of(redis.ownerOf(key)).run(() => redis.send(key, command)),
  script: (script, keys, args, deadlineMs) =>
    breakers.of(redis.ownerOf(keys[0] ?? "")).run(() => redis.script(script, keys, args, deadlineMs)),
  get generation() {
    return redis.generation;
  },
});
