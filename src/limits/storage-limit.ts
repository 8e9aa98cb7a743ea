import type { Limit } from "./counters.ts";
import { total } from "./window.ts";

/** The bytes that a tenant's files may have, under the name that the requirements give it. */
export const storageLimit = (tenant: string, max: number | null): Limit => ({
  name: "storageBytes",
  subject: tenant,
  max,
  window: total,
  key: `quota:tenant:{${tenant}}:used`,
});
