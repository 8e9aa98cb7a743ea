import { randomBytes } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import {
  type Charge,
  type Counters,
  type CounterVerdict,
  type Limit,
  type LimitStatus,
  type Unavailable,
  unavailable,
  unavailableRetryMs,
} from "./counters.ts";
import { slidingMinute } from "./window.ts";

/**
 * Decides whether an API call is allowed. Asks the counters before anything else is done for the call, and applies a
 * policy while they do not answer.
 *
 * Two states. **Answered**: the counters decide, and what they grant is also recorded in counters of this process.
 * **Away**: after a call that they could not answer, they are not asked for as long as they said, and the policy
 * decides; then one call asks again while the others do not wait. The first answer ends this state.
 *
 * Policies:
 * - `degrade`: this process counts by itself, starting from its record. During an outage each process grants at most
 *   the limit per minute, so all of them grant processes × the limit. The counters do not know of it when they return:
 *   the minute around their return can grant the limit once more.
 * - `open`: every call is granted.
 * - `closed`: no call is granted; the answer is unavailable, never denied.
 */
export type OutagePolicy = "degrade" | "open" | "closed";

export type CallAnswer =
  /** What is left of each limit; absent when it is unknown. */
  | { readonly kind: "granted"; readonly limits: readonly LimitStatus[] }
  | {
      readonly kind: "denied";
      readonly limit: Limit;
      readonly retryAfterMs: number;
      readonly limits: readonly LimitStatus[];
    }
  | Unavailable;

export interface CallLimiter {
  /** `tag` is the hash tag that the limits' keys have in common. */
  ask(tag: string, limits: readonly Limit[]): Promise<CallAnswer>;
}

/** How calls were answered, for metrics. */
export const callOutcomes = ["granted", "denied", "degraded", "open", "unavailable"] as const;
export type CallOutcome = (typeof callOutcomes)[number];

export interface CallLimiterSettings {
  readonly counters: Counters;
  /** Counters of this process; the same object when there are no shared ones. */
  readonly own: Counters;
  readonly policy: OutagePolicy;
  readonly clock: Clock;
  readonly count: Record<CallOutcome, number>;
  /** Called once when the counters stop answering, and once when they answer again. */
  readonly changed: (state: "away" | "answered") => void;
}

/** Used when waiting does not help because the limit is 0: soon enough to notice a raised limit. */
const neverMs = 60_000;

export function createCallLimiter(settings: CallLimiterSettings): CallLimiter {
  const { counters, own, policy, clock, count } = settings;
  const instance = randomBytes(9).toString("base64url");
  let calls = 0;
  let away = false;
  let leftAloneUntil = 0;

  function become(state: "away" | "answered"): void {
    if (away === (state === "away")) return;
    away = state === "away";
    settings.changed(state);
  }

  /** `undefined` when the counters cannot tell. */
  async function askCounters(id: string, charges: readonly Charge[]): Promise<CallAnswer | undefined> {
    // Other calls continue without an answer while this call tries.
    if (away) leftAloneUntil = clock.elapsed() + unavailableRetryMs;
    const { verdict, limits } = await take(counters, id, charges);
    if (verdict.kind === "unavailable") {
      leftAloneUntil = clock.elapsed() + verdict.retryAfterMs;
      become("away");
      return undefined;
    }
    leftAloneUntil = 0;
    become("answered");
    const answer = toAnswer(verdict, limits);
    if (answer.kind === "granted" && own !== counters) void own.take(id, charges.map(unlimited));
    count[answer.kind]++;
    return answer;
  }

  async function askPolicy(id: string, charges: readonly Charge[]): Promise<CallAnswer> {
    switch (policy) {
      case "open":
        count.open++;
        return { kind: "granted", limits: [] };
      case "closed":
        count.unavailable++;
        return unavailable;
      case "degrade": {
        const { verdict, limits } = await take(own, id, charges);
        count[verdict.kind === "unavailable" ? "unavailable" : "degraded"]++;
        return toAnswer(verdict, limits);
      }
    }
  }

  return {
    async ask(tag, limits) {
      if (limits.length === 0) return { kind: "granted", limits: [] };
      const id = `{${tag}}/api/${instance}.${++calls}`;
      const charges = limits.map((limit) => ({ limit, amount: 1 }));
      const answer = clock.elapsed() >= leftAloneUntil ? await askCounters(id, charges) : undefined;
      return answer ?? (await askPolicy(id, charges));
    },
  };
}

/** Sent together: Redis answers in this order over one connection, and so does the in-process store. */
async function take(
  counters: Counters,
  id: string,
  charges: readonly Charge[],
): Promise<{ verdict: CounterVerdict; limits: readonly LimitStatus[] }> {
  const [verdict, status] = await Promise.all([
    counters.take(id, charges),
    counters.status(charges.map(({ limit }) => limit)),
  ]);
  return { verdict, limits: status.kind === "known" ? status.limits : [] };
}

function toAnswer(verdict: CounterVerdict, limits: readonly LimitStatus[]): CallAnswer {
  switch (verdict.kind) {
    case "granted":
      return { kind: "granted", limits };
    case "denied":
      return { kind: "denied", limit: verdict.limit, retryAfterMs: verdict.retryAfterMs ?? neverMs, limits };
    case "unavailable":
      return verdict;
    default:
      throw new Error(`counters answered ${verdict.kind} to a call of a new id`);
  }
}

const unlimited = ({ limit, amount }: Charge): Charge => ({ limit: { ...limit, max: null }, amount });

/**
 * The limits on API calls: the tenant's, and below it those of keys with their own limit. A call counts for both or
 * neither. Their keys share a hash tag, so that one script handles both on a Redis Cluster too.
 */
export interface CallMaxes {
  readonly tenant: { readonly id: string; readonly max: number | null };
  readonly key: { readonly id: string; readonly max: number | null };
}

export const tenantCalls = "apiPerMinute";
export const keyCalls = "keyApiPerMinute";

export const personCalls = "personApiPerMinute";
/** A dashboard makes a few calls for each page. */
export const personCallsMost = 300;

/** Of calls that belong to no tenant: a person's own account, and what operators do. */
export const personCallLimit = (person: string): Limit => ({
  ...{ name: personCalls, subject: person, max: personCallsMost, window: slidingMinute },
  key: `person:{${person}}:api`,
});

/** Without a limit there is nothing to check: such calls are not counted, and no outage stops them. */
export function callLimits({ tenant, key }: CallMaxes): Limit[] {
  const counted = `tenant:{${tenant.id}}:api`;
  return [
    { name: tenantCalls, subject: tenant.id, max: tenant.max, window: slidingMinute, key: counted },
    { name: keyCalls, subject: key.id, max: key.max, window: slidingMinute, key: `${counted}:${key.id}` },
  ].filter(({ max }) => max !== null);
}
