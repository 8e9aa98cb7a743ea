/**
 * Links and their visitors, in groups that share neither. `cool` links stay below the number of clicks that are itemised,
 * `hot` ones go far beyond. `stopped` and `killed` are visited on servers that are about to end.
 */
import { createPeople, createPlanted, type Person } from "./people.ts";
import { createKnownLinks, type Site } from "./site.ts";
import type { KnownLink, Visit } from "./truth.ts";

export interface Groups {
  readonly links: readonly KnownLink[];
  readonly cool: Group;
  readonly hot: Group;
  readonly stopped: Group;
  readonly killed: Group;
  readonly planted: Group;
  /** Has a rule for a country, which tells whether a server knows countries. */
  readonly ready: KnownLink;
  readonly readyVisit: Visit;
  /** Cool and hot links. */
  shared(): Visit;
  /** Clicks of the past, by people who come only once more. */
  lateVisits(count: number): Visit[];
}

export interface Group {
  readonly links: readonly KnownLink[];
  next(): Visit;
}

/** Of shared visits. */
const coolShare = 0.15;

export async function createKnownGroups({ servers }: Site, short: boolean): Promise<Groups> {
  const [server] = servers;
  if (server === undefined) throw new Error("there is no server");
  const make = async (tag: string, links: number, people: readonly Person[], ruled = true): Promise<Group> =>
    groupOf(await createKnownLinks(server, tag, links, ruled), people);
  const cool = await make("cool", short ? 120 : 300, createPeople(0, short ? 400 : 1_200));
  const hot = await make("hot", short ? 2 : 4, createPeople(1, short ? 400 : 1_200));
  const stopped = await make("stopped", 40, createPeople(2, 300));
  const killed = await make("killed", 40, createPeople(3, 300));
  const planted = await make("planted", 1, createPlanted(), false);
  const { links: ready } = await make("ready", 1, []);
  const [first] = ready;
  const [person] = createPeople(4, 1);
  if (first === undefined || person === undefined) throw new Error("there is no link to wait for");
  let latecomers = 0;
  const late = createPeople(5, 1_200).filter(({ excluded }) => !excluded);
  return {
    links: [cool, hot, stopped, killed, planted, { links: ready }].flatMap(({ links }) => links),
    ...{ cool, hot, stopped, killed, planted, ready: first, readyVisit: { link: first, person } },
    shared: () => (Math.random() < coolShare ? cool : hot).next(),
    lateVisits(count) {
      const some = late.slice(latecomers, latecomers + count / 2);
      latecomers += some.length;
      // Everybody twice, on links of one group: which of two groups they came to first would be a matter of chance.
      return Array.from({ length: count }, (_, place) => {
        const who = place % some.length;
        const { links } = who % 2 === 0 ? cool : hot;
        return { link: links[(place * 7) % links.length] as KnownLink, person: some[who] as Person };
      });
    },
  };
}

function groupOf(links: readonly KnownLink[], people: readonly Person[]): Group {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)] as Item;
  return { links, next: () => ({ link: pick(links), person: pick(people) }) };
}
