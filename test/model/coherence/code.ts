/** The code under test: the program's own, or a copy of it with a mistake in it. */
import { join } from "node:path";

export interface Code {
  readonly cache: typeof import("../../../src/cache/cache.ts");
  readonly tiered: typeof import("../../../src/cache/tiered.ts");
  readonly follow: typeof import("../../../src/cache/follow.ts");
  readonly correct: typeof import("../../../src/cache/correct-tier.ts");
  readonly redisCache: typeof import("../../../src/redis/cache.ts");
}

export async function loadCode(folder: string): Promise<Code> {
  return {
    cache: await import(join(folder, "cache/cache.ts")),
    tiered: await import(join(folder, "cache/tiered.ts")),
    follow: await import(join(folder, "cache/follow.ts")),
    correct: await import(join(folder, "cache/correct-tier.ts")),
    redisCache: await import(join(folder, "redis/cache.ts")),
  };
}

export const ownCode = (): Promise<Code> => loadCode(join(import.meta.dir, "../../../src"));
