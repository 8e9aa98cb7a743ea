import { LRUCache } from "lru-cache";
import type { Clock } from "../../base/clock.ts";
import { withDeadline } from "../../base/deadline.ts";
import type { TenantId } from "../../base/ids.ts";
import type { Logger } from "../../base/log.ts";
import type { Total } from "../../limits/leases.ts";
import { monthName } from "../../limits/window.ts";
import { splitKey } from "../../links/link.ts";
import type { Sql } from "../../sql/sql.ts";
import { usedInMonth } from "../../tenants/monthly-usage.ts";
import type { Tenant } from "../../tenants/tenants.ts";
import { linkUse } from "./near-limits.ts";
import type { Notices } from "./notices.ts";
import { type NoticeUse, reachedPercent } from "./thresholds.ts";

/**
 * Feeds limit notices: collects usage where it becomes known and passes it to `email/notices/notices.ts`. None of it
 * delays a redirect or a response. An hourly check of all limits, by one process for all, finds what was missed.
 */
export interface LimitWatch extends Pick<Notices, "noticed"> {
  /** New monthly totals of links. */
  check(totals: readonly Total[]): void;
  /** A tenant has created links. */
  made(tenant: Tenant): void;
  /** Checks all limits of all tenants: finds what the others missed. */
  checkAll(): Promise<void>;
  close(): Promise<void>;
}

export interface LimitWatchSettings {
  readonly notices: Notices;
  readonly sql: Sql;
  /** The nearly used limits of all tenants. */
  readonly nearLimits: () => Promise<readonly NoticeUse[]>;
  /** A link's limit as memory last knew it: undefined if the link is unknown, null if it has no limit. */
  readonly hitsMaxOf: (key: string) => number | null | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

const gatherMs = 1_000;
const linksAtOnce = 20;
const rememberMs = 600_000;
const rememberedMost = 10_000;
const closeMs = 1_000;

export function startLimitWatch({ notices, sql, nearLimits, hitsMaxOf, clock, log }: LimitWatchSettings): LimitWatch {
  /** Links recently notified. */
  const told = new LRUCache<string, number>({ max: rememberedMost });
  const makers = new Map<TenantId, Tenant>();
  let gathering: NodeJS.Timeout | undefined;
  let closed = false;

  const quietly = (what: string, work: () => Promise<unknown>) =>
    work().catch((error: unknown) => log.warn({ error }, `${what} failed; the next full check makes up for it`));

  /** A total includes leased units, so it only tells which links to check; the row has the exact count. */
  async function lookAt(totals: readonly Total[], month: string): Promise<void> {
    for (const { key } of totals) {
      const use = await linkUse(sql, splitKey(key), month);
      const percent = use && reachedPercent(use.used, use.max);
      if (use === undefined || percent === undefined) continue;
      told.set(`${key} ${month} ${percent}`, clock.elapsed() + rememberMs);
      notices.noticed(use);
    }
  }

  async function lookAtMakers(): Promise<void> {
    gathering = undefined;
    const gathered = [...makers.values()];
    makers.clear();
    for (const { id, limits } of gathered) {
      const used = await usedInMonth(sql.db, { tenant: id, name: "links", month: monthName(clock.now()) });
      notices.noticed({ tenant: id, limit: "linksPerMonth", used, max: limits.linksPerMonth });
    }
  }

  async function checkAll(): Promise<void> {
    for (const use of await nearLimits()) notices.noticed(use);
    await notices.idle();
  }

  return {
    noticed: notices.noticed,
    checkAll,
    check(totals) {
      if (closed) return; // the last hits are recorded after everything else has stopped
      const now = clock.elapsed();
      const month = monthName(clock.now());
      const near = totals.filter((one) => {
        const percent =
          one.draws === "hits" && one.month === month && reachedPercent(one.total, hitsMaxOf(one.key) ?? null);
        return percent && (told.get(`${one.key} ${month} ${percent}`) ?? 0) <= now;
      });
      if (near.length > 0) void quietly("checking links", () => lookAt(near.slice(0, linksAtOnce), month));
    },
    made(tenant) {
      if (tenant.limits.linksPerMonth === null) return;
      makers.set(tenant.id, tenant);
      gathering ??= setTimeout(() => void quietly("checking new links", lookAtMakers), gatherMs);
    },
    async close() {
      closed = true;
      clearTimeout(gathering);
      await withDeadline(notices.idle(), closeMs, "a notice").catch(() => {});
    },
  };
}
