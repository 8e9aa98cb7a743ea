import type { Source, Versioned } from "../cache/cache.ts";
import { type MeteredTarget, ownDomain } from "../links/link.ts";

/** What memory keeps of a link besides where it leads: its answer, made when first given and copied from then on. */
export interface Known extends MeteredTarget {
  pattern: Response | undefined;
}

/** The tier below memory. A key is a code, for there is only the server's own domain yet. */
export function linkSource(target: (domain: string, code: string) => Promise<Versioned<MeteredTarget>>): Source<Known> {
  return {
    async load(key) {
      const { version, value } = await target(ownDomain, key);
      return { version, value: value && { ...value, pattern: undefined } };
    },
  };
}

/** In bytes, roughly: the object, its strings, and the answer that will be kept with it. */
export const sizeOfKnown = ({ url, file, fallbackUrl }: Known): number =>
  700 + url.length * 2 + (fallbackUrl?.length ?? 0) + (file === null ? 0 : fileBytes + file.name.length * 2);

const fileBytes = 400;
