import { randomBytes } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import type { Counters, Limit } from "./counters.ts";
import { createDayNames } from "./day-names.ts";
import { networkOf } from "./network.ts";
import { slidingHour, type Window } from "./window.ts";

/**
 * A limit on trying passwords: so many for an address and a link in a quarter of an hour, and so many for a link from
 * everywhere in an hour, on all servers together. A try is counted before it is looked at, and given back if it was
 * right: an office behind one address may come in one after the other.
 *
 * An address is known here only by its name of the day. When the counters cannot be asked nobody may try, for a short
 * password lasts only as long as tries are few; whoever is in stays in.
 */
export interface Attempts {
  begin(key: string, address: string | undefined): Promise<Attempt>;
}

export type Attempt =
  | { readonly kind: "granted"; undo(): Promise<void> }
  | { readonly kind: "denied"; readonly retryAfterSeconds: number }
  | { readonly kind: "unavailable"; readonly retryAfterSeconds: number };

export interface AttemptSettings {
  readonly counters: Counters;
  readonly clock: Clock;
  /** A secret for a purpose, the same on every server. */
  readonly secretFor: (purpose: string) => Uint8Array;
}

export const attemptsPerAddress = 10;
export const attemptsPerLink = 100;
const quarterHour: Window = { kind: "sliding", bucketMs: 15_000, buckets: 60 };
const retryMs = 15_000;

export function createAttempts({ counters, clock, secretFor }: AttemptSettings): Attempts {
  const instance = randomBytes(9).toString("base64url");
  let begun = 0;

  const dayName = createDayNames("attempts", secretFor, clock);
  /** Those whose address is not known are one. */
  const nameOf = (address: string | undefined): string =>
    dayName((address === undefined ? undefined : networkOf(address)) ?? "");

  return {
    async begin(key, address) {
      const name = nameOf(address);
      const id = `{${key}}/attempt/${instance}.${++begun}`;
      const here: Limit = {
        ...{ name: "attemptsPerAddress", subject: name, max: attemptsPerAddress, window: quarterHour },
        key: `attempts:{${key}}:${name}`,
      };
      const all: Limit = {
        ...{ name: "attemptsPerLink", subject: key, max: attemptsPerLink, window: slidingHour },
        key: `attempts:{${key}}`,
      };
      const verdict = await counters.take(id, [
        { limit: here, amount: 1 },
        { limit: all, amount: 1 },
      ]);
      if (verdict.kind === "granted") {
        return { kind: "granted", undo: () => counters.release(id).then(() => {}) };
      }
      const waitMs = "retryAfterMs" in verdict ? verdict.retryAfterMs : null;
      return {
        kind: verdict.kind === "denied" ? "denied" : "unavailable",
        retryAfterSeconds: Math.max(1, Math.ceil((waitMs ?? retryMs) / 1_000)),
      };
    },
  };
}
