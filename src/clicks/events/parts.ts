import type { BareClicks, ClickBatch, ClickedLink } from "../click.ts";

/** A click of a batch. */
export interface PendingClick {
  /** In the batch: where its facts are. */
  readonly place: number;
  readonly link: ClickedLink;
  readonly at: number;
  readonly reason: number;
  readonly visitor: number;
}

export interface PendingBare extends Omit<BareClicks, "link"> {
  readonly link: ClickedLink;
}

/** What one transaction stores. */
export interface BatchPart {
  readonly batch: ClickBatch;
  /** In the order in which they happened. */
  readonly clicks: readonly PendingClick[];
  readonly bare: readonly PendingBare[];
  readonly dropped: number;
  readonly excluded: number;
}

/** A part of a batch has a number of its own: `sequence * partsMost + place`. */
export const partsMost = 1_000;

/** A link with more clicks than this in a part is likely beyond its cap: its clicks are added to one row. */
const usualOfLink = 50;
const repeatedWeight = 0.1;

/** The same parts every time, so that a batch that is sent again meets the numbers of its parts. */
export function partsOf(batch: ClickBatch, clicksMost: number): BatchPart[] {
  const { at, link, reason, visitor } = batch;
  const linkAt = (place: number): ClickedLink => {
    const found = batch.links[place];
    if (found === undefined) throw new Error("a click names a link that its batch does not have");
    return found;
  };
  const size = Math.max(clicksMost, Math.ceil((at.length + batch.bare.length) / (partsMost - 2)));
  const parts: BatchPart[] = [];
  const none = { dropped: 0, excluded: 0 };
  let clicks: PendingClick[] = [];
  let [weight, ofLinks] = [0, new Map<number, number>()];
  for (let place = 0; place < at.length; place++) {
    const linkPlace = link[place] ?? -1;
    const before = ofLinks.get(linkPlace) ?? 0;
    ofLinks.set(linkPlace, before + 1);
    weight += before < usualOfLink ? 1 : repeatedWeight;
    clicks.push({
      place,
      link: linkAt(linkPlace),
      at: at[place] ?? 0,
      reason: reason[place] ?? 0,
      visitor: visitor[place] ?? 0,
    });
    if (weight < size && place < at.length - 1) continue;
    parts.push({ batch, clicks, bare: [], ...none });
    [clicks, weight, ofLinks] = [[], 0, new Map()];
  }
  for (let start = 0; start < batch.bare.length; start += size) {
    const bare = batch.bare.slice(start, start + size).map((one) => ({ ...one, link: linkAt(one.link) }));
    parts.push({ batch, clicks: [], bare, ...none });
  }
  const { dropped, excluded } = batch;
  if (dropped + excluded > 0) parts.push({ batch, clicks: [], bare: [], dropped, excluded });
  return parts;
}
