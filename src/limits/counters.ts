/**
 * Counters: limits that are checked and charged in one step, in the store. They serve emails, API calls and storage.
 * (Hits on links are too many for one call each; they are leased.)
 *
 * Terms. A **limit** is a maximum (`max`) for a subject in a window, and the key it is counted under. A **charge** is
 * an amount against a limit. A permanent charge is **used**; one that may still be released or expire is **held**.
 *
 * Guarantees of every adapter:
 * - All or nothing: either every charge of a call is granted or none, and at every grant used + held ≤ max.
 * - A denial changes nothing. Denied is never unavailable: the first is the caller's problem, the second ours.
 * - Every call has an ID chosen by the caller. Repeating it returns the same answer and charges nothing more, so a
 *   caller that lost the answer repeats the ID with the same charges. A new attempt uses a new ID.
 * - An ID can be undone once. The second time is a no-op that says so, and the ID then grants nothing any more: a free
 *   repeat would be credit out of nothing. A refund goes to the window it was charged in, or nowhere.
 * - Only holds expire. A hold counts against the current window until it is settled, released or expired; settled, it
 *   counts from that moment on. A settled hold cannot be released: the first to settle decides.
 * - `max` is passed with every call. A raised limit applies at once; if it is lowered below what is used, nothing new
 *   is granted and nothing goes negative.
 * - IDs are remembered while their charge counts, at least a minute and at most a day; expired holds a day longer;
 *   denials 10 s, or until the retry if that is sooner, because no limit bounds the number of denials. A forgotten ID
 *   is unknown: repeating it charges again, undoing it changes nothing. Both err on the safe side.
 * - Take before the effect: a crash in between over-counts by one and never under-counts.
 */
import { isWindow, type Window } from "./window.ts";

export interface Limit {
  /** Name of the limit: `emailsPerHourSmtp`. */
  readonly name: string;
  /** A tenant's ID, or `platform`. */
  readonly subject: string;
  /** `null`: no limit, but still counted. */
  readonly max: number | null;
  readonly window: Window;
  /** Counter key, with braces as a Cluster hash tag: `tenant:{ten_…}:smtp`. Months are appended: `…:2026-11`. */
  readonly key: string;
  /**
   * Reads what is used from the source of truth; called only when the store knows nothing under the key, because it is
   * new or was lost. In a sliding window it counts from now on, which errs on the safe side. If it fails, so does the
   * call.
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
  /** The ID names a hold and is now used for a take, or the other way round. */
  | "id_in_use"
  | "key"
  | "max"
  | "ttl"
  | "version"
  | "window";

export interface Unavailable {
  readonly kind: "unavailable";
  readonly retryAfterMs: number;
}

export type CounterVerdict =
  | { readonly kind: "granted" }
  /**
   * The limit that denies longest; `retryAfterMs` is when it would fit if nothing else happened, `null` means never.
   */
  | { readonly kind: "denied"; readonly limit: Limit; readonly retryAfterMs: number | null }
  /** The ID was granted once and has ended: use a new one. */
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
  /** More than was taken; nothing was refunded. */
  | { readonly kind: "excessive"; readonly most: number }
  | Invalid
  | Unavailable;

export type Ended = "settled" | "released" | "expired";

export interface LimitStatus {
  readonly limit: Limit;
  readonly used: number;
  readonly held: number;
  readonly max: number | null;
  /** When everything used now has left the window; `null` if nothing is used, or it never leaves. */
  readonly resetsAt: number | null;
}

export type StatusAnswer = { readonly kind: "known"; readonly limits: readonly LimitStatus[] } | Invalid | Unavailable;

export type Synced = { readonly kind: "synced" } | { readonly kind: "older" } | Invalid | Unavailable;

export interface Counters {
  /** Charges permanently. */
  take(id: string, charges: readonly Charge[]): Promise<CounterVerdict>;
  /** Charges until settled or released, at most `ttlMs`. */
  hold(id: string, charges: readonly Charge[], ttlMs: number): Promise<CounterVerdict>;
  /**
   * `hold` of one total, for a caller that has just read the source of truth: in one step, what is used is set as by `sync`,
   * and the amount is held if it fits. If less is held than should be, holds were lost: nothing is held before the caller has
   * restored them.
   */
  holdInSync(id: string, charge: Charge, ttlMs: number, truth: Truth): Promise<CounterVerdict | HoldsLost>;
  /** Makes a hold permanent. */
  settle(id: string): Promise<Settled>;
  /** Undoes a take, or ends a hold. */
  release(id: string): Promise<Released>;
  status(limits: readonly Limit[]): Promise<StatusAnswer>;
  /**
   * Sets what is used of a total to the source of truth's value, unless an equal or newer version was set before. Holds
   * are separate: a caller that makes a hold permanent there syncs first and releases the hold afterwards, which may
   * count it twice for a moment but never not at all.
   */
  sync(limit: Limit, used: number, version: number): Promise<Synced>;
}

/** What the source of truth says of a total. */
export interface Truth {
  readonly used: number;
  /** Grows with every change of `used`. */
  readonly version: number;
  /** At least this much should be held, without the new hold. */
  readonly held: number;
}

export interface HoldsLost {
  readonly kind: "lost";
}

export const rememberLeastMs = 60_000;
export const rememberMostMs = 86_400_000;
export const rememberDenialMs = 10_000;
const holdMostMs = 7 * 86_400_000;
/** Every call scans the open holds of its limits; a limit with this many open holds gets no more. */
export const openHoldsMost = 250;
const chargesMost = 8;
export const unavailableRetryMs = 1_000;
const idMaxChars = 200;
const keyMaxChars = 300;

export const unavailable: Unavailable = { kind: "unavailable", retryAfterMs: unavailableRetryMs };
export const invalidCall = (reason: InvalidReason): Invalid => ({ kind: "invalid", reason });

/** Without a limit, counting still ends where numbers stop being exact. */
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

export function refuseTruth({ window }: Limit, { used, version, held }: Truth): Invalid | undefined {
  if (window.kind !== "total") return invalidCall("window");
  if (!isCount(used) || !isCount(held)) return invalidCall("amount");
  return isCount(version) ? undefined : invalidCall("version");
}

export function refuseLimits(limits: readonly Limit[]): Invalid | undefined {
  const keys = new Set(limits.map(({ key }) => key));
  if (keys.size !== limits.length || limits.some(({ key }) => !isText(key, keyMaxChars))) return invalidCall("key");
  if (limits.some(({ max }) => max !== null && !isCount(max))) return invalidCall("max");
  return limits.every(({ window }) => isWindow(window)) ? undefined : invalidCall("window");
}

export const refuseId = (id: string): Invalid | undefined => (isText(id, idMaxChars) ? undefined : invalidCall("id"));

const isAmount = (value: number): boolean => Number.isSafeInteger(value) && value > 0;
export const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

const isText = (value: string, most: number): boolean =>
  value.length > 0 && value.length <= most && /^[\x21-\x7e]+$/.test(value);

/** Reads the source of truth; an unusable answer is a failure like any other. */
export async function seedOf(limit: Limit): Promise<number> {
  const used = await (limit.seed?.() ?? 0);
  if (!isCount(used)) throw new RangeError(`the seed of ${limit.key} is ${used}, which is not a count`);
  return used;
}

/** How long an ID is remembered for a charge that counts until `until`. */
export function rememberedUntil(until: number, now: number): number {
  return Math.min(Math.max(until, now + rememberLeastMs), now + rememberMostMs);
}
