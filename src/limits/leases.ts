import type { RefillProgress } from "./refill.ts";

/**
 * Where leases come from. An instance asks for a block of a limit, spends it without asking again, and says later what
 * it used. Both sides of the port know a lease by the id that the instance chose: an ask whose answer was lost is
 * repeated under the same id, and gets the same lease instead of a second one.
 */

/** Visits draw on `hits`; everything that does not count as a visit, on `exempt`, a limit of the same size. */
export type Draws = "hits" | "exempt";

/** A lease goes back to where it came from. */
export type Lender = "sql" | "redis";

export interface Ask {
  /** `<instance>.<number>`: whose it is stands before the dot. */
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
      /** What the lender calls it. */
      readonly lease: string;
      readonly size: number;
      /** `2026-11`, by the store's clock: what is spent of this lease belongs to this month. */
      readonly month: string;
      /** From when it was asked for. Ends with the month at the latest. */
      readonly validForMs: number;
    }
  | {
      readonly kind: "denied";
      readonly lender: Lender;
      /** Others may still give some back: worth asking again soon. */
      readonly outstanding: boolean;
      readonly secondsToMonthEnd: number;
    };

export interface LeaseStore {
  /** Throws when the store cannot answer; the fate of the ask is then unknown. Tells `progress` whom it waits for. */
  acquire(ask: Ask, progress?: RefillProgress): Promise<LeaseAnswer>;
}

/** One of a link's two limits in one month. */
export interface MonthOf {
  readonly key: string;
  readonly draws: Draws;
  readonly month: string;
}

/** What SQL knows of a month: counted there, and out on its own leases. Every ask to Redis carries it. */
export interface Total extends MonthOf {
  readonly total: number;
}

/** A lease that is over, and what was not spent of it; `all` takes back one whose answer never came. */
export interface EndedLease extends MonthOf {
  readonly lease: string;
  readonly unspent: number | "all";
}
