import type { MiddlewareHandler } from "hono";
import type { Clock } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import type { CallLimiter } from "../limits/call-limiter.ts";
import { callLimits, keyCalls } from "../limits/call-limiter.ts";
import type { Limit, LimitStatus } from "../limits/counters.ts";
import type { Window } from "../limits/window.ts";
import type { RouteEnv } from "./route.ts";

/**
 * Enforces calls per minute and reports the state: `RateLimit-Policy` and `RateLimit` as in
 * draft-ietf-httpapi-ratelimit-headers-10, on every response to a known caller, including refusals and errors.
 */
export function limitCalls(limiter: CallLimiter, clock: Clock): MiddlewareHandler<RouteEnv> {
  return async (c, next) => {
    const { tenant, key } = c.get("caller");
    const limits = callLimits({
      tenant: { id: tenant.id, max: tenant.limits.apiPerMinute },
      key: { id: key.id, max: key.apiPerMinute },
    });
    if (limits.length > 0) c.env.headers.set("ratelimit-policy", policyHeader(limits));
    const answer = await limiter.ask(tenant.id, limits);
    if (answer.kind === "unavailable") {
      throw new Problem("unavailable", "The rate limit cannot be checked right now. Try again shortly.", {
        retryAfterSeconds: seconds(answer.retryAfterMs),
      });
    }
    if (answer.limits.length > 0) c.env.headers.set("ratelimit", statusHeader(answer.limits, clock.now()));
    if (answer.kind === "denied") throw rateLimited(answer.limit, seconds(answer.retryAfterMs));
    await next();
  };
}

/** `"tenant";q=600;w=60, "key";q=100;w=60` */
export const policyHeader = (limits: readonly Limit[]): string =>
  limits.map((limit) => `"${nameOf(limit)}";q=${limit.max};w=${lengthSeconds(limit.window)}`).join(", ");

/** `"tenant";r=599;t=60`: what is left, and when the full limit is available again. */
export const statusHeader = (limits: readonly LimitStatus[], now: number): string =>
  limits
    .map(({ limit, used, held, max, resetsAt }) => {
      const left = Math.max(0, (max ?? 0) - used - held);
      return `"${nameOf(limit)}";r=${left};t=${seconds((resetsAt ?? now) - now)}`;
    })
    .join(", ");

const nameOf = (limit: Limit): string => (limit.name === keyCalls ? "key" : "tenant");

const lengthSeconds = (window: Window): number =>
  window.kind === "sliding" ? (window.bucketMs * window.buckets) / 1_000 : 0;

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));

function rateLimited(limit: Limit, retryAfterSeconds: number): Problem {
  const most = limit.max?.toLocaleString("en");
  const detail =
    limit.name === keyCalls
      ? `This API key has used its ${most} calls per minute. Wait ${retryAfterSeconds} s, or use a key with a higher limit.`
      : `Your tenant has used its ${most} API calls per minute. Wait ${retryAfterSeconds} s, or ask the operator to raise the limit.`;
  return new Problem("rate_limited", detail, { retryAfterSeconds });
}
