import { randomBytes } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { withDeadline } from "../base/deadline.ts";
import type { Metrics } from "../base/metrics.ts";
import type { LinkHits } from "../limits/meters.ts";
import { cacheKey, type LinkKey, splitKey } from "../links/link.ts";
import type { Sql } from "../sql/sql.ts";
import { createHotStore, hotKeptMs } from "./hot-store.ts";

/** The hottest links: counted from what is recorded, stored in SQL, and loaded again after a start. */
export interface HotLinks {
  /** The hits that were just recorded. */
  count(hits: readonly LinkHits[]): void;
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
const addMs = 1_000;
const waitingMost = 10_000;
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
  /** Hits come in many small batches, and finding the coldest link takes longer than counting them. */
  const waiting = new Map<string, number>();
  let addedAt = Number.NEGATIVE_INFINITY;

  function counted(): Hot {
    if (waiting.size === 0) return hot;
    addedAt = clock.elapsed();
    hot.add(waiting);
    waiting.clear();
    return hot;
  }

  async function save(): Promise<void> {
    if (!unsaved) return; // without visits, the last list stays: it is what the next start loads
    unsaved = false;
    savedAt = clock.elapsed();
    const hottest = counted()
      .top(savedMost)
      .filter(({ perMinute }) => Math.round(perMinute) > 0);
    const links = hottest.map(({ key, ...link }) => ({ ...splitKey(key), ...link }));
    try {
      await store.save(instance, links);
    } catch (error) {
      unsaved = true;
      throw error;
    }
  }

  const top = () => counted().top(1)[0];
  metrics.gauge(
    "quicklink_hottest_per_minute",
    "Visits per minute of the hottest link.",
    () => top()?.perMinute ?? 0,
    "max",
  );
  metrics.gauge(
    "quicklink_unusual_links",
    "Links with at least ten times the visits of their last-hour average.",
    () =>
      counted()
        .top(warmMost)
        .filter(({ unusual }) => unusual).length,
    "max",
  );

  return {
    count(hits) {
      for (const { key, units } of hits) if (units > 0) waiting.set(key, (waiting.get(key) ?? 0) + units);
      if (waiting.size === 0) return;
      unsaved = true;
      const now = clock.elapsed();
      if (now - addedAt >= addMs || waiting.size >= waitingMost) counted();
      if (now - savedAt >= saveMs) saveSoon();
    },
    perMinute: (key) => counted().perMinute(key),
    keys: () =>
      counted()
        .top(warmMost)
        .map(({ key }) => key),
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

/**
 * Which links are visited most right now, and which far more than usual. Fed once a second from what the recorder
 * stores anyway, so that a redirect does nothing for it. Bounded: only the hottest links are tracked, and a newcomer
 * replaces the coldest if it is hotter.
 *
 * A rate is a decaying sum: over a minute for the current rate, over an hour for the usual one.
 */
export interface HotLink {
  readonly key: string;
  readonly perMinute: number;
  readonly usualPerMinute: number;
  /** Far above its usual rate, which was tracked long enough to be meaningful. */
  readonly unusual: boolean;
}

interface Hot {
  /** Counts since the last call, by link. */
  add(counts: ReadonlyMap<string, number>): void;
  /** The hottest first. */
  top(most: number): HotLink[];
  /** 0 for a link that is not among the hottest. */
  perMinute(key: string): number;
}

interface Followed {
  readonly since: number;
  now: number;
  usual: number;
  at: number;
}

const minuteMs = 60_000;
const hourMs = 3_600_000;
const usualAfterMs = 10 * minuteMs;
const unusualTimes = 10;
const unusualLeast = 100;
const newcomersPerAdd = 50; // when there is no room

export function createHot(clock: Clock, linksMost = 1_000): Hot {
  const links = new Map<string, Followed>();

  function fade(link: Followed, now: number): Followed {
    const passed = now - link.at;
    link.now *= Math.exp(-passed / minuteMs);
    link.usual *= Math.exp(-passed / hourMs);
    link.at = now;
    return link;
  }

  /** The coldest first. */
  function coldest(now: number, most: number): { key: string; perMinute: number }[] {
    return Array.from(links, ([key, link]) => ({ key, perMinute: fade(link, now).now }))
      .sort((one, other) => one.perMinute - other.perMinute)
      .slice(0, most);
  }

  /** The hottest first: those that find room, or are hotter than the coldest of the others, which they replace. */
  function admit(newcomers: readonly [string, number][], now: number): void {
    const room = linksMost - links.size;
    const replaced = newcomers.length > room ? coldest(now, newcomersPerAdd) : [];
    for (const [place, [key, count]] of newcomers.entries()) {
      if (place >= room) {
        const last = replaced[place - room];
        if (last === undefined || last.perMinute >= count) return;
        links.delete(last.key);
      }
      links.set(key, { since: now, now: count, usual: count, at: now });
    }
  }

  function show(key: string, link: Followed, now: number): HotLink {
    const { now: perMinute, usual, since } = fade(link, now);
    // If tracked for less than an hour, the sum covers only that time.
    const age = Math.max(minuteMs, now - since);
    const usualPerMinute = (usual * minuteMs) / (hourMs * (1 - Math.exp(-age / hourMs)));
    const unusual = age > usualAfterMs && perMinute >= unusualLeast && perMinute >= unusualTimes * usualPerMinute;
    return { key, perMinute, usualPerMinute, unusual };
  }

  return {
    add(counts) {
      const now = clock.elapsed();
      const newcomers: [string, number][] = [];
      for (const [key, count] of counts) {
        const link = links.get(key);
        if (link !== undefined) {
          fade(link, now);
          link.now += count;
          link.usual += count;
        } else {
          newcomers.push([key, count]);
        }
      }
      newcomers.sort(([, one], [, other]) => other - one);
      admit(newcomers, now);
    },

    top(most) {
      const now = clock.elapsed();
      return [...links]
        .map(([key, link]) => show(key, link, now))
        .toSorted((one, other) => other.perMinute - one.perMinute)
        .slice(0, most);
    },

    perMinute(key) {
      const link = links.get(key);
      return link === undefined ? 0 : fade(link, clock.elapsed()).now;
    },
  };
}
