import type { Source, Versioned } from "../cache/cache.ts";
import { type MeteredTarget, splitKey } from "../links/link.ts";
import type { Choice } from "../links/routing/choice.ts";

/** What memory keeps of a link besides its target: its response, built on first use and copied from then on. */
export interface CachedLink extends MeteredTarget {
  pattern: Response | undefined;
}

/** The tier below memory. */
export function linkSource(
  target: (domain: string, code: string) => Promise<Versioned<MeteredTarget>>,
): Source<CachedLink> {
  return {
    async load(key) {
      const { domain, code } = splitKey(key);
      const { version, value } = await target(domain, code);
      return { version, value: value && { ...value, pattern: undefined } };
    },
  };
}

/** Estimated size in bytes: the object, its strings, its rules or file, and the response kept with it. */
export const sizeOfCached = ({ url, file, fallbackUrl, choice, clicks }: CachedLink): number =>
  800 +
  url.length * 2 +
  (fallbackUrl?.length ?? 0) +
  (file === null ? 0 : fileBytes + file.name.length * 2) +
  (choice === null ? 0 : sizeOfChoice(choice)) +
  clicks.tags.reduce((sum, tag) => sum + 50 + tag.length * 2, 0);

const fileBytes = 400;

/** Objects take several times the space of their text. */
const sizeOfChoice = (choice: Choice): number => 200 + 3 * JSON.stringify(choice).length;
