/**
 * Where leases come from. An instance asks for a block of a limit, spends it without asking again, and says later what
 * it used. Both sides of the port know a lease by the id that the instance chose: an ask whose answer was lost is
 * repeated under the same id, and gets the same lease instead of a second one.
 */

/** Visits draw on `hits`; everything that does not count as a visit, on `exempt`, a limit of the same size. */
export type Draws = "hits" | "exempt";

export interface Ask {
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
      readonly size: number;
      /** `2026-11`, by the store's clock: what is spent of this lease belongs to this month. */
      readonly month: string;
      /** Ends with the month at the latest. */
      readonly validForMs: number;
    }
  | {
      readonly kind: "denied";
      /** Others may still give some back: worth asking again soon. */
      readonly outstanding: boolean;
      readonly secondsToMonthEnd: number;
    };

export interface LeaseStore {
  /** Throws when the store cannot answer; the fate of the ask is then unknown. */
  acquire(ask: Ask): Promise<LeaseAnswer>;
}
