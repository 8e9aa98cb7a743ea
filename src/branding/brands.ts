import { LRUCache } from "lru-cache";
import type { TenantNumber } from "../sql/schema.ts";
import { type Brand, type BrandFields, toBrand } from "./brand.ts";

/**
 * The look of workspaces for pages that visitors see. Read when a page is shown, never for a redirect, and kept for ten
 * seconds; so a change is seen everywhere soon after, and a crowd on one page asks SQL once. If SQL does not answer in time,
 * the page is shown without.
 */
export interface Brands {
  /** At once if it is known. */
  of(asked: BrandAsked): Brand | undefined | Promise<Brand | undefined>;
}

/** Of a link's tenant, or of a custom domain. */
export type BrandAsked = { readonly tenant: TenantNumber } | { readonly domain: string };

export interface BrandSettings {
  /** Must have a deadline. */
  readonly read: (asked: BrandAsked) => Promise<BrandFields | undefined>;
}

const keptMs = 10_000;
const keptMost = 1_000;

interface Known {
  readonly brand: Brand | undefined;
}

export function createBrands({ read }: BrandSettings): Brands {
  const known = new LRUCache<string, Known>({ max: keptMost, ttl: keptMs });
  const reading = new Map<string, Promise<Brand | undefined>>();

  async function load(key: string, asked: BrandAsked): Promise<Brand | undefined> {
    const fields = await read(asked).catch(() => undefined);
    const brand = fields && toBrand(fields);
    known.set(key, { brand });
    reading.delete(key);
    return brand;
  }

  return {
    of(asked) {
      const key = "tenant" in asked ? String(asked.tenant) : asked.domain;
      const found = known.get(key);
      if (found !== undefined) return found.brand;
      const running = reading.get(key);
      if (running !== undefined) return running;
      // As many pages may wait as there are workspaces that are kept.
      if (reading.size >= keptMost) return undefined;
      const loading = load(key, asked);
      reading.set(key, loading);
      return loading;
    },
  };
}
