import type { Clock } from "../base/clock.ts";

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

export interface Hot {
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
const newcomersPerAdd = 50; // each is compared with all

export function createHot(clock: Clock, linksMost = 1_000): Hot {
  const links = new Map<string, Followed>();

  function fade(link: Followed, now: number): Followed {
    const passed = now - link.at;
    link.now *= Math.exp(-passed / minuteMs);
    link.usual *= Math.exp(-passed / hourMs);
    link.at = now;
    return link;
  }

  function coldest(now: number): { key: string; perMinute: number } {
    let found = { key: "", perMinute: Number.POSITIVE_INFINITY };
    for (const [key, link] of links) {
      const perMinute = fade(link, now).now;
      if (perMinute < found.perMinute) found = { key, perMinute };
    }
    return found;
  }

  /** Whether there is room for it, if necessary by replacing a colder link. */
  function admit(key: string, count: number, now: number): boolean {
    if (links.size >= linksMost) {
      const last = coldest(now);
      if (last.perMinute >= count) return false;
      links.delete(last.key);
    }
    links.set(key, { since: now, now: count, usual: count, at: now });
    return true;
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
      const least = links.size < linksMost ? 0 : coldest(now).perMinute;
      const newcomers: [string, number][] = [];
      for (const [key, count] of counts) {
        const link = links.get(key);
        if (link !== undefined) {
          fade(link, now);
          link.now += count;
          link.usual += count;
        } else if (count > least) {
          newcomers.push([key, count]);
        }
      }
      newcomers.sort(([, one], [, other]) => other - one);
      const room = Math.max(newcomersPerAdd, linksMost - links.size);
      for (const [key, count] of newcomers.slice(0, room)) if (!admit(key, count, now)) break;
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
