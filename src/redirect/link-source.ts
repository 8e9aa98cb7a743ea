import type { Source, Versioned } from "../cache/cache.ts";
import { type RecordedLink, recordedLink } from "../clicks/facts/columns.ts";
import type { Meter } from "../limits/meters.ts";
import { type MeteredTarget, splitKey } from "../links/link.ts";
import type { Choice } from "../links/routing/choice.ts";

/** What memory keeps of a link besides its target, for its next visit. Looking each up by key is slow when many links are in use. */
export interface CachedLink extends MeteredTarget {
  /** Its response, built on first use and copied from then on. */
  pattern: Response | undefined;
  meter: Meter | undefined;
  readonly clicks: RecordedLink;
}

export const cachedLink = (target: MeteredTarget): CachedLink => ({
  ...target,
  ...{ pattern: undefined, meter: undefined, clicks: recordedLink(target.clicks) },
});

/** The tier below memory. */
export function linkSource(
  target: (domain: string, code: string) => Promise<Versioned<MeteredTarget>>,
): Source<CachedLink> {
  return {
    async load(key) {
      const { domain, code } = splitKey(key);
      const { version, value } = await target(domain, code);
      return { version, value: value && cachedLink(value) };
    },
  };
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

/** Objects take several times the space of their text. */
const sizeOfChoice = (choice: Choice): number => 200 + 3 * JSON.stringify(choice).length;
