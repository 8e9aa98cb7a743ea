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
  ...{ batch: noBatch, place: 0, campaign: undefined },
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
      // All of them, and there is no room for more: they need not be copied.
      if (from === 0 && taken === room) return { texts, links: table.links, at, link, reason, visitor, facts };
      return {
        texts: [...texts],
        links: [...table.links],
        at: at.slice(from, taken),
        link: link.slice(from, taken),
        reason: reason.slice(from, taken),
        visitor: visitor.slice(from, taken),
        facts: facts.slice(from * width, taken * width),
      };
    },
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
      const { link, tenant, tags } = target;
      let place = find(key, target);
      if (place === undefined) {
        place = links.push({ link, tenant, ...splitKey(key), tags }) - 1;
        places.set(link, place);
        bytes += 2 * entryBytes + 2 * key.length + tags.reduce((sum, tag) => sum + entryBytes + 2 * tag.length, 0);
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
