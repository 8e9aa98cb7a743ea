import { randomBytes } from "node:crypto";
import { isOutdated } from "../abuse/apply-blocklist.ts";
import { dayMs } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import type { LinkId, TenantId } from "../base/ids.ts";
import type { Logger } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import type { Core } from "../core.ts";
import { type CheckRoundSettings, runCheckRound } from "../link-health/check-round.ts";
import { createJobs, type Job } from "../sql/jobs.ts";
import type { Background } from "./background.ts";

/**
 * Work over many links, repeated for as long as the server runs: checking where they lead and applying a blocklist that
 * changed, by one process for all that share the database; and finishing what a command over a tenant's links left undone,
 * by any of them.
 */
export interface Rounds {
  /** Somebody waits for a title. */
  soon(): void;
  /** Ends what runs, wherever it is. */
  stop(): Promise<void>;
}

export interface RoundsSettings {
  readonly core: Core;
  readonly background: Background;
  readonly metrics: Metrics;
  readonly log: Logger;
}

const tickMs = 10_000;
const atMostMs = 600_000;

export function startRounds(settings: RoundsSettings): Rounds {
  const { core, log } = settings;
  const jobs = createJobs(core.sql, randomBytes(9).toString("base64url"), core.clock);
  const ending = new AbortController();
  const run = (job: Omit<Job, "atMostMs" | "next">) => jobs.run({ ...job, atMostMs, next: (now) => now });
  const targets = targetWork(settings, ending.signal);
  const blocklist = blocklistWork(settings);
  const loops = [
    loop("checking destinations", log, async () => targets && (await run({ name: "targets", work: targets }))),
    loop("applying the blocklist", log, async () => {
      if (await isOutdated(core)) await run({ name: "blocklist", work: blocklist });
    }),
    loop("updating the links of a tenant that changed", log, async () => {
      if (!(await core.outdated.pending())) return;
      const links = await settings.background.raiseOutdated();
      if (links > 0) log.info({ links }, "links of changed tenants have new versions");
    }),
  ];
  return {
    soon: () => loops[0]?.now(),
    async stop() {
      ending.abort();
      await Promise.all(loops.map((one) => one.stop()));
    },
  };
}

function targetWork({ core, metrics }: RoundsSettings, signal: AbortSignal): (() => Promise<void>) | undefined {
  const { config, clock } = core;
  if (config.QL_CHECK_TARGETS === null) return undefined;
  const count = metrics.tally("quicklink_target_checks_total", "Destination checks.", "found", ["ok", "not_ok"]);
  const settings: CheckRoundSettings = {
    store: core.targets,
    safeFetch: core.safeFetch,
    places: core.resources.targets,
    everyMs: config.QL_CHECK_TARGETS * dayMs,
    clock,
    chance: Math.random,
    setTitle: (tenant, link, title) => setTitle(core, tenant, link, title),
  };
  return async () => {
    const { checked, notOk } = await runCheckRound(settings, signal);
    count.ok += checked - notOk;
    count.not_ok += notOk;
  };
}

function blocklistWork({ core, background, log }: RoundsSettings): () => Promise<void> {
  return async () => {
    // Somebody else may have done it since.
    if (!(await isOutdated(core))) return;
    log.info(await background.applyBlocklist(), "blocklist applied to all links and domains");
  };
}

interface Loop {
  now(): void;
  stop(): Promise<void>;
}

/** One after the other; a failure is told once, and it is tried again. */
function loop(what: string, log: Logger, work: () => Promise<unknown>): Loop {
  let running: Promise<void> | undefined;
  let again = false;
  let stopped = false;
  let failing = false;

  async function once(): Promise<void> {
    try {
      await work();
      failing = false;
    } catch (error) {
      if (!failing && !stopped) log.warn({ error }, `${what} failed; will retry`);
      failing = true;
    }
  }

  function now(): void {
    again = running !== undefined;
    running ??= once().finally(() => {
      running = undefined;
      if (again && !stopped) now();
    });
  }

  const timer = setInterval(now, tickMs);
  return {
    now,
    async stop() {
      stopped = true;
      clearInterval(timer);
      await running;
    },
  };
}

/** Unless it got one meanwhile, or is gone. */
async function setTitle(core: Core, tenantId: TenantId, id: LinkId, title: string): Promise<void> {
  try {
    const link = await core.links.get(tenantId, id);
    const tenant = link.title === null ? await core.tenants.byId(tenantId) : undefined;
    if (tenant) await core.links.patch(tenant, id, { title }, link.version);
  } catch (error) {
    if (error instanceof Problem && (error.code === "not_found" || error.code === "version_conflict")) return;
    throw error;
  }
}
