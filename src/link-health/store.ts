import { idAt, type LinkId, type TenantId } from "../base/ids.ts";
import type { LinkHealth } from "../links/link.ts";
import { targetHash } from "../links/read/listed-state.ts";
import type { Sql } from "../sql/sql.ts";
import { type Params, statement } from "../sql/statement.ts";
import { acrossTenants, type Db } from "../sql/tenant-db.ts";
import type { HealthVerdict } from "./verdict.ts";

/**
 * Results of destination checks, in a separate SQL table: a link is created without a row, gets one when the walk over
 * new links reaches it or its owner asks, and a result does not create a new version of the link. All statements are
 * short, because on SQLite they block the serving thread.
 */
export interface HealthStore {
  /** What is known about the current destinations of these links. */
  of(links: readonly Pointing[]): Promise<Map<LinkId, LinkHealth>>;
  /** Check soon, if it has no row: a link that was deleted may have lost it. */
  checkSoon(link: LinkId, now: number): Promise<void>;
  /** Check soon, and fetch the title. */
  want(link: LinkId, now: number): Promise<void>;
  /** Adds rows for links created since the last call, with a first check at `at`; returns how many. */
  adopt(now: number, limit: number, at: () => number): Promise<number>;
  due(now: number, limit: number): Promise<DueCheck[]>;
  putOff(links: readonly LinkId[], at: number): Promise<void>;
  forget(link: LinkId): Promise<void>;
  record(link: Pointing, verdict: HealthVerdict, now: number, nextAt: number): Promise<void>;
}

interface Pointing {
  readonly id: LinkId;
  readonly url: string;
}

export interface DueCheck extends Pointing {
  /** Null: the link was deleted. */
  readonly tenantId: TenantId | null;
  readonly active: boolean;
  readonly expiresAt: number | null;
  readonly title: string | null;
  /** Consecutive failures at this URL. */
  readonly failures: number;
  readonly wantsTitle: boolean;
}

const walk = "targets";
// IDs use the clocks of the servers that created the links, which commit a little later: waiting this long misses none.
const graceMs = 300_000;

export function createHealthStore(sql: Sql): HealthStore {
  const { db } = sql;

  return {
    async of(links) {
      if (links.length === 0) return new Map();
      const rows = await selectTargets.all(db, { ids: links.map(({ id }) => id) });
      const urls = new Map(links.map(({ id, url }) => [id, url]));
      return new Map(
        rows.flatMap((row) =>
          row.state !== null && row.checked_at !== null && row.url_hash === targetHash(urls.get(row.link_id) ?? "")
            ? [
                [
                  row.link_id,
                  {
                    ...{ state: row.state, checkedAt: row.checked_at, httpStatus: row.http_status, reason: row.reason },
                    ...{ responseMs: row.response_ms, failingSince: row.failing_since },
                  },
                ] as const,
              ]
            : [],
        ),
      );
    },

    async checkSoon(link, now) {
      await db
        .insertInto("targets")
        .values({ ...unknown, link_id: link, wants_title: 0, next_check_at: now })
        .onConflict((conflict) => conflict.column("link_id").doNothing())
        .execute();
    },

    async want(link, now) {
      await db
        .insertInto("targets")
        .values({ ...unknown, link_id: link, wants_title: 1, next_check_at: now })
        .onConflict((conflict) => conflict.column("link_id").doUpdateSet({ wants_title: 1, next_check_at: now }))
        .execute();
    },

    async adopt(now, limit, at) {
      const from = await db.selectFrom("walks").select("position").where("name", "=", walk).executeTakeFirst();
      const rows = await acrossTenants(db)
        .selectFrom("links")
        .select("id")
        .where("id", ">", (from?.position ?? "") as LinkId)
        .where("id", "<", idAt("link", now - graceMs) as LinkId)
        .orderBy("id")
        .limit(limit)
        .execute();
      const position = rows.at(-1)?.id;
      if (position === undefined) return 0;
      await db
        .insertInto("targets")
        .values(rows.map(({ id }) => ({ ...unknown, link_id: id, wants_title: 0 as const, next_check_at: at() })))
        .onConflict((conflict) => conflict.column("link_id").doNothing())
        .execute();
      await db
        .insertInto("walks")
        .values({ name: walk, position })
        .onConflict((conflict) => conflict.column("name").doUpdateSet({ position }))
        .execute();
      return rows.length;
    },

    async due(now, limit) {
      const rows = await acrossTenants(db)
        .selectFrom("targets as t")
        .leftJoin("links as l", "l.id", "t.link_id")
        .select(["t.link_id", "t.url_hash", "t.failures", "t.wants_title"])
        .select(["l.tenant_id", "l.url", "l.status", "l.expires_at", "l.title"])
        .where("t.next_check_at", "<=", now)
        .orderBy("t.next_check_at")
        .limit(limit)
        .execute();
      return rows.map((row) => ({
        id: row.link_id,
        url: row.url ?? "",
        tenantId: row.tenant_id,
        active: row.status === "active",
        expiresAt: row.expires_at,
        title: row.title,
        failures: row.url_hash === targetHash(row.url ?? "") ? row.failures : 0,
        wantsTitle: row.wants_title === 1,
      }));
    },

    async putOff(links, at) {
      if (links.length === 0) return;
      await db
        .updateTable("targets")
        .set({ next_check_at: at })
        .where("link_id", "in", [...links])
        .execute();
    },

    async forget(link) {
      await db.deleteFrom("targets").where("link_id", "=", link).execute();
    },

    async record({ id, url }, { state, httpStatus, reason, failures, responseMs = null }, now, nextAt) {
      await db
        .updateTable("targets")
        .set({
          url_hash: targetHash(url),
          state,
          http_status: httpStatus,
          reason,
          failures,
          response_ms: responseMs,
          // Further failures keep the time of the first.
          ...(failures <= 1 && { failing_since: failures === 0 ? null : now }),
          wants_title: 0,
          checked_at: now,
          next_check_at: nextAt,
        })
        .where("link_id", "=", id)
        .execute();
    },
  };
}

const selectTargets = statement((db: Db, { ids }: Params<{ ids: readonly LinkId[] }>) =>
  db
    .selectFrom("targets")
    .select(["link_id", "url_hash", "state", "http_status", "reason", "response_ms", "failing_since", "checked_at"])
    .where("link_id", "in", ids),
);

const unknown = { url_hash: null, state: null, http_status: null, reason: null, failures: 0, checked_at: null };

/** Only to tell whether the URL is the same. */
