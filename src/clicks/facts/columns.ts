import { type ClickTarget, type LinkKey, splitKey } from "../../links/link.ts";
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
  add(at: number, key: LinkKey, link: ClickTarget, reason: number, visitor: number, facts: readonly FactText[]): void;
  /** The oldest clicks, at most so many. */
  take(most: number): ClickColumns;
}

export type ClickColumns = Omit<ClickBatch, "bare" | "dropped" | "excluded">;

/** A value of a fact. It remembers its place in the columns that it was added to last. */
export interface FactText {
  readonly text: string;
  columns: Columns | undefined;
  place: number;
}

export const factText = (text: string): FactText => ({ text, columns: undefined, place: 0 });
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
    if (fact.text === none) return 0;
    if (fact.columns === columns) return fact.place;
    let place = textPlaces.get(fact.text);
    if (place === undefined) {
      place = texts.push(fact.text) - 1;
      textPlaces.set(fact.text, place);
      tableBytes += entryBytes + 2 * fact.text.length;
    }
    fact.columns = columns;
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

  const columns: Columns = {
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
  return columns;
}

function longer<List extends { set(list: List): void }>(list: List, room: List): List {
  room.set(list);
  return room;
}

/** The links of a batch. Clicks on a link before and after its tags changed have two entries. */
export interface ClickedLinks {
  readonly links: readonly ClickedLink[];
  readonly bytes: number;
  placeOf(key: LinkKey, link: ClickTarget): number;
}

export function createClickedLinks(): ClickedLinks {
  const links: ClickedLink[] = [];
  // A cached link keeps its object, so nearly every click finds its place without building a name.
  const known = new Map<ClickTarget, number>();
  const named = new Map<string, number>();
  let bytes = 0;
  return {
    links,
    get bytes() {
      return bytes;
    },
    placeOf(key, target) {
      const seen = known.get(target);
      if (seen !== undefined) return seen;
      const { link, tenant, tags } = target;
      const name = JSON.stringify([link, key, tags]);
      let place = named.get(name);
      if (place === undefined) {
        place = links.push({ link, tenant, ...splitKey(key), tags }) - 1;
        named.set(name, place);
        bytes += 2 * (entryBytes + 2 * name.length);
      }
      known.set(target, place);
      bytes += entryBytes;
      return place;
    },
  };
}
