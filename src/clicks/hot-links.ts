import { randomBytes } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { withDeadline } from "../base/deadline.ts";
import type { Metrics } from "../base/metrics.ts";
import type { Drained } from "../limits/meters.ts";
import { cacheKey, type LinkKey, splitKey } from "../links/link.ts";
import type { Sql } from "../sql/sql.ts";
import { createHot } from "./hot.ts";
import { createHotStore, hotKeptMs } from "./hot-store.ts";

/** The hottest links: counted from what is recorded, stored in SQL, and loaded again after a start. */
export interface HotLinks {
  /** The hits that were just recorded. */
  count(batch: readonly Drained[]): void;
  perMinute(key: string): number;
  /** The keys of the currently hottest links. */
  keys(): string[];
  /** The last hottest links of all servers: what to load first. */
  lastKeys(): Promise<LinkKey[]>;
  /** Stores them, if anything was counted since the last time. */
  save(): Promise<void>;
  /** Stores what was counted last. */
  stop(): Promise<void>;
}

export const saveMs = 15_000;
const lastSaveMs = 1_000;
const savedMost = 50;
const warmMost = 100;

export interface HotLinkSettings {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Hits were counted, and the last save is some time ago. */
  readonly saveSoon: () => void;
}

export function openHotLinks({ sql, clock, metrics, saveSoon }: HotLinkSettings): HotLinks {
  const hot = createHot(clock);
  const store = createHotStore(sql, clock);
  const instance = randomBytes(9).toString("base64url");
  let savedAt = Number.NEGATIVE_INFINITY;
  let unsaved = false;

  async function save(): Promise<void> {
    if (!unsaved) return; // without visits, the last list stays: it is what the next start loads
    unsaved = false;
    savedAt = clock.elapsed();
    const hottest = hot.top(savedMost).filter(({ perMinute }) => Math.round(perMinute) > 0);
    const links = hottest.map(({ key, ...link }) => ({ ...splitKey(key), ...link }));
    try {
      await store.save(instance, links);
    } catch (error) {
      unsaved = true;
      throw error;
    }
  }

  const top = () => hot.top(1)[0];
  metrics.gauge(
    "quicklink_hottest_per_minute",
    "Visits per minute of the hottest link.",
    () => top()?.perMinute ?? 0,
    "max",
  );
  metrics.gauge(
    "quicklink_unusual_links",
    "Links with at least ten times the visits of their last-hour average.",
    () => hot.top(warmMost).filter(({ unusual }) => unusual).length,
    "max",
  );

  return {
    count(batch) {
      const counts = new Map<string, number>();
      for (const { key, units } of batch) if (units > 0) counts.set(key, (counts.get(key) ?? 0) + units);
      if (counts.size === 0) return;
      hot.add(counts);
      unsaved = true;
      if (clock.elapsed() - savedAt >= saveMs) saveSoon();
    },
    perMinute: hot.perMinute,
    keys: () => hot.top(warmMost).map(({ key }) => key),
    async lastKeys() {
      const links = await store.hottest(hotKeptMs, warmMost);
      return links.map(({ domain, code }) => cacheKey(domain, code));
    },
    save,
    async stop() {
      // Do not wait for an unavailable database: without the list the next start is slightly colder.
      await withDeadline(save(), lastSaveMs, "SQL").catch(() => {});
    },
  };
}
