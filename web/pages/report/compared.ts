import { isPartlyKnown } from "../../../src/clicks/reports/itemised.ts";
import type { ClickReport } from "../../api/generated.ts";

type Previous = NonNullable<ClickReport["previous"]>;

export interface Compared {
  /** Null: nothing is compared, or it is known of no click of that period whether it matches. */
  readonly previous: Previous | null;
  /** Whether its numbers lack clicks. */
  readonly isLower: boolean;
  /** Whether a change is known: neither period lacks clicks. */
  readonly hasChange: boolean;
}

/** What a report may be compared with. A period whose single clicks are deleted does not count as one without clicks. */
export function comparedOf({ previous, itemised }: Pick<ClickReport, "previous" | "itemised">): Compared {
  const isLower = isPartlyKnown(previous?.itemised);
  const isUnknown = isLower && previous?.itemised?.clicks === 0;
  return { previous: isUnknown ? null : previous, isLower, hasChange: !isLower && !isPartlyKnown(itemised) };
}
