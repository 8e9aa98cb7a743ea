import type { LinkKey } from "../../links/link.ts";
import { hitReasons } from "../../redirect/decide.ts";
import { type BareClicks, type ClickedLink, quarterOf } from "../click.ts";
import { type ClickedLinks, createClickedLinks, type RecordedLink } from "./columns.ts";

/**
 * Clicks that came when there was no room for their facts: counts per link, quarter of an hour and reason. When there is
 * no room for another count either, a click is only counted as dropped.
 */
export interface BareCounts {
  /** Clicks that are counted here. */
  readonly waiting: number;
  /** False: no room. */
  add(at: number, key: LinkKey, link: RecordedLink, reason: number): boolean;
  /** All counts, or undefined if there are none. `links` are what they refer to. */
  take(): { readonly links: readonly ClickedLink[]; readonly bare: readonly BareClicks[] } | undefined;
}

/** A count takes about 300 bytes with its link: 3 MB. */
export const bareMost = 10_000;

export function createBareCounts(most = bareMost): BareCounts {
  let table: ClickedLinks = createClickedLinks();
  let counts = new Map<string, { readonly link: number; readonly quarter: number; readonly reasons: number[] }>();
  let waiting = 0;

  return {
    get waiting() {
      return waiting;
    },
    add(at, key, target, reason) {
      const quarter = quarterOf(at);
      const name = `${target.link} ${quarter}`;
      let count = counts.get(name);
      if (count === undefined) {
        if (counts.size >= most) return false;
        count = { link: table.placeOf(key, target), quarter, reasons: new Array<number>(hitReasons.length).fill(0) };
        counts.set(name, count);
      }
      count.reasons[reason] = (count.reasons[reason] ?? 0) + 1;
      waiting++;
      return true;
    },
    take() {
      if (waiting === 0) return undefined;
      const taken = { links: table.links, bare: [...counts.values()] };
      [table, counts, waiting] = [createClickedLinks(), new Map(), 0];
      return taken;
    },
  };
}
