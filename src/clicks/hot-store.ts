import type { Clock } from "../base/clock.ts";
import type { Sql } from "../sql/sql.ts";
import type { HotLink } from "./hot-links.ts";

/** The hottest links in SQL, for readers that do not count them: commands, and a starting server. */
export interface HotStore {
  /** Replaces what this instance stored before. */
  save(instance: string, links: readonly HotPlace[]): Promise<void>;
  /** Of all servers together, as seen since then; hottest first. */
  hottest(sinceMs: number, most: number): Promise<HotPlace[]>;
}

export interface HotPlace extends Omit<HotLink, "key"> {
  readonly domain: string;
  readonly code: string;
}

export const hotKeptMs = 86_400_000;

export function createHotStore(sql: Sql, clock: Clock): HotStore {
  return {
    async save(instance, links) {
      const now = clock.now();
      await sql.transaction(async (trx) => {
        await trx
          .deleteFrom("hot_links")
          .where((expression) =>
            expression.or([expression("instance", "=", instance), expression("seen_at", "<", now - hotKeptMs)]),
          )
          .execute();
        if (links.length === 0) return;
        const rows = links.map(({ domain, code, perMinute, usualPerMinute, unusual }) => ({
          instance,
          domain,
          code,
          per_minute: Math.round(perMinute),
          usual_per_minute: Math.round(usualPerMinute),
          unusual: unusual ? (1 as const) : (0 as const),
          seen_at: now,
        }));
        await trx.insertInto("hot_links").values(rows).execute();
      });
    },

    async hottest(sinceMs, most) {
      const rows = await sql.db
        .selectFrom("hot_links")
        .select(({ fn }) => [
          "domain",
          "code",
          fn.sum<number>("per_minute").as("perMinute"),
          fn.sum<number>("usual_per_minute").as("usualPerMinute"),
          fn.max("unusual").as("unusual"),
        ])
        .where("seen_at", ">=", clock.now() - sinceMs)
        .groupBy(["domain", "code"])
        .orderBy("perMinute", "desc")
        .limit(most)
        .execute();
      return rows.map(({ domain, code, perMinute, usualPerMinute, unusual }) => ({
        domain,
        code,
        perMinute: Number(perMinute),
        usualPerMinute: Number(usualPerMinute),
        unusual: unusual === 1,
      }));
    },
  };
}
