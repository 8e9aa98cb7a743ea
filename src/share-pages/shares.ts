import { randomBytes } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import { type LinkId, newId, type PersonId, type ShareId, type TenantId } from "../base/ids.ts";
import type { BreakdownName } from "../clicks/click.ts";
import { type Actor, recordHistory } from "../history/history.ts";
import type { Sql } from "../sql/sql.ts";
import { type Params, statement } from "../sql/statement.ts";
import { acrossTenants, type Db, ofTenant, type TenantDb } from "../sql/tenant-db.ts";
import { createOneAtATime } from "../tenants/one-at-a-time.ts";

/**
 * Public statistics of a link or a tag. Whoever has the token sees what its owner chose, and nothing else. A share is
 * never changed: revoking deletes its row, which every view of the page reads first.
 */
export interface StatsShare {
  readonly id: ShareId;
  readonly tenantId: TenantId;
  readonly token: string;
  readonly subject: SharedSubject;
  readonly title: string | null;
  /** The page covers this many days, up to now. */
  readonly days: number;
  /** As in reports: `country=DE`. */
  readonly filters: readonly string[];
  readonly breakdowns: readonly BreakdownName[];
  readonly passwordHash: string | null;
  readonly expiresAt: number | null;
  readonly createdAt: number;
  readonly createdBy: PersonId | null;
}

export type SharedSubject =
  | { readonly kind: "link"; readonly id: LinkId }
  | { readonly kind: "tag"; readonly name: string };

export interface NewShare extends Omit<StatsShare, "id" | "tenantId" | "token" | "createdAt" | "createdBy"> {
  /** Derived from the request: a repeated request finds what it created. */
  readonly id: ShareId | undefined;
  readonly token: string | undefined;
}

export interface StatsShares {
  /** Newest first. */
  list(
    tenant: TenantId,
    limit: number,
    query: { link?: LinkId | undefined; before?: ShareId | undefined },
  ): Promise<StatsShare[]>;
  create(tenant: TenantId, given: NewShare, by: Actor): Promise<StatsShare>;
  /** False if there is none. */
  revoke(tenant: TenantId, id: ShareId, by: Actor): Promise<boolean>;
  /** Of any tenant that is not suspended; expired ones do not exist. */
  byToken(token: string): Promise<StatsShare | undefined>;
}

export const sharePrefix = "/s/";
export const sharesMost = 500;
const tokenBytes = 24;
export const tokenPattern = /^[A-Za-z0-9_-]{32}$/;

/** 192 bits: 32 characters. */
export const shareToken = (chance: Uint8Array = randomBytes(tokenBytes)): string =>
  Buffer.from(chance.subarray(0, tokenBytes)).toString("base64url");

export function createStatsShares(sql: Sql, clock: Pick<Clock, "now">): StatsShares {
  const inTurn = createOneAtATime(sql);

  const locked = statement((own: TenantDb, { id }: Params<{ id: ShareId }>) =>
    sql.forUpdate(own.selectFrom("stats_shares").select(columns).where("id", "=", id)),
  );

  return {
    async list(tenant, limit, { link, before }) {
      let query = ofTenant(sql.db, tenant).selectFrom("stats_shares").select(columns);
      if (link !== undefined) query = query.where("link_id", "=", link);
      if (before !== undefined) query = query.where("id", "<", before);
      return (await query.orderBy("id", "desc").limit(limit).execute()).map(toShare);
    },

    create: (tenant, given, by) =>
      inTurn(tenant, async (trx) => {
        const own = ofTenant(trx, tenant);
        const { id = newId("share", clock), token = shareToken(), subject, title, days, filters, breakdowns } = given;
        const made = await locked.first(own, { id });
        if (made !== undefined) return toShare(made);
        if (subject.kind === "link" && (await selectLink.first(own, { id: subject.id })) === undefined) {
          throw new Problem("not_found", "No such link.");
        }
        const { count } = await countAll.one(own);
        if (Number(count) >= sharesMost) {
          throw new Problem("collection_full", `A workspace can have at most ${sharesMost} shares. Revoke some first.`);
        }
        const { passwordHash, expiresAt } = given;
        const createdBy = by.kind === "person" ? by.id : null;
        const row = {
          ...{ id, token, title, days, password_hash: passwordHash, expires_at: expiresAt, created_by: createdBy },
          link_id: subject.kind === "link" ? subject.id : null,
          tag: subject.kind === "tag" ? subject.name : null,
          ...{ filters: JSON.stringify(filters), breakdowns: JSON.stringify(breakdowns), created_at: clock.now() },
        };
        await insert.run(own, row);
        const about = subject.kind === "link" ? { link: subject.id } : { tag: subject.name };
        await recordHistory(trx, clock, {
          ...{
            tenant,
            actor: by,
            action: "share.create",
            subject: { kind: "share", id, ...(title && { name: title }) },
          },
          after: {
            ...{ ...about, days, filters, breakdowns, expiresAt },
            ...(passwordHash !== null && { password: "set" }),
          },
        });
        return toShare({ ...row, tenant_id: tenant });
      }),

    revoke: (tenant, id, by) =>
      sql.transaction(async (trx) => {
        const own = ofTenant(trx, tenant);
        const row = await locked.first(own, { id });
        if (row === undefined) return false;
        const { subject, title, days } = toShare(row);
        await remove.run(own, { id });
        const about = subject.kind === "link" ? { link: subject.id } : { tag: subject.name };
        await recordHistory(trx, clock, {
          ...{
            tenant,
            actor: by,
            action: "share.revoke",
            subject: { kind: "share", id, ...(title && { name: title }) },
          },
          before: { ...about, days },
        });
        return true;
      }),

    async byToken(token) {
      const row = await selectByToken.first(sql.db, { token });
      const share = row && toShare(row);
      return share === undefined || (share.expiresAt !== null && share.expiresAt <= clock.now()) ? undefined : share;
    },
  };
}

const columns = [
  ...(["id", "tenant_id", "token", "link_id", "tag", "title", "days", "filters", "breakdowns"] as const),
  ...(["password_hash", "expires_at", "created_at", "created_by"] as const),
] as const;

interface Row {
  readonly id: ShareId;
  readonly token: string;
  readonly link_id: LinkId | null;
  readonly tag: string | null;
  readonly title: string | null;
  readonly days: number;
  readonly filters: string;
  readonly breakdowns: string;
  readonly password_hash: string | null;
  readonly expires_at: number | null;
  readonly created_at: number;
  readonly created_by: PersonId | null;
}

const toShare = (row: Row & { readonly tenant_id: TenantId }): StatsShare => ({
  ...{ id: row.id, tenantId: row.tenant_id, token: row.token, title: row.title, days: row.days },
  subject: row.link_id === null ? { kind: "tag", name: row.tag ?? "" } : { kind: "link", id: row.link_id },
  ...{ filters: JSON.parse(row.filters) as string[], breakdowns: JSON.parse(row.breakdowns) as BreakdownName[] },
  ...{ passwordHash: row.password_hash, expiresAt: row.expires_at },
  ...{ createdAt: row.created_at, createdBy: row.created_by },
});

const selectLink = statement((own: TenantDb, { id }: Params<{ id: LinkId }>) =>
  own.selectFrom("links").select("id").where("id", "=", id),
);

const countAll = statement((own: TenantDb) =>
  own.selectFrom("stats_shares").select((row) => row.fn.countAll<number>().as("count")),
);

const insert = statement((own: TenantDb, row: Params<Row>) => own.insertInto("stats_shares").values(row));

const remove = statement((own: TenantDb, { id }: Params<{ id: ShareId }>) =>
  own.deleteFrom("stats_shares").where("id", "=", id),
);

const selectByToken = statement((db: Db, { token }: Params<{ token: string }>) =>
  acrossTenants(db)
    .selectFrom("stats_shares as s")
    .innerJoin("tenants as t", "t.id", "s.tenant_id")
    .leftJoin("suspended_tenants as st", "st.tenant_id", "s.tenant_id")
    .select(columns.map((column) => `s.${column}` as const))
    .where("s.token", "=", token)
    .where("st.tenant_id", "is", null)
    .where("t.delete_at", "is", null),
);
