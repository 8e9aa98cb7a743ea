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

/**
 * May this call be made? Asked of the counters before anything else is done for it, and of a policy while they do not
 * answer.
 *
 * Two states. **Answered**: the counters decide, and what they grant is also noted in counters of this process alone.
 * **Away**: after a call that they could not answer, they are left alone for as long as they said, and the policy decides;
 * then one call asks them again while the others still do not wait. The first answer ends it.
 *
 * Policies:
 * - `degrade`: this process counts for itself, going on from what it noted. In a minute of an outage each process grants
 *   at most the limit, and so all of them processes × the limit. When the counters are back they do not know of it: in
 *   the minute around their return it can be once the limit more.
 * - `open`: whatever comes is granted.
 * - `closed`: nothing is granted; the answer is unavailable, and never denied.
 */
export type OutagePolicy = "degrade" | "open" | "closed";

export type CallAnswer =
  /** What is left of each limit; nothing when nobody could say. */
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

/** How calls were answered, for whoever watches. */
export const callOutcomes = ["granted", "denied", "degraded", "open", "unavailable"] as const;
export type CallOutcome = (typeof callOutcomes)[number];

export interface CallLimiterSettings {
  readonly counters: Counters;
  /** Of this process alone; the same object where nobody else counts. */
  readonly own: Counters;
  readonly policy: OutagePolicy;
  readonly clock: Clock;
  readonly count: Record<CallOutcome, number>;
  /** Told when the counters stop answering, and when they answer again: once each. */
  readonly changed: (state: "away" | "answered") => void;
}

/** When waiting does not help, because the limit is 0: soon enough for a limit that was raised. */
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

  /** Nothing when the counters cannot say. */
  async function askCounters(id: string, charges: readonly Charge[]): Promise<CallAnswer | undefined> {
    // Others go on without an answer while this call looks whether there is one.
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

/** Sent together: Redis answers them in this order, over one connection, and so does a process. */
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
