import { createHmac, randomBytes } from "node:crypto";
import { type Clock, toIso } from "../base/clock.ts";
import { type Counters, type Limit, unavailable } from "./counters.ts";
import { networkOf } from "./network.ts";

/**
 * "An address may do this N times in a window", on all servers together. Guesses of codes, abuse reports and password
 * attempts are each such a limit.
 *
 * An address is known only by its name of the day: a hash of its network with a key of the day. Nothing that is stored,
 * sent or kept can be turned back into an address, and no name of today can be compared with tomorrow's.
 */
export interface AddressLimiter {
  /** The name of an address today; `undefined` if the address is unknown or invalid. */
  nameOf(address: string | undefined): string | undefined;
  /** The name shared by all addresses without a name. */
  unknownName(): string;
  /** Counts one against each of the limits, or against none. `tag` is the hash tag that their keys share. */
  take(tag: string, limits: readonly Limit[]): Promise<Taken>;
}

export type Taken =
  /** `undo` refunds it. */
  | { readonly kind: "granted"; undo(): Promise<void> }
  | { readonly kind: "denied"; readonly limit: Limit; readonly retryAfterMs: number }
  | { readonly kind: "unavailable"; readonly retryAfterMs: number };

export interface AddressLimiterSettings {
  readonly counters: Counters;
  readonly clock: Clock;
  /** A secret for a purpose, the same on every server. */
  readonly secretFor: (purpose: string) => Uint8Array;
}

/** What is limited: `purpose` keeps its names separate from all others, `action` is part of the IDs of its charges. */
export interface LimitedAction {
  readonly purpose: string;
  readonly action: string;
}

const hashBytes = 16;
/** Used when waiting does not help because the limit is 0: soon enough to notice a raised limit. */
const neverMs = 60_000;

export function createAddressLimiter(
  { counters, clock, secretFor }: AddressLimiterSettings,
  { purpose, action }: LimitedAction,
): AddressLimiter {
  const instance = randomBytes(9).toString("base64url");
  let today: { readonly date: string; readonly key: Uint8Array } = { date: "", key: new Uint8Array() };
  let taken = 0;

  function dayName(network: string): string {
    const date = toIso(clock.now()).slice(0, 10);
    if (today.date !== date) today = { date, key: secretFor(`${purpose} ${date}`) };
    return createHmac("sha256", today.key).update(network).digest().subarray(0, hashBytes).toString("base64url");
  }

  return {
    nameOf(address) {
      const network = address === undefined ? undefined : networkOf(address);
      return network === undefined ? undefined : dayName(network);
    },

    unknownName: () => dayName(""),

    async take(tag, limits) {
      const id = `{${tag}}/${action}/${instance}.${++taken}`;
      const verdict = await counters.take(
        id,
        limits.map((limit) => ({ limit, amount: 1 })),
      );
      switch (verdict.kind) {
        case "granted":
          return { kind: "granted", undo: () => counters.release(id).then(() => {}) };
        case "denied":
          return { kind: "denied", limit: verdict.limit, retryAfterMs: verdict.retryAfterMs ?? neverMs };
        case "unavailable":
          return verdict;
        default:
          return unavailable;
      }
    },
  };
}

/** For people: never 0, which would invite them to retry at once. */
export const toRetrySeconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));
