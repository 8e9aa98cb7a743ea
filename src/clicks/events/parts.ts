import type { BareClicks, ClickBatch, ClickedLink } from "../click.ts";

export interface PendingBare extends Omit<BareClicks, "link"> {
  readonly link: ClickedLink;
}

/** The clicks of a link: which places of its part they have, from `from` to before `to`. */
export interface LinkClicks {
  readonly link: ClickedLink;
  readonly from: number;
  readonly to: number;
}

/** What one transaction stores. */
export interface BatchPart {
  readonly batch: ClickBatch;
  /** Of its clicks in the batch. Link by link; those of a link in the order in which they happened. */
  readonly places: Uint32Array;
  readonly links: readonly LinkClicks[];
  readonly bare: readonly PendingBare[];
  readonly dropped: number;
  readonly excluded: number;
}

/** A part of a batch has a number of its own: `sequence * partsMost + place`. */
export const partsMost = 1_000;

/**
 * Further clicks of a link in a part are hardly ever events, of which a second has a bounded number: they are added to one row. With
 * ten clicks of new visitors for each link, which all have two rows of their own, a transaction takes some 10 ms.
 */
const repeatedWeight = 0.1;
const noClicks = new Uint32Array(0);

/**
 * The same parts every time, so that a batch that is sent again meets the numbers of its parts.
 *
 * Clicks of a link go together: each link has one row of totals, and its events are neighbours. With clicks in the order of
 * time, a transaction of 250 clicks on 1,000 links changed some hundred pages, and cost three times as much.
 *
 * There is no object for a click: a busy server has 30,000 of them a second, and most are only added up.
 */
export function partsOf(batch: ClickBatch, clicksMost: number): BatchPart[] {
  const linkAt = (place: number): ClickedLink => {
    const found = batch.links[place];
    if (found === undefined) throw new Error("a click names a link that its batch does not have");
    return found;
  };
  const places = placesByLink(batch);
  const size = Math.max(clicksMost, Math.ceil((places.length + batch.bare.length) / (partsMost - 2)));
  const parts: BatchPart[] = [];
  const none = { dropped: 0, excluded: 0 };
  let [start, weight, links]: [number, number, LinkClicks[]] = [0, 0, []];
  for (let from = 0; from < places.length; ) {
    const linkPlace = batch.link[places[from] ?? 0] ?? 0;
    let to = from;
    while (to < places.length && weight < size && batch.link[places[to] ?? 0] === linkPlace) {
      weight += to === from ? 1 : repeatedWeight;
      to++;
    }
    links.push({ link: linkAt(linkPlace), from: from - start, to: to - start });
    from = to;
    if (weight < size && from < places.length) continue;
    parts.push({ batch, places: places.subarray(start, from), links, bare: [], ...none });
    [start, weight, links] = [from, 0, []];
  }
  for (let start = 0; start < batch.bare.length; start += size) {
    const bare = batch.bare.slice(start, start + size).map((one) => ({ ...one, link: linkAt(one.link) }));
    parts.push({ batch, places: noClicks, links: [], bare, ...none });
  }
  const { dropped, excluded } = batch;
  if (dropped + excluded > 0) parts.push({ batch, places: noClicks, links: [], bare: [], dropped, excluded });
  return parts;
}

/** The places of a batch, by tenant and link. */
function placesByLink({ links, link }: ClickBatch): Uint32Array {
  const order = links
    .map(({ tenant, link }, place) => ({ tenant, link, place }))
    .sort((a, b) => a.tenant - b.tenant || a.link - b.link);
  const starts = new Uint32Array(links.length + 1);
  const counts = new Uint32Array(links.length);
  for (let place = 0; place < link.length; place++) {
    const of = link[place] ?? 0;
    counts[of] = (counts[of] ?? 0) + 1;
  }
  let start = 0;
  for (const { place } of order) {
    starts[place] = start;
    start += counts[place] ?? 0;
  }
  const places = new Uint32Array(link.length);
  for (let place = 0; place < link.length; place++) {
    const of = link[place] ?? 0;
    const at = starts[of] ?? 0;
    places[at] = place;
    starts[of] = at + 1;
  }
  return places;
}
