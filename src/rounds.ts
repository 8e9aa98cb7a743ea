import { randomBytes } from "node:crypto";
import { version } from "../package.json";
import { dayMs } from "./base/clock.ts";
import { Problem } from "./base/errors.ts";
import type { LinkId, TenantId } from "./base/ids.ts";
import type { Logger } from "./base/log.ts";
import type { Metrics } from "./base/metrics.ts";
import type { Core } from "./core.ts";
import { createGuarded } from "./fetch/guarded.ts";
import { createJobs, type Job } from "./sql/jobs.ts";
import { type RoundSettings, runRound } from "./targets/round.ts";

/** Looking at where links lead, put together: every few seconds, by one process for all that share the database. */
export interface Rounds {
  /** Somebody waits for what is due now. */
  soon(): void;
  /** Ends what runs, wherever it is. */
  stop(): Promise<void>;
}

export interface RoundsSettings {
  readonly core: Core;
  readonly metrics: Metrics;
  readonly log: Logger;
}

const tickMs = 10_000;
const atMostMs = 600_000;

export function startRounds({ core, metrics, log }: RoundsSettings): Rounds {
  const { config, clock, sql } = core;
  const days = config.QL_CHECK_TARGETS;
  if (days === null) return { soon() {}, async stop() {} };

  const count = metrics.tally("quicklink_target_checks_total", "Looks at where links lead.", "found", ["ok", "not_ok"]);
  const settings: RoundSettings = {
    store: core.targets,
    guarded: createGuarded({
      allow: config.QL_FETCH_ALLOW,
      ports: config.QL_FETCH_PORTS,
      userAgent: `QuickLink/${version} (+${config.baseUrl})`,
    }),
    everyMs: days * dayMs,
    clock,
    chance: Math.random,
    setTitle: (tenant, link, title) => setTitle(core, tenant, link, title),
  };
  const jobs = createJobs(sql, randomBytes(9).toString("base64url"), clock);
  const ending = new AbortController();
  const job: Job = {
    name: "targets",
    atMostMs,
    next: (now) => now,
    async work() {
      const { checked, notOk } = await runRound(settings, ending.signal);
      count.ok += checked - notOk;
      count.not_ok += notOk;
    },
  };

  let failing = false;
  let running: Promise<void> | undefined;
  async function tick(): Promise<void> {
    try {
      await jobs.run(job);
      failing = false;
    } catch (error) {
      if (!failing && !ending.signal.aborted) log.warn({ error }, "targets cannot be checked; it will be tried again");
      failing = true;
    }
  }
  let again = false;
  function start(): void {
    again = running !== undefined;
    running ??= tick().finally(() => {
      running = undefined;
      if (again && !ending.signal.aborted) start();
    });
  }
  const timer = setInterval(start, tickMs);

  return {
    soon: start,
    async stop() {
      clearInterval(timer);
      ending.abort();
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
