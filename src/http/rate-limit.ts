import type { MiddlewareHandler } from "hono";
import type { Clock } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import type { CallLimiter } from "../limits/call-limiter.ts";
import { callLimits, keyCalls, personCallLimit, personCalls } from "../limits/call-limiter.ts";
import type { Limit, LimitStatus } from "../limits/counters.ts";
import type { Window } from "../limits/window.ts";
import type { Person } from "../people/person.ts";
import { accessOfPath, type Caller, type RouteEnv } from "./route.ts";

/**
 * Enforces calls per minute and reports the state: `RateLimit-Policy` and `RateLimit` as in
 * draft-ietf-httpapi-ratelimit-headers-10, on every response to a known caller, including refusals and errors.
 */
export function limitCalls(limiter: CallLimiter, clock: Clock): MiddlewareHandler<RouteEnv> {
  return async (c, next) => {
    const place = accessOfPath(c.req.path);
    // Public routes limit their callers by address.
    if (place === "public") return await next();
    const { tag, limits } = place === "workspace" ? ofWorkspace(c.get("caller")) : ofPerson(c.get("signedIn").person);
    if (limits.length > 0) c.env.headers.set("ratelimit-policy", policyHeader(limits));
    const answer = await limiter.ask(tag, limits);
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

interface Limited {
  /** The hash tag of the limits' keys. */
  readonly tag: string;
  readonly limits: Limit[];
}

function ofWorkspace({ tenant, by }: Caller): Limited {
  const key = by.kind === "key" ? { id: by.key.id, max: by.key.apiPerMinute } : { id: by.person.id, max: null };
  return { tag: tenant.id, limits: callLimits({ tenant: { id: tenant.id, max: tenant.limits.apiPerMinute }, key }) };
}

const ofPerson = ({ id }: Person): Limited => ({ tag: id, limits: [personCallLimit(id)] });

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

const names: Readonly<Record<string, string>> = { [keyCalls]: "key", [personCalls]: "person" };
const nameOf = (limit: Limit): string => names[limit.name] ?? "tenant";

const lengthSeconds = (window: Window): number =>
  window.kind === "sliding" ? (window.bucketMs * window.buckets) / 1_000 : 0;

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));

function rateLimited(limit: Limit, retryAfterSeconds: number): Problem {
  const most = limit.max?.toLocaleString("en");
  if (limit.name === personCalls) {
    const wait = `You have used your ${most} calls per minute for your account. Wait ${retryAfterSeconds} s.`;
    return new Problem("rate_limited", wait, { retryAfterSeconds });
  }
  const detail =
    limit.name === keyCalls
      ? `This API key has used its ${most} calls per minute. Wait ${retryAfterSeconds} s, or use a key with a higher limit.`
      : `Your workspace has used its ${most} API calls per minute. Wait ${retryAfterSeconds} s, or ask the operator to raise the limit.`;
  return new Problem("rate_limited", detail, { retryAfterSeconds });
}
