import { systemClock } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import { createLog, type Logger } from "../base/log.ts";
import { type Core, openCore } from "../core.ts";
import type { Tenant } from "../tenants/tenants.ts";
import { readConfig, terminal } from "./terminal.ts";

/** Commands work on the database directly: the operator needs no key and uses no limits. */
export async function withCore<Result>(work: (core: Core) => Promise<Result>): Promise<Result> {
  const config = readConfig();
  const core = await openCore(config, { log: quietLog() });
  try {
    return await work(core);
  } finally {
    await core.close();
  }
}

/** Warnings of a command, separate from its output. */
export const quietLog = (): Logger => createLog("warn", terminal().stderr, true, systemClock.now);

const hintMost = 20;

export async function requireTenant({ tenants }: Core, slug: string): Promise<Tenant> {
  const tenant = await tenants.bySlug(slug);
  if (tenant) return tenant;
  const known = (await tenants.list(hintMost)).map((one) => one.slug);
  const hint =
    known.length > 0
      ? `Existing workspaces: ${known.join(", ")}${known.length < hintMost ? "." : ", … To list all: quicklink tenant list"}`
      : "No workspaces exist yet. Start the server once, or run `quicklink tenant create NAME`.";
  throw new Problem("not_found", `No workspace "${slug}" exists. ${hint}`);
}
