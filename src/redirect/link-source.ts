import type { LookupAnswer } from "../cache/cache.ts";
import type { LoadMany } from "../cache/gathered-source.ts";
import { type RecordedLink, recordedLink } from "../clicks/facts/columns.ts";
import type { Meter } from "../limits/meters.ts";
import { hitsWithin, type MeteredTarget, splitKey } from "../links/link.ts";
import type { Choice } from "../links/routing/choice.ts";
import type { LinkStore } from "../links/store.ts";
import { isUnavailable } from "../sql/sql.ts";
import { type KnownTenants, type Standing, unknownStanding } from "../tenants/known-tenants.ts";
import type { Redirection } from "./redirection.ts";

/** What memory keeps of a link besides its target, for its next visit. Looking each up by key is slow when many links are in use. */
export interface CachedLink extends MeteredTarget {
  /**
   * Its answer, kept from the second visitor on: most links have one visitor while they are in memory, and an answer takes half
   * as much room as the rest of a link. Null after the first visitor.
   */
  redirection: Redirection | null | undefined;
  /** The same for other destinations, of rules and of a split. */
  otherRedirections: Map<string, Redirection> | undefined;
  meter: Meter | undefined;
  /** Of its tenant, when it was last used. */
  standing: Standing;
  /** Its `facts` are those of the link and its tenant. */
  readonly clicks: RecordedLink;
  readonly ownFacts: boolean;
}

export const cachedLink = (target: MeteredTarget): CachedLink => ({
  ...target,
  ...{ redirection: undefined, otherRedirections: undefined, meter: undefined, standing: unknownStanding },
  ...{ clicks: recordedLink(target.clicks), ownFacts: target.clicks.facts },
});

/** The link alone, as it is stored. */
export const storedTarget = ({ clicks, ownFacts, ...link }: CachedLink): MeteredTarget => ({
  ...link,
  clicks: { ...clicks, facts: ownFacts },
});

/** How many hits it may have this month, by what its tenant is allowed today; null: no limit. */
export const hitsMaxOf = ({ hitsPerMonth, standing }: Pick<CachedLink, "hitsPerMonth" | "standing">): number | null =>
  hitsWithin(hitsPerMonth, standing.hitsPerLink);

/** The same, if it has been used. */
export const knownHitsMax = (link: Pick<CachedLink, "hitsPerMonth" | "standing">): number | null | undefined =>
  link.standing === unknownStanding ? undefined : hitsMaxOf(link);

/** Whether it has the standing of its tenant; else it must be looked up. Never waits. */
export function isSettled(link: CachedLink | undefined, tenants: KnownTenants): boolean {
  if (link === undefined || link.standing.generation === tenants.generation) return true;
  const standing = tenants.peek(link.clicks.tenant);
  if (standing !== undefined) settle(link, standing);
  return standing !== undefined;
}

export function settle(link: CachedLink, standing: Standing): void {
  link.standing = standing;
  link.clicks.facts = link.ownFacts && standing.facts;
}

/**
 * The tier below memory. If a query fails for another reason than that the database is unavailable, one of its links may
 * be the reason, such as a damaged row: its halves are asked again, so that it fails alone.
 */
export function linkSource(targets: LinkStore["targets"]): LoadMany<CachedLink> {
  async function load(keys: readonly string[]): Promise<(LookupAnswer<CachedLink> | Error)[]> {
    try {
      return (await targets(keys.map(splitKey))).map(toCached);
    } catch (error) {
      if (keys.length === 1 || isUnavailable(error)) throw error;
      const half = keys.length >> 1;
      return [...(await alone(keys.slice(0, half))), ...(await alone(keys.slice(half)))];
    }
  }

  const alone = (keys: readonly string[]) => load(keys).catch((error: Error): Error[] => keys.map(() => error));

  return load;
}

function toCached(found: LookupAnswer<MeteredTarget> | Error): LookupAnswer<CachedLink> | Error {
  if (found instanceof Error) return found;
  const { version, value } = found;
  return { version, value: value && cachedLink(value) };
}

/** Estimated size in bytes: the object, its strings, its rules or file, and what is kept with it. */
export const sizeOfCached = ({ url, file, fallbackUrl, choice, clicks }: CachedLink): number =>
  900 +
  url.length * 2 +
  (fallbackUrl?.length ?? 0) +
  (file === null ? 0 : fileBytes + file.name.length * 2) +
  (choice === null ? 0 : sizeOfChoice(choice)) +
  clicks.tags.reduce((sum, tag) => sum + 50 + tag.length * 2, 0);

const fileBytes = 400;

/** Objects take several times the space of their text. Each destination has an answer. */
const sizeOfChoice = (choice: Choice): number =>
  200 + 3 * JSON.stringify(choice).length + redirectionBytes * (choice.rules.length + choice.split.length);

const redirectionBytes = 500;
