/** The events of one day, in the order of their key. */
import { dayMs } from "../../src/base/clock.ts";
import { dimensions, isPerson, quarterMs } from "../../src/clicks/click.ts";
import { levelMost, shelfOf } from "../../src/clicks/event-shelves.ts";
import { draw, drawFact, firsts, quarters, type Random, reasons } from "./spread.ts";
import { clicksOfDay, linkSpread, linksOfTenant, now, otherSpread, otherTenants, tenantClicksOfDay } from "./world.ts";

/** The columns of `clicks`, as many numbers for each event. */
export const eventColumns = [
  ...["day", "tenant", "level", "link", "at", "seq", "domain", "tags", "reason", "first"],
  ...dimensions,
] as const;
export const width = eventColumns.length;

const linkBits = 2 ** 15;
const levelBits = 2 ** 6;
const dayBits = 2 ** 27;

/** The large tenant has number -1, and the others follow; their domains come next. */
export const tenantNumber = (place: number): number => -1 - place;
export const domainNumber = (place: number): number => -2 - otherTenants - place;

/** A number that sorts like the key. The smallest number of a tenant comes first. */
function sortedKeys(clicks: number, day: number, random: Random): Float64Array {
  const all = clicksOfDay(clicks, day);
  const large = tenantClicksOfDay(clicks, day);
  const keys = new Float64Array(all);
  let kept = 0;
  for (let n = 0; n < all; n++) {
    const isLarge = n < large;
    const tenant = isLarge ? 0 : 1 + (random() % otherTenants);
    const link = isLarge ? draw(linkSpread, random) : linksOfTenant + tenant * 1_000 + draw(otherSpread, random);
    const at = draw(quarters, random) * quarterMs + (random() % quarterMs);
    if (day * dayMs + at >= now) continue;
    const level = shelfOf(Math.min(levelMost, Math.clz32(random())), at);
    keys[kept++] = (((otherTenants - tenant) * levelBits + level) * linkBits + link) * dayBits + at;
  }
  return keys.subarray(0, kept).sort();
}

/** Calls `take` with some thousand events at a time. The array is used again. */
export async function makeEvents(
  { clicks, day, random }: { readonly clicks: number; readonly day: number; readonly random: Random },
  take: (events: Float64Array, count: number) => void,
): Promise<number> {
  const keys = sortedKeys(clicks, day, random);
  const most = 4_000;
  const rows = new Float64Array(most * width);
  let filled = 0;
  for (const [seq, key] of keys.entries()) {
    const at = key % dayBits;
    const link = Math.floor(key / dayBits) % linkBits;
    const rest = Math.floor(key / dayBits / linkBits);
    const tenant = otherTenants - Math.floor(rest / levelBits);
    const reason = draw(reasons, random);
    const isOfPerson = isPerson(reason);
    let place = filled * width;
    rows[place++] = day;
    rows[place++] = tenantNumber(tenant);
    rows[place++] = rest % levelBits;
    rows[place++] = link + 1;
    rows[place++] = day * dayMs + at;
    rows[place++] = seq;
    rows[place++] = domainNumber(tenant);
    rows[place++] = 0;
    rows[place++] = reason;
    rows[place++] = isOfPerson ? draw(firsts, random) : 0;
    for (let fact = 0; fact < dimensions.length; fact++) rows[place++] = drawFact(fact, isOfPerson, random);
    if (++filled === most) {
      take(rows, filled);
      filled = 0;
    }
  }
  if (filled > 0) take(rows, filled);
  return keys.length;
}
