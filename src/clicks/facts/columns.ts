import { type ClickTarget, cacheKey, type LinkKey, splitKey } from "../../links/link.ts";
import { type ClickBatch, type ClickedLink, dimensions, none } from "../click.ts";

/**
 * Clicks with their facts, in columns: 47 bytes each, and every distinct text once. They wait like this for the writer,
 * because as strings they would take ten times the space and keep the garbage collector busy.
 */
export interface Columns {
  /** Clicks that have not been taken. */
  readonly waiting: number;
  /** Whether there is no room for another click. */
  readonly isFull: boolean;
  /** With an estimate for the texts and links. */
  readonly bytes: number;
  /** `visitor` is 0 if they may not be recognised. */
  add(at: number, key: LinkKey, link: RecordedLink, reason: number, visitor: number, facts: readonly FactText[]): void;
  /** The oldest clicks, at most so many. */
  take(most: number): ClickColumns;
}

export type ClickColumns = Omit<ClickBatch, "bare" | "dropped" | "excluded">;

/**
 * Where something is in the batch that it was added to last. By the number of the batch: a reference would keep the whole batch
 * in memory for as long as a value that nobody sends any more.
 */
interface LastPlace {
  batch: number;
  place: number;
}

/** A value of a fact, with its last place. */
export interface FactText extends LastPlace {
  readonly text: string;
}

export const factText = (text: string): FactText => ({ text, batch: noBatch, place: 0 });

/** What a click is recorded under, with its last place. It lives as long as the link is cached. */
export interface RecordedLink extends Omit<ClickTarget, "facts">, LastPlace {
  /** Whether facts are recorded now: both the link and its tenant allow them. */
  facts: boolean;
  /** The campaign of its first destination, which most clicks have. */
  campaign: KnownCampaign | undefined;
  /** As batches name it; made for its first click. */
  clicked: ClickedLink | undefined;
}

export interface KnownCampaign extends CampaignTexts {
  readonly destination: string;
}

export interface CampaignTexts {
  readonly source: FactText;
  readonly medium: FactText;
  readonly campaign: FactText;
  /** Scanned from a QR code of ours. */
  readonly scanned: boolean;
}

export const recordedLink = ({ link, tenant, tags, facts }: ClickTarget): RecordedLink => ({
  ...{ link, tenant, tags, facts },
  ...{ batch: noBatch, place: 0, campaign: undefined, clicked: undefined },
});

const noBatch = 0;
let lastBatch = noBatch;
const nextBatch = (): number => ++lastBatch;

export const noText: FactText = factText(none);

const width = dimensions.length;
/** Of an entry in a table besides its text: a map's entry, a string's header, an object. */
const entryBytes = 100;

const clickBytes = 8 + 2 + 1 + 8 + 2 * width;
/** Most seconds of most servers have fewer clicks. */
const roomAtFirst = 128;
/** A place takes 16 bits; one more click adds at most one text of each dimension. */
const textsMost = 65_535 - width;

export function createColumns(most: number): Columns {
  const batch = nextBatch();
  let room = Math.min(most, roomAtFirst);
  let at = new Float64Array(room);
  let link = new Uint16Array(room);
  let reason = new Uint8Array(room);
  let visitor = new Float64Array(room);
  let facts = new Uint16Array(room * width);
  const texts: string[] = [none];
  const textPlaces = new Map<string, number>();
  const table = createClickedLinks();
  let [taken, end, tableBytes] = [0, 0, 0];

  function placeOf(fact: FactText): number {
    if (fact.batch === batch) return fact.place;
    let place = fact.text === none ? 0 : textPlaces.get(fact.text);
    if (place === undefined) {
      place = texts.push(fact.text) - 1;
      textPlaces.set(fact.text, place);
      tableBytes += entryBytes + 2 * fact.text.length;
    }
    fact.batch = batch;
    fact.place = place;
    return place;
  }

  function grow(): void {
    room = Math.min(most, 2 * room);
    at = longer(at, new Float64Array(room));
    link = longer(link, new Uint16Array(room));
    reason = longer(reason, new Uint8Array(room));
    visitor = longer(visitor, new Float64Array(room));
    facts = longer(facts, new Uint16Array(room * width));
  }

  return {
    get waiting() {
      return end - taken;
    },
    get isFull() {
      return end === most || texts.length > textsMost;
    },
    get bytes() {
      return room * clickBytes + tableBytes + table.bytes;
    },
    add(time, key, target, why, who, values) {
      if (end === room) grow();
      at[end] = time;
      link[end] = table.placeOf(key, target);
      reason[end] = why;
      visitor[end] = who;
      const first = end * width;
      for (let i = 0; i < values.length; i++) facts[first + i] = placeOf(values[i] ?? noText);
      end++;
    },
    take(count) {
      const from = taken;
      taken = Math.min(end, taken + count);
      const copy = sharedColumns(taken - from);
      copy.at.set(at.subarray(from, taken));
      copy.link.set(link.subarray(from, taken));
      copy.reason.set(reason.subarray(from, taken));
      copy.visitor.set(visitor.subarray(from, taken));
      copy.facts.set(facts.subarray(from * width, taken * width));
      return { texts: [...texts], links: [...table.links], ...copy };
    },
  };
}

/** In memory that threads share, so that a batch is not copied twice more on its way to the one that writes it. */
function sharedColumns(clicks: number) {
  const memory = new SharedArrayBuffer(clicks * clickBytes);
  let used = 0;
  const next = (bytes: number): number => {
    used += bytes * clicks;
    return used - bytes * clicks;
  };
  // The widest first: each begins at a multiple of its width.
  return {
    at: new Float64Array(memory, next(8), clicks),
    visitor: new Float64Array(memory, next(8), clicks),
    facts: new Uint16Array(memory, next(2 * width), clicks * width),
    link: new Uint16Array(memory, next(2), clicks),
    reason: new Uint8Array(memory, next(1), clicks),
  };
}

function longer<List extends { set(list: List): void }>(list: List, room: List): List {
  room.set(list);
  return room;
}

/** The links of a batch. Clicks on a link before and after its tags changed have two entries. */
export interface ClickedLinks {
  readonly links: readonly ClickedLink[];
  readonly bytes: number;
  placeOf(key: LinkKey, link: RecordedLink): number;
}

export function createClickedLinks(): ClickedLinks {
  const batch = nextBatch();
  const links: ClickedLink[] = [];
  /** The last place of each link. */
  const places = new Map<number, number>();
  let bytes = 0;

  /** The place of the same link with the same tags, if it was loaded again since. */
  function find(key: LinkKey, { link, tags }: ClickTarget): number | undefined {
    const place = places.get(link);
    const known = place === undefined ? undefined : links[place];
    return known !== undefined && isNamed(known, key) && isSame(known.tags, tags) ? place : undefined;
  }

  return {
    links,
    get bytes() {
      return bytes;
    },
    placeOf(key, target) {
      // A cached link keeps its object until it is loaded again.
      if (target.batch === batch) return target.place;
      let place = find(key, target);
      if (place === undefined) {
        const { link, tenant, tags } = target;
        target.clicked ??= { link, tenant, ...splitKey(key), tags };
        place = links.push(target.clicked) - 1;
        places.set(link, place);
        bytes += 2 * entryBytes + 2 * key.length;
        for (const tag of tags) bytes += entryBytes + 2 * tag.length;
      }
      target.batch = batch;
      target.place = place;
      return place;
    },
  };
}

const isNamed = ({ domain, code }: ClickedLink, key: LinkKey): boolean => cacheKey(domain, code) === key;

const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((one, place) => one === others[place]);
