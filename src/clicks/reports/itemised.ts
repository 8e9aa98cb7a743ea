/** Clicks of which it is known whether they pass the filters of a report, of all clicks of its subject in the range. */
export interface Itemised {
  readonly clicks: number;
  readonly of: number;
}

/** Then what was counted is the least that there may be, and says nothing about a change. Never without filters. */
export const isPartlyKnown = <One extends Itemised>(itemised: One | null | undefined): itemised is One =>
  itemised != null && itemised.clicks < itemised.of;
