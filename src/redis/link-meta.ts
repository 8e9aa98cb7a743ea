import { type LinkMeta, metaStatuses } from "../cache/link-meta.ts";
import type { Redis } from "./client.ts";

/**
 * Information about a link for the operator, at `ql:v1:meta:{code}`: `{"c":15234,"e":1703000000,"s":"active","v":3}`.
 * These are its hits, when it expires (seconds since 1970, or null), its status, and the version they belong to. Valid
 * for a quarter of an hour, ± 8 %. Only the operator reads it, so no change feed corrects it.
 */
export interface MetaCache {
  /** Undefined if it is missing or not ours. Throws if Redis does not answer, as `put` does. */
  get(key: string): Promise<LinkMeta | undefined>;
  put(key: string, meta: LinkMeta): Promise<void>;
}

const keptSeconds = 900;
const jitter = 0.08;

export function createMetaCache(redis: Redis, random: () => number = Math.random): MetaCache {
  const nameOf = (key: string) => `ql:v1:meta:{${key}}`;
  return {
    async get(key) {
      const text = await redis.send(nameOf(key), ["GET", nameOf(key)]);
      return typeof text === "string" ? parse(text) : undefined;
    },

    async put(key, { hits, expiresAt, status, version }) {
      const e = expiresAt === null ? null : Math.floor(expiresAt / 1_000);
      const kept = Math.round(keptSeconds * (1 - jitter + 2 * jitter * random()));
      const text = JSON.stringify({ c: hits, e, s: status, v: version });
      await redis.send(nameOf(key), ["SET", nameOf(key), text, "EX", String(kept)]);
    },
  };
}

function parse(text: string): LinkMeta | undefined {
  try {
    const { c, e, s, v } = JSON.parse(text) as Record<string, unknown>;
    const status = metaStatuses.find((one) => one === s);
    if (status === undefined || !isCount(c) || !isCount(v) || !(e === null || isCount(e))) return undefined;
    return { version: v, hits: c, expiresAt: e === null ? null : e * 1_000, status };
  } catch {
    return undefined;
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value);
