import type { LinkNumber } from "../../sql/schema.ts";
import { isPerson, quarterOf } from "../click.ts";
import type { Step } from "./step.ts";

/**
 * At most 500 events for each link, quarter of an hour and class (people, the rest), in this process. Clicks beyond are
 * counted in overflow rows.
 */
export interface Caps {
  /** Which of these clicks, given in their order, become events. */
  split<Click extends CappedClick>(step: Step, clicks: readonly Click[]): { events: Click[]; beyond: Click[] };
}

interface CappedClick {
  readonly link: { readonly link: LinkNumber };
  readonly at: number;
  readonly reason: number;
}

export const eventsOfQuarterMost = 500;

/** Older quarters leave memory: a link has at most so many events once more if clicks of them still come. */
const quartersMost = 8;
/** Links and classes of one quarter. Beyond, counting starts again. */
const countedMost = 500_000;

export function createCaps(most = eventsOfQuarterMost): Caps {
  const quarters = new Map<number, Map<number, number>>();

  function countsOf(quarter: number): Map<number, number> {
    let counts = quarters.get(quarter);
    if (counts === undefined) {
      counts = new Map();
      quarters.set(quarter, counts);
      if (quarters.size > quartersMost) quarters.delete(Math.min(...quarters.keys()));
    }
    if (counts.size > countedMost) counts.clear();
    return counts;
  }

  return {
    split(step, clicks) {
      const events: (typeof clicks)[number][] = [];
      const beyond: (typeof clicks)[number][] = [];
      const added = new Map<number, Map<number, number>>();
      for (const click of clicks) {
        const quarter = quarterOf(click.at);
        const place = click.link.link * 2 + (isPerson(click.reason) ? 1 : 0);
        let here = added.get(quarter);
        if (here === undefined) {
          here = new Map();
          added.set(quarter, here);
        }
        const more = here.get(place) ?? 0;
        if ((quarters.get(quarter)?.get(place) ?? 0) + more < most) {
          here.set(place, more + 1);
          events.push(click);
        } else beyond.push(click);
      }
      step.onceStored(() => {
        for (const [quarter, here] of added) {
          const counts = countsOf(quarter);
          for (const [place, more] of here) counts.set(place, (counts.get(place) ?? 0) + more);
        }
      });
      return { events, beyond };
    },
  };
}
