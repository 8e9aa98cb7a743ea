import { systemClock } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import { createLog } from "../base/log.ts";
import { loadConfig } from "../config.ts";
import { type Core, openCore } from "../core.ts";
import type { Tenant } from "../tenants/tenants.ts";

/** Commands work on the database directly: the operator needs no key, and spends no limit. */
export async function withCore<Result>(work: (core: Core) => Promise<Result>): Promise<Result> {
  const config = loadConfig();
  const core = await openCore(config, { log: createLog("warn", process.stderr, true, systemClock.now) });
  try {
    return await work(core);
  } finally {
    await core.close();
  }
}

export async function requireTenant({ tenants }: Core, slug: string): Promise<Tenant> {
  const tenant = await tenants.bySlug(slug);
  if (tenant) return tenant;
  const known = (await tenants.list()).map((one) => one.slug);
  const hint =
    known.length > 0
      ? `There are: ${known.join(", ")}.`
      : "There is none yet: start the server once, or run `quicklink tenant create NAME`.";
  throw new Problem("not_found", `There is no tenant "${slug}". ${hint}`);
}
