/**
 * What the servers report about themselves meanwhile: which breakers are open since when, who answered lookups, whether
 * they are ready. Polled continuously, because a breaker may be open for a second only.
 */
import { until } from "../../test/ground/process.ts";
import type { Server } from "../../test/ground/server.ts";

export interface BreakerTimes {
  readonly of: string;
  /** From the beginning to the first server that opened it. */
  readonly openedMs: number;
  /** From the end to the last server that closed it; nothing while it is open. */
  readonly closedMs: number | undefined;
}

/** What was counted since the beginning, by all servers. */
export interface Gained {
  /** Answers that may have been out of date. */
  readonly stale: number;
  /** Lookups sent away because too many waited for SQL. */
  readonly shed: number;
  /** To SQL, for links. */
  readonly queries: number;
  readonly byMemory: number;
  readonly byRedis: number;
  /** Lookups that Redis should have answered: it did not, or could not be trusted. */
  readonly pastRedis: number;
}

export interface Watch {
  /** What was gained so far. */
  gained(): Promise<Gained>;
  /** The outage is over. */
  ended(): void;
  /** Waits until all is as it should be, or gives up; how long that took, from the end of the outage. */
  recovered(): Promise<number>;
  stop(): Promise<{ readonly breakers: readonly BreakerTimes[]; readonly gained: Gained }>;
}

interface Seen {
  readonly open: readonly string[];
  readonly feedSeconds: number;
  readonly counted: Gained;
}

/** What a row may take to recover: a breaker tries again after 1, 2 and 4 s. */
export const recoverMostMs = 15_000;
const lookMs = 50;
/** When we give up: more than any row may take. */
const recoverMs = 20_000;
const feedFollowedSeconds = 1.5;

export async function startWatch(servers: readonly Server[]): Promise<Watch> {
  const first = await Promise.all(servers.map(look));
  let last = first;
  const beganAt = performance.now();
  let endedAt = beganAt;
  const opened = new Map<string, number>();
  const closed = new Map<string, number>();
  let watching = true;

  function note(now: readonly Seen[]): void {
    const open = new Set(now.flatMap((one) => one.open));
    for (const of of open) {
      if (!opened.has(of)) opened.set(of, performance.now() - beganAt);
      closed.delete(of);
    }
    for (const of of opened.keys()) if (!open.has(of) && !closed.has(of)) closed.set(of, performance.now());
  }

  const loop = (async () => {
    while (watching) {
      last = await Promise.all(servers.map(look));
      note(last);
      await Bun.sleep(lookMs);
    }
  })();

  const well = async () => {
    if (last.some(({ open, feedSeconds }) => open.length > 0 || feedSeconds > feedFollowedSeconds)) return undefined;
    const states = await Promise.all(servers.map(stateOf));
    return states.every((state) => state === "200 ready") || undefined;
  };
  const gainedBy = (now: readonly Seen[]): Gained => {
    const since = (name: keyof Gained) =>
      now.reduce((sum, seen, i) => sum + seen.counted[name] - (first[i]?.counted[name] ?? 0), 0);
    return {
      ...{ stale: since("stale"), shed: since("shed"), queries: since("queries"), byMemory: since("byMemory") },
      ...{ byRedis: since("byRedis"), pastRedis: since("pastRedis") },
    };
  };

  return {
    gained: async () => gainedBy(await Promise.all(servers.map(look))),
    ended() {
      endedAt = performance.now();
    },
    async recovered() {
      await Bun.sleep(2 * lookMs); // what was seen last may be from before
      await until("all to be well", well, recoverMs).catch(() => {});
      return performance.now() - endedAt;
    },
    async stop() {
      watching = false;
      await loop;
      const breakers = [...opened].map(([of, openedMs]) => {
        const at = closed.get(of);
        return { of, openedMs, closedMs: at === undefined ? undefined : Math.max(0, at - endedAt) };
      });
      return { breakers, gained: gainedBy(last) };
    },
  };
}

/** As /readyz has it, with its status. */
export async function stateOf({ url }: Server): Promise<string> {
  const response = await fetch(`${url}/readyz`);
  const { status } = (await response.json()) as { status: string };
  return `${response.status} ${status}`;
}

async function look({ url }: Server): Promise<Seen> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const figure = (name: string) => Number(new RegExp(`^${name} (.+)$`, "m").exec(text)?.[1] ?? 0);
  const event = (name: string) => figure(`quicklink_cache_events_total\\{event="${name}"\\}`);
  const hit = (tier: string) => figure(`quicklink_cache_hit_total\\{tier="${tier}"\\}`);
  const why = (name: string) => figure(`quicklink_cache_miss_reasons_total\\{why="${name}"\\}`);
  return {
    open: [...text.matchAll(/^quicklink_breaker_open\{of="(\w+)"[^}]*\} 1$/gm)].map(([, of]) => String(of)),
    feedSeconds: figure("quicklink_feed_age_seconds"),
    counted: {
      ...{
        stale: event("stale"),
        shed: event("shed"),
        queries: event("query"),
        byMemory: hit("memory"),
        byRedis: hit("redis"),
      },
      pastRedis: why("failed") + why("untrusted"),
    },
  };
}
