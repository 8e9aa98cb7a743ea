/** The code under test: the program's own, or a copy of it with a mistake in it. */
import { join } from "node:path";
import { sourceFolder } from "../../test/ground/server.ts";

export interface Code {
  readonly counting: typeof import("../../src/server/limits.ts");
  readonly sqlLeases: typeof import("../../src/sql/leases.ts");
  readonly redisClient: typeof import("../../src/redis/client.ts");
}

export async function loadCode(folder: string): Promise<Code> {
  return {
    counting: await import(join(folder, "server/limits.ts")),
    sqlLeases: await import(join(folder, "sql/leases.ts")),
    redisClient: await import(join(folder, "redis/client.ts")),
  };
}

export const ownCode = (): Promise<Code> => loadCode(sourceFolder);
