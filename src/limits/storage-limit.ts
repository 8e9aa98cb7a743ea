import type { Limit } from "./counters.ts";
import { totalWindow } from "./window.ts";

/** The limit on the bytes of a tenant's files. */
export const storageLimit = (tenant: string, max: number | null): Limit => ({
  name: "storageBytes",
  subject: tenant,
  max,
  window: totalWindow,
  key: `quota:tenant:{${tenant}}:used`,
});
