import type { RefillProgress } from "./refill.ts";

/**
 * Where leases come from. An instance asks for a block of a limit, spends it without asking again, and reports later
 * what it used. Both sides identify a lease by the ID that the instance chose: an ask whose answer was lost is repeated
 * under the same ID and gets the same lease, not a second one.
 */

/** Visits draw on `hits`; requests that do not count as visits draw on `exempt`, a limit of the same size. */
export type Draws = "hits" | "exempt";

/** A lease is returned to its lender. */
export type Lender = "sql" | "redis";

export interface Ask {
  /** `<instance>.<number>`. */
  readonly id: string;
  readonly key: string;
  readonly draws: Draws;
  readonly max: number;
  /** About a second of traffic. */
  readonly want: number;
}

export type LeaseAnswer =
  | {
      readonly kind: "granted";
      readonly lender: Lender;
      /** The lender's name for it. */
      readonly lease: string;
      readonly size: number;
      /** `2026-11`, by the store's clock: units spent from this lease belong to this month. */
      readonly month: string;
      /** Counted from when it was asked for. Ends with the month at the latest. */
      readonly validForMs: number;
    }
  | {
      readonly kind: "denied";
      readonly lender: Lender;
      /** Others may still return units: ask again soon. */
      readonly outstanding: boolean;
      readonly secondsToMonthEnd: number;
    };

/** What an asker learns if nothing remains. */
export type Denied = Extract<LeaseAnswer, { kind: "denied" }>;

/** A visit of a link that had none for some seconds: most of these links have no other soon, and need no lease. */
export interface FirstVisit {
  readonly key: string;
  readonly draws: Draws;
  readonly max: number;
  /** Its index in the list of reasons. */
  readonly reason: number;
}

/** It is counted, in this month; or nothing remains. */
export type FirstAnswer = { readonly kind: "counted"; readonly month: string } | Denied;

export interface LeaseStore {
  /**
   * Throws when the store cannot answer; the fate of the ask is then unknown. Tells `progress` which store it waits
   * for.
   */
  acquire(ask: Ask, progress?: RefillProgress): Promise<LeaseAnswer>;
}

/** One of a link's two limits in one month. */
export interface MonthOf {
  readonly key: string;
  readonly draws: Draws;
  readonly month: string;
}

/** What SQL knows of a month: counted there, and out on its leases. Every ask to Redis carries it. */
export interface Total extends MonthOf {
  readonly total: number;
}

/** The same after hits were recorded. */
export interface RecordedTotal extends Total {
  /** Without what is out on leases. */
  readonly counted: number;
}

/** A lease that has ended, and its unspent units; `all` takes back one whose answer never came. */
export interface EndedLease extends MonthOf {
  readonly lease: string;
  readonly unspent: number | "all";
}
