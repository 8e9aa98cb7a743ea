import type { Clock } from "../base/clock.ts";
import { within } from "../base/patience.ts";
import type { LookupAnswer, Source, Versioned, Visit } from "./cache.ts";
import type { CacheCounts } from "./hit-counts.ts";
import type { Shared, Tier } from "./tier.ts";

/**
 * SQL with the shared tier in front of it, as the single source that memory asks.
 *
 * While it is trusted, the tier is asked first. Its answer is used if it is no older than what the caller knows; SQL's
 * answer is written back, unless something newer got there first. In the last fifth of an entry's life, one read in
 * twenty also reloads it from SQL, so that a popular link is renewed before it expires, and by one process.
 *
 * When SQL fails, whatever the tier has is better than nothing, trusted or not and even expired, but never older than
 * what the caller knows.
 */
export interface TieredOptions<Value> {
  readonly tier: Tier<Value>;
  readonly sql: Source<Value>;
  readonly counts: CacheCounts;
  readonly clock: Clock;
  readonly random?: () => number;
}

const refreshShare = 0.2;
const refreshChance = 0.05;
const refreshesMost = 20;

export interface Tiered<Value> extends Source<Value> {
  /** Writes what SQL has to the tier before the first read. Throws when SQL fails, or has less than `atLeast`. */
  writeThrough(key: string, atLeast: number): Promise<void>;
}

/** A read of the tier. */
interface Asked<Value> {
  readonly inTime: Promise<Shared<Value> | undefined>;
  /** Its answer, in time or late. */
  arrived: Shared<Value> | undefined;
}

export function createTiered<Value>(options: TieredOptions<Value>): Tiered<Value> {
  const { tier, sql, counts, clock, random = Math.random } = options;
  const { hit, events } = counts;
  const refreshing = new Set<string>();

  /** `inTime` is empty when the tier does not answer in time: the breaker reports what is wrong. */
  function ask(key: string, visit: Visit<Value> | undefined): Asked<Value> {
    const answer = tier.get(key);
    const inTime = visit === undefined ? answer : within(visit.patience, "redis", answer, clock);
    const asked: Asked<Value> = { inTime: inTime.catch(() => undefined), arrived: undefined };
    answer.then(
      (shared) => {
        asked.arrived = shared;
      },
      () => {},
    );
    return asked;
  }

  function missed(why: keyof CacheCounts["why"]): undefined {
    counts.miss.redis++;
    counts.why[why]++;
  }

  async function readSql(key: string, atLeast: number, visit?: Visit<Value>): Promise<LookupAnswer<Value>> {
    const ticket = tier.ticket(key);
    const keep = (answer: LookupAnswer<Value>): LookupAnswer<Value> => {
      if (ticket !== undefined && answer.version >= atLeast) tier.put(key, answer, ticket);
      return answer;
    };
    const later = visit && {
      ...visit,
      later: (answer: Promise<LookupAnswer<Value>>) => visit.later(answer.then(keep)),
    };
    return keep(await sql.load(key, atLeast, later));
  }

  function refresh(key: string): void {
    if (refreshing.has(key) || refreshing.size >= refreshesMost) return;
    refreshing.add(key);
    events.refreshed++;
    readSql(key, 0)
      .catch(() => {}) // still valid, and a later read tries again
      .finally(() => refreshing.delete(key));
  }

  /** The part of it that may be served now. */
  function usable(shared: Shared<Value> | undefined, key: string, atLeast: number): Versioned<Value> | undefined {
    if (shared === undefined) return missed("failed");
    if (shared.kind !== "value") return missed(shared.kind === "fence" ? "fence" : "absent");
    if (shared.answer.version < atLeast) return missed("older");
    if (shared.left <= 0) return missed("expired");
    hit.redis++;
    if (shared.left < refreshShare && random() < refreshChance) refresh(key);
    return shared.answer;
  }

  /**
   * SQL failed: whatever the tier has. It is asked once, for its visitors have no more time; but an answer that was too
   * late for them may have come while they waited for SQL.
   */
  async function inNeed(key: string, asked: Asked<Value> | undefined, visit: Visit<Value> | undefined) {
    return asked === undefined ? await ask(key, visit).inTime : asked.arrived;
  }

  return {
    async writeThrough(key, atLeast) {
      const { version } = await readSql(key, atLeast);
      if (version < atLeast) throw new Error(`SQL has version ${version} of ${key}, and not yet ${atLeast}`);
    },

    async load(key, atLeast, visit) {
      let asked: Asked<Value> | undefined;
      if (tier.trusts(key)) {
        asked = ask(key, visit);
        const answer = usable(await asked.inTime, key, atLeast);
        if (answer !== undefined) return answer;
      } else {
        missed("untrusted");
      }
      try {
        return await readSql(key, atLeast, visit);
      } catch (error) {
        const last = await inNeed(key, asked, visit);
        if (last?.kind !== "value" || last.answer.version < atLeast) throw error;
        return { ...last.answer, stale: true };
      }
    },
  };
}
