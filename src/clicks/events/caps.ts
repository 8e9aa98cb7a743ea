import { type ClickBatch, isPerson, quarterOf } from "../click.ts";
import { fillEvenly } from "./fill-evenly.ts";
import type { BatchPart } from "./parts.ts";
import type { QuarterClicks } from "./quarter-clicks.ts";
import type { Step } from "./step.ts";

/**
 * At most 500 events for each link, quarter of an hour and class (people, the rest), in this process. Clicks beyond are
 * counted in overflow rows.
 *
 * A process also writes a bounded number of events a second. When more clicks come, caps are lowered, so that each tenant
 * gets the same share, and each of its links the same number of events in this quarter: a link with few clicks keeps all of its
 * events as long as busier ones have more. (ADR 0054)
 */
export interface Caps {
  /** Once for each batch, before its parts. */
  plan(batch: ClickBatch): CapPlan;
  /** Which clicks of a part become events: 1 at their place in it. */
  split(step: Step, part: BatchPart, clicks: readonly QuarterClicks[], plan: CapPlan): SplitClicks;
}

export interface SplitClicks {
  readonly isEvent: Uint8Array;
  readonly events: number;
}

/** Lowered caps, by quarter, and by link and class. */
export type CapPlan = ReadonlyMap<number, ReadonlyMap<number, number>> | undefined;

export interface CapSettings {
  /** Of a link, quarter and class. */
  readonly most?: number;
  /** Without a limit if not given. */
  readonly eventsPerSecond?: number | undefined;
  /** In milliseconds. */
  readonly elapsed?: () => number;
}

export const eventsOfQuarterMost = 500;

/** Older quarters leave memory: a link has at most so many events once more if clicks of them still come. */
const quartersMost = 8;
/** Links and classes of one quarter. Beyond, counting starts again. */
const countedMost = 500_000;
/** Batches come every second: what a quiet second leaves is not saved up. */
const burstSeconds = 1;

/** What is left of a share begins with another link each time: a prime, so that all get their turn. */
const turnBy = 7_919;

/** The rest, and people. */
const classes = [0, 1] as const;
const linkAndClass = (link: number, reason: number): number => link * 2 + (isPerson(reason) ? 1 : 0);

export function createCaps(settings: CapSettings = {}): Caps {
  const { most = eventsOfQuarterMost, eventsPerSecond, elapsed = () => 0 } = settings;
  const quarters = new Map<number, Map<number, number>>();
  const burst = burstSeconds * (eventsPerSecond ?? 0);
  let [left, leftAt, turn] = [burst, elapsed(), 0];

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

  /** What links could have, at most `amount` of it in all. */
  function lower(batch: ClickBatch, amount: number): { caps: Map<number, Map<number, number>>; events: number } {
    const wanting = wantingLinks(batch, quarters, most);
    const tenants = [...Map.groupBy(wanting, ({ tenant }) => tenant).values()];
    const wants = tenants.map((links) => ({ bottom: 0, top: sumOf(links.map(({ bottom, top }) => top - bottom)) }));
    const caps = new Map<number, Map<number, number>>();
    let events = 0;
    turn += turnBy;
    for (const [tenant, share] of fillEvenly(wants, amount, turn).entries()) {
      const links = tenants[tenant] ?? [];
      events += share;
      for (const [place, cap] of fillEvenly(links, share, turn).entries()) {
        const link = links[place];
        if (link === undefined) continue;
        const ofQuarter = caps.get(link.quarter) ?? new Map<number, number>();
        caps.set(link.quarter, ofQuarter.set(link.name, cap));
      }
    }
    return { caps, events };
  }

  return {
    plan(batch) {
      if (eventsPerSecond === undefined) return undefined;
      const now = elapsed();
      left = Math.min(burst, left + ((now - leftAt) / 1_000) * eventsPerSecond);
      leftAt = now;
      if (batch.at.length <= left) {
        left -= batch.at.length;
        return undefined;
      }
      const { caps, events } = lower(batch, Math.floor(left));
      left -= events;
      return caps;
    },

    split(step, { batch, places }, clicks, plan) {
      const isEvent = new Uint8Array(places.length);
      const added = new Map<number, Map<number, number>>();
      let events = 0;
      for (const { link, quarter, from, to, people } of clicks) {
        let here = added.get(quarter);
        if (here === undefined) {
          here = new Map();
          added.set(quarter, here);
        }
        const before = quarters.get(quarter);
        const lowered = plan?.get(quarter);
        for (const ofClass of classes) {
          if ((ofClass === 1 ? people : to - from - people) === 0) continue;
          const name = link.link * 2 + ofClass;
          const more = here.get(name) ?? 0;
          const room = Math.min(most, lowered?.get(name) ?? most) - (before?.get(name) ?? 0) - more;
          const taken = takeFirst(batch.reason, places, from, to, ofClass === 1, room, isEvent);
          if (taken > 0) here.set(name, more + taken);
          events += taken;
        }
      }
      step.onceStored(() => {
        for (const [quarter, here] of added) {
          const counts = countsOf(quarter);
          for (const [name, more] of here) counts.set(name, (counts.get(name) ?? 0) + more);
        }
      });
      return { isEvent, events };
    },
  };
}

/** Marks the first clicks of a class, as many as there is room for. */
function takeFirst(
  reason: Uint8Array,
  places: Uint32Array,
  from: number,
  to: number,
  ofPeople: boolean,
  room: number,
  isEvent: Uint8Array,
): number {
  let taken = 0;
  for (let n = from; n < to && taken < room; n++) {
    if (isPerson(reason[places[n] ?? 0] ?? 0) !== ofPeople) continue;
    isEvent[n] = 1;
    taken++;
  }
  return taken;
}

interface WantingLink {
  readonly tenant: number;
  readonly quarter: number;
  /** Link and class. */
  readonly name: number;
  /** Events that it has in this quarter, and that it could have with this batch. */
  readonly bottom: number;
  top: number;
}

function wantingLinks(
  { at, link, reason, links }: ClickBatch,
  quarters: ReadonlyMap<number, ReadonlyMap<number, number>>,
  most: number,
): WantingLink[] {
  const wanting: WantingLink[] = [];
  for (const [quarter, clicks] of countByQuarter(at, link, reason, links.length)) {
    // A link whose tags changed occurs twice in a batch.
    const byName = new Map<number, WantingLink>();
    const had = quarters.get(quarter);
    for (let place = 0; place < clicks.length; place++) {
      const count = clicks[place] ?? 0;
      const of = links[place >> 1];
      if (count === 0 || of === undefined) continue;
      const name = of.link * 2 + (place & 1);
      const known = byName.get(name);
      const bottom = had?.get(name) ?? 0;
      if (known !== undefined) known.top = Math.min(most, known.top + count);
      else byName.set(name, { tenant: of.tenant, quarter, name, bottom, top: Math.min(most, bottom + count) });
    }
    for (const one of byName.values()) if (one.top > one.bottom) wanting.push(one);
  }
  return wanting;
}

/** Clicks of each quarter, by place of the link in the batch and class. */
function countByQuarter(
  at: Float64Array,
  link: Uint16Array,
  reason: Uint8Array,
  links: number,
): Map<number, Uint32Array> {
  const quarters = new Map<number, Uint32Array>();
  let [quarter, counts]: [number, Uint32Array] = [-1, new Uint32Array(0)];
  for (let place = 0; place < at.length; place++) {
    const here = quarterOf(at[place] ?? 0);
    if (here !== quarter) {
      quarter = here;
      counts = quarters.get(here) ?? new Uint32Array(2 * links);
      quarters.set(here, counts);
    }
    const name = linkAndClass(link[place] ?? 0, reason[place] ?? 0);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return quarters;
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);
