import type { LinkNumber } from "../../sql/schema.ts";
import { addId, type IdCounts, type IdValues, linkValue, otherLinks } from "./id-counts.ts";
import { addValue, clicksOf, peopleOf, type Tally, valuesMost } from "./tally.ts";

/**
 * Counts of a group by link. A tenant may have a million links with clicks in a day, and each of its groups counts them; a
 * roll-up keeps 300. So only the links with the most clicks are held in memory: links are counted in the order of their
 * numbers, a whole link at a time, and a link that is not among the first 300 so far will not be among them at the end.
 */
export function trimLinks({ links }: IdCounts, most: number = valuesMost): void {
  for (const values of [links.people, links.rest]) {
    // Sorted now and then, not for every page.
    if (values.size > 2 * most + 1) trim(values, most);
  }
}

function trim(values: IdValues, most: number): void {
  // The same order as in a tally that is trimmed.
  const sorted = [...values]
    .filter(([link]) => link !== otherLinks)
    .map(([link, count]) => ({ link, text: linkValue(link), ...count }))
    .sort((a, b) => b.clicks - a.clicks || (a.text < b.text ? -1 : 1));
  for (const { link, clicks, visitors } of sorted.slice(most)) {
    values.delete(link);
    addId(values, otherLinks, clicks, visitors);
  }
}

/** Clicks of an overflow row, which knows its link. */
export function addOverflowLink({ links }: IdCounts, link: LinkNumber, tally: Tally): void {
  const { people, rest } = classesOf(tally);
  if (people > 0) addId(links.people, link, people, tally.visitors);
  if (rest > 0) addId(links.rest, link, rest, 0);
}

/** The same as values of the tally itself. */
export function nameLink(tally: Tally, link: LinkNumber): void {
  const { people, rest } = classesOf(tally);
  if (people > 0) addValue(tally.people, "link", linkValue(link), people, tally.visitors);
  if (rest > 0) addValue(tally.rest, "link", linkValue(link), rest, 0);
}

function classesOf(tally: Tally): { people: number; rest: number } {
  const people = peopleOf(tally);
  return { people, rest: clicksOf(tally) - people };
}
