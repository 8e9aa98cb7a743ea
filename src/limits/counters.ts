/**
 * Counters: limits that are checked and charged in one step, in the store. They serve emails, API calls and storage.
 * (Hits on links are too many for a call each; they are leased.)
 *
 * Words. A **limit** is a most (`max`) for a subject in a window, and the key it is counted under. A **charge** is an
 * amount against a limit. What is charged for good is **used**; what may still be given back or run out is **held**.
 *
 * What holds, on every adapter:
 * - All or nothing: either every charge of a call is granted or none is, and at every grant used + held ≤ max.
 * - A denial changes nothing. Denied is never unavailable: the one is the caller's, the other ours.
 * - Every call carries an id that the caller chose. Asked again it gives the same answer and charges nothing more, so
 *   whoever lost an answer repeats the id, with the same charges. A new attempt takes a new id.
 * - An id can be undone once. The second time is a no-op that says so, and the id then grants nothing any more: a free
 *   repeat would be credit out of nothing. What is given back goes to the window that it was taken from, or nowhere.
 * - Only a hold expires. It counts against whatever window is now until it is settled, released or expired; settled, it
 *   counts from that moment on. A settled hold is not released any more: whoever settles first has decided.
 * - `max` comes with every call. Raised, it is effective at once; lowered below what is used, nothing new is granted and
 *   nothing goes negative.
 * - Ids are remembered while their charge counts, at least a minute and at most a day; expired holds a day longer;
 *   denials 10 s, or until the retry if that is sooner, because denials are the one thing that no limit bounds. A
 *   forgotten id is unknown: to repeat it charges again, to undo it changes nothing. Both err to the safe side.
 * - Take before the effect: then a crash in between over-counts by one and never under-counts.
 */
import { isWindow, type Window } from "./window.ts";

export interface Limit {
  /** Which limit: `emailsPerHourSmtp`. */
  readonly name: string;
  /** Whose: a tenant's id, `platform`. */
  readonly subject: string;
  /** `null`: without limit, but still counted. */
  readonly max: number | null;
  readonly window: Window;
  /** Where it is counted, braces as a Cluster's hash tag: `tenant:{ten_…}:smtp`. Months add theirs: `…:2026-11`. */
  readonly key: string;
  /**
   * What is used, from the source of truth, asked only when the store knows nothing under the key: it is new, or the
   * store lost it. Counted from now on in a sliding window, which errs to the safe side. If it fails, so does the call.
   */
  readonly seed?: () => Promise<number>;
}

export interface Charge {
  readonly limit: Limit;
  /** A whole number from 1 to 2^53 - 1. */
  readonly amount: number;
}

export interface Invalid {
  readonly kind: "invalid";
  readonly reason: InvalidReason;
}

export type InvalidReason =
  | "amount"
  | "charges"
  | "id"
  /** The id already names a hold and is now given to a take, or the other way round. */
  | "id_in_use"
  | "key"
  | "max"
  | "partial_hold"
  | "ttl"
  | "version"
  | "window";

export interface Unavailable {
  readonly kind: "unavailable";
  readonly retryAfterMs: number;
}

export type CounterVerdict =
  | { readonly kind: "granted" }
  /** The limit that denies longest; `retryAfterMs` is when it would fit if nothing else happened, `null` is never. */
  | { readonly kind: "denied"; readonly limit: Limit; readonly retryAfterMs: number | null }
  /** The id was granted once and is over: do it again under a new one. */
  | { readonly kind: "closed"; readonly how: "released" | "expired" }
  | Invalid
  | Unavailable;

export type Settled =
  | { readonly kind: "settled" }
  | { readonly kind: "already"; readonly how: Ended }
  | { readonly kind: "unknown" }
  | Invalid
  | Unavailable;

export type Released =
  | { readonly kind: "released" }
  | { readonly kind: "already"; readonly how: Ended }
  | { readonly kind: "unknown" }
  /** More than was taken; nothing was given back. */
  | { readonly kind: "excessive"; readonly most: number }
  | Invalid
  | Unavailable;

export type Ended = "settled" | "released" | "expired";

export interface LimitStatus {
  readonly limit: Limit;
  readonly used: number;
  readonly held: number;
  readonly max: number | null;
  /** When what is used now has left the window; `null` when nothing is, or never will. */
  readonly resetsAt: number | null;
}

export type StatusAnswer = { readonly kind: "known"; readonly limits: readonly LimitStatus[] } | Invalid | Unavailable;

export type Synced = { readonly kind: "synced" } | { readonly kind: "older" } | Invalid | Unavailable;

export interface Counters {
  /** Charges for good. */
  take(id: string, charges: readonly Charge[]): Promise<CounterVerdict>;
  /** Charges until settled or released, at most `ttlMs`. */
  hold(id: string, charges: readonly Charge[], ttlMs: number): Promise<CounterVerdict>;
  /** Makes a hold final. */
  settle(id: string): Promise<Settled>;
  /** Undoes a take, or ends a hold. Of a take `amount` may be given back from each charge, once, and the rest stays. */
  release(id: string, amount?: number): Promise<Released>;
  status(limits: readonly Limit[]): Promise<StatusAnswer>;
  /**
   * Sets what is used of a total to what the source of truth says, unless a version at least as new was set before.
   * Holds stay apart: whoever makes a hold true there syncs first and releases the hold after, which may count it twice
   * for a moment and never not at all.
   */
  sync(limit: Limit, used: number, version: number): Promise<Synced>;
}

export const rememberLeastMs = 60_000;
export const rememberMostMs = 86_400_000;
export const rememberDenialMs = 10_000;
export const holdMostMs = 7 * 86_400_000;
/** Every call looks through the open holds of its limits; a limit that has this many open gets no more. */
export const openHoldsMost = 250;
export const chargesMost = 8;
export const unavailableRetryMs = 1_000;
const idMaxChars = 200;
const keyMaxChars = 300;

export const unavailable: Unavailable = { kind: "unavailable", retryAfterMs: unavailableRetryMs };
export const invalidCall = (reason: InvalidReason): Invalid => ({ kind: "invalid", reason });

/** Without limit still ends where numbers stop being exact. */
export const maxOf = (limit: Limit): number => limit.max ?? Number.MAX_SAFE_INTEGER;

export function refuseCall(id: string, charges: readonly Charge[], ttlMs?: number): Invalid | undefined {
  const amounts = charges.every(({ amount }) => isAmount(amount));
  const ttl = ttlMs === undefined || (isAmount(ttlMs) && ttlMs <= holdMostMs);
  if (charges.length === 0 || charges.length > chargesMost) return invalidCall("charges");
  return (
    refuseId(id) ??
    (amounts ? undefined : invalidCall("amount")) ??
    (ttl ? undefined : invalidCall("ttl")) ??
    refuseLimits(charges.map(({ limit }) => limit))
  );
}

export function refuseLimits(limits: readonly Limit[]): Invalid | undefined {
  const keys = new Set(limits.map(({ key }) => key));
  if (keys.size !== limits.length || limits.some(({ key }) => !isText(key, keyMaxChars))) return invalidCall("key");
  if (limits.some(({ max }) => max !== null && !isCount(max))) return invalidCall("max");
  return limits.every(({ window }) => isWindow(window)) ? undefined : invalidCall("window");
}

export const refuseId = (id: string): Invalid | undefined => (isText(id, idMaxChars) ? undefined : invalidCall("id"));

export const isAmount = (value: number): boolean => Number.isSafeInteger(value) && value > 0;
export const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

const isText = (value: string, most: number): boolean =>
  value.length > 0 && value.length <= most && /^[\x21-\x7e]+$/.test(value);

/** Asks the source of truth; an answer that cannot be counted with is a failure like any other. */
export async function seedOf(limit: Limit): Promise<number> {
  const used = await (limit.seed?.() ?? 0);
  if (!isCount(used)) throw new RangeError(`the seed of ${limit.key} is ${used}, which is not a count`);
  return used;
}

/** How long an id stands for a charge that counts until `until`. */
export function rememberedUntil(until: number, now: number): number {
  return Math.min(Math.max(until, now + rememberLeastMs), now + rememberMostMs);
}
