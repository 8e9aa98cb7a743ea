import type { Selectable, Transaction } from "kysely";
import type { LinkId, TenantId } from "../base/ids.ts";
import type { Versioned } from "../cache/cache.ts";
import { monthName } from "../limits/month.ts";
import { recordChange } from "../sql/feed.ts";
import type { CodeState, LinkTable, Schema } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";
import { spendOfMonth } from "../tenants/monthly.ts";
import { hitsMax } from "../tenants/plans.ts";
import { claim } from "./claim.ts";
import { createGather } from "./gather.ts";
import { cacheKey, type Link, type LinkFields, type MeteredTarget } from "./link.ts";

/**
 * Links in SQL. Whatever changes a link adds 1 to the version of its (domain, code) and a row to the change feed, all in
 * one transaction; the version row stays when the link goes. Every method that somebody outside can reach takes the
 * tenant first, and finds nothing of anybody else's.
 */
export interface NewLink extends LinkFields {
  readonly id: LinkId;
  readonly domain: string;
  readonly code: string;
  /** A generated code may only be new or purged; a chosen one also one that its owner deleted. */
  readonly generated: boolean;
  readonly at: number;
  /** If it was made elsewhere before. */
  readonly createdAt?: number;
}

export type Written =
  | { readonly kind: "written"; readonly link: Link }
  | { readonly kind: "taken" }
  /** The month's links are made; this one was not even tried. */
  | { readonly kind: "spent" };

/** Whether new links count for the tenant's month, and how many it may have; null is without limit, but counted. */
export type Spending = { readonly linksPerMonth: number | null } | "nothing";

export type Changed =
  | { readonly kind: "changed"; readonly link: Link }
  | { readonly kind: "conflict"; readonly version: number }
  | { readonly kind: "missing" };

export interface LinkStore {
  /**
   * All in one transaction; a code that is taken leaves its place as `taken` and the others go in. When the month has
   * room for fewer than would be written, only the first so many are tried.
   */
  insert(tenant: TenantId, links: readonly NewLink[], spending: Spending): Promise<Written[]>;
  /** The operator's, in one transaction with what else is to be written if they are; what it throws undoes all. */
  insertWith(
    tenant: TenantId,
    links: readonly NewLink[],
    also: (trx: Transaction<Schema>, written: readonly Written[]) => Promise<void>,
  ): Promise<Written[]>;
  get(tenant: TenantId, id: LinkId): Promise<Link | undefined>;
  byCode(tenant: TenantId, domain: string, code: string): Promise<Link | undefined>;
  /** Newest first; `before` is the last id of the page before. */
  list(tenant: TenantId, limit: number, before?: LinkId): Promise<Link[]>;
  /** Oldest first; `after` is the last id of the page before. */
  listUp(tenant: TenantId, limit: number, after?: LinkId): Promise<Link[]>;
  update(
    tenant: TenantId,
    id: LinkId,
    edit: (link: Link) => LinkFields,
    at: number,
    expected?: number,
  ): Promise<Changed>;
  remove(tenant: TenantId, id: LinkId, at: number, expected?: number): Promise<Changed>;
  /** For the redirect: any tenant's. A disabled link is as good as none. */
  target(domain: string, code: string): Promise<Versioned<MeteredTarget>>;
  /**
   * The next version of whatever there is, and nothing else changed: every copy is then out of date, and read anew. For
   * the operator. Nothing, where there never was a link.
   */
  touch(domain: string, code: string, at: number): Promise<number | undefined>;
  /** Reduces links that expired before `expiredBefore` to their version rows; answers how many. */
  purge(expiredBefore: number, limit: number, at: number): Promise<number>;
}

const statementRows = 100; // a statement's text grows with its rows, and the compiled ones are kept
const gatheredMost = 16; // on SQLite a transaction holds the thread that serves: for a few milliseconds at most

export function createLinkStore(sql: Sql): LinkStore {
  const { db } = sql;

  const withVersion = (from: Pick<typeof db, "selectFrom">) =>
    from
      .selectFrom("links")
      .innerJoin("link_versions", (join) =>
        join.onRef("link_versions.domain", "=", "links.domain").onRef("link_versions.code", "=", "links.code"),
      )
      .selectAll("links")
      .select("link_versions.version");

  const byId = (from: Pick<typeof db, "selectFrom">, tenant: TenantId, id: LinkId) =>
    withVersion(from).where("links.tenant_id", "=", tenant).where("links.id", "=", id);

  /** What every change has in common: nobody else changes the link meanwhile, the next version, a row in the feed. */
  async function change(
    tenant: TenantId,
    id: LinkId,
    expected: number | undefined,
    at: number,
    state: CodeState,
    apply: (trx: Transaction<Schema>, link: Link, version: number) => Promise<Link>,
  ): Promise<Changed> {
    return sql.transaction(async (trx) => {
      const row = await sql.locked(byId(trx, tenant, id)).executeTakeFirst();
      if (!row) return { kind: "missing" };
      const link = toLink(row);
      if (expected !== undefined && expected !== link.version) return { kind: "conflict", version: link.version };
      const version = link.version + 1;
      await trx
        .updateTable("link_versions")
        .set({ version, state })
        .where("domain", "=", link.domain)
        .where("code", "=", link.code)
        .execute();
      const changed = await apply(trx, link, version);
      await recordChange(trx, [{ domain: link.domain, code: link.code, version }], at);
      return { kind: "changed", link: changed };
    });
  }

  async function write(trx: Transaction<Schema>, tenant: TenantId, links: readonly NewLink[]): Promise<Written[]> {
    const results = new Map<NewLink, Written>();
    // In the order of their codes: two transactions that want some of the same ones cannot wait for each other.
    const inOrder = [...links].sort(byCode);
    for (let start = 0; start < inOrder.length; start += statementRows) {
      const some = inOrder.slice(start, start + statementRows);
      const versions = await claim(trx, tenant, some);
      const ours = some.flatMap((link) => {
        const version = versions.get(link);
        return version === undefined ? [] : [{ link, row: toRow(tenant, link), version }];
      });
      if (ours.length === 0) continue;
      await trx
        .insertInto("links")
        .values(ours.map(({ row }) => row))
        .execute();
      const changes = ours.map(({ link: { domain, code }, version }) => ({ domain, code, version }));
      await recordChange(trx, changes, some[0]?.at ?? 0);
      for (const { link, row, version } of ours) {
        results.set(link, { kind: "written", link: toLink({ ...row, version }) });
      }
    }
    return links.map((link) => results.get(link) ?? { kind: "taken" });
  }

  /**
   * The tenant's row comes last, for everybody else who makes links of this tenant waits for it until the commit. Always
   * after the codes, so that no two wait for each other.
   */
  function writeWithin({ tenant, month, most }: Spender, links: readonly NewLink[]): Promise<Written[]> {
    return sql.transaction(async (trx) => {
      const results = await write(trx, tenant, links);
      const written = results.filter(({ kind }) => kind === "written").length;
      if (written === 0) return results;
      const used = await spendOfMonth(trx, { tenant, name: "links", month }, written);
      if (used + written > most) throw new Overspent(most - used);
      return results;
    });
  }

  async function insertWithin(spender: Spender, links: readonly NewLink[]): Promise<Written[]> {
    for (let tried = links; ; ) {
      try {
        const results = await writeWithin(spender, tried);
        return links.map((_, place) => results[place] ?? { kind: "spent" });
      } catch (error) {
        if (!(error instanceof Overspent)) throw error;
        // Fewer every time, for what is used only grows.
        tried = links.slice(0, Math.max(0, error.room));
      }
    }
  }

  const gathered = createGather({
    keyOf: ({ tenant, month, most }: Spender) => `${tenant} ${month} ${most}`,
    write: insertWithin,
    most: gatheredMost,
  });

  return {
    async insert(tenant, links, spending) {
      if (spending === "nothing") return sql.transaction((trx) => write(trx, tenant, links));
      const [month, most] = [monthName(links[0]?.at ?? 0), spending.linksPerMonth ?? Number.POSITIVE_INFINITY];
      return gathered({ tenant, month, most }, links);
    },

    insertWith: (tenant, links, also) =>
      sql.transaction(async (trx) => {
        const written = await write(trx, tenant, links);
        await also(trx, written);
        return written;
      }),

    async get(tenant, id) {
      const row = await byId(db, tenant, id).executeTakeFirst();
      return row && toLink(row);
    },

    async byCode(tenant, domain, code) {
      const row = await withVersion(db)
        .where("links.tenant_id", "=", tenant)
        .where("links.domain", "=", domain)
        .where("links.code", "=", code)
        .executeTakeFirst();
      return row && toLink(row);
    },

    async list(tenant, limit, before) {
      let query = withVersion(db).where("links.tenant_id", "=", tenant);
      if (before !== undefined) query = query.where("links.id", "<", before);
      const rows = await query.orderBy("links.id", "desc").limit(limit).execute();
      return rows.map(toLink);
    },

    async listUp(tenant, limit, after) {
      let query = withVersion(db).where("links.tenant_id", "=", tenant);
      if (after !== undefined) query = query.where("links.id", ">", after);
      const rows = await query.orderBy("links.id").limit(limit).execute();
      return rows.map(toLink);
    },

    update: (tenant, id, edit, at, expected) =>
      change(tenant, id, expected, at, "live", async (trx, link, version) => {
        const fields = edit(link);
        await trx
          .updateTable("links")
          .set({ ...fieldColumns(fields), updated_at: at })
          .where("id", "=", id)
          .execute();
        return { ...link, ...fields, version, updatedAt: at };
      }),

    remove: (tenant, id, at, expected) =>
      change(tenant, id, expected, at, "deleted", async (trx, link, version) => {
        await trx.deleteFrom("links").where("id", "=", id).execute();
        return { ...link, version };
      }),

    async target(domain, code) {
      const row = await db
        .selectFrom("link_versions as v")
        .leftJoin("links as l", (join) => join.onRef("l.domain", "=", "v.domain").onRef("l.code", "=", "v.code"))
        .leftJoin("tenants as t", "t.id", "l.tenant_id")
        .leftJoin("plans as p", "p.name", "t.plan")
        .select(["v.version", "l.url", "l.permanent", "l.status", "l.expires_at", "l.fallback_url", "l.password_hash"])
        .select(["l.hits_per_month", "t.plan", "t.limits as overrides", "p.limits as plan_limits"])
        .where("v.domain", "=", domain)
        .where("v.code", "=", code)
        .executeTakeFirst();
      if (!row) return { version: 0, value: undefined };
      if (row.url === null || row.status !== "active") return { version: row.version, value: undefined };
      return {
        version: row.version,
        value: {
          url: row.url,
          permanent: row.permanent === 1,
          expiresAt: row.expires_at,
          fallbackUrl: row.fallback_url,
          password: row.password_hash !== null,
          hitsMax: hitsMax(row.hits_per_month, row.plan ?? "", row.plan_limits, row.overrides ?? "{}"),
        },
      };
    },

    touch: (domain, code, at) =>
      sql.transaction(async (trx) => {
        const row = await trx
          .updateTable("link_versions")
          .set((expression) => ({ version: expression("version", "+", 1) }))
          .where("domain", "=", domain)
          .where("code", "=", code)
          .returning("version")
          .executeTakeFirst();
        if (row) await recordChange(trx, [{ domain, code, version: row.version }], at);
        return row?.version;
      }),

    async purge(expiredBefore, limit, at) {
      const rows = await withVersion(db)
        .where("links.expires_at", "<", expiredBefore)
        .orderBy("links.expires_at")
        .limit(limit)
        .execute();
      let purged = 0;
      for (const row of rows) {
        const outcome = await change(row.tenant_id, row.id, row.version, at, "purged", async (trx, link, version) => {
          await trx.deleteFrom("links").where("id", "=", link.id).execute();
          return { ...link, version };
        });
        if (outcome.kind === "changed") purged++;
      }
      return purged;
    },
  };
}

function byCode(a: NewLink, b: NewLink): number {
  const [one, other] = [cacheKey(a.domain, a.code), cacheKey(b.domain, b.code)];
  return one === other ? 0 : one < other ? -1 : 1;
}

/** Whose month the links count for, and how many it may have. */
interface Spender {
  readonly tenant: TenantId;
  readonly month: string;
  readonly most: number;
}

/** Undoes a transaction that wrote more links than the month has room for. */
class Overspent extends Error {
  constructor(readonly room: number) {
    super(`the month has room for ${room} more`);
  }
}

function fieldColumns(fields: LinkFields) {
  return {
    url: fields.url,
    permanent: fields.permanent ? (1 as const) : (0 as const),
    status: fields.status,
    expires_at: fields.expiresAt,
    title: fields.title,
    notes: fields.notes,
    tags: JSON.stringify(fields.tags),
    fallback_url: fields.fallbackUrl,
    hits_per_month: fields.hitsPerMonth,
  };
}

function toRow(tenant: TenantId, link: NewLink): LinkTable {
  return {
    id: link.id,
    tenant_id: tenant,
    domain: link.domain,
    code: link.code,
    ...fieldColumns(link),
    password_hash: null,
    file_id: null,
    created_at: link.createdAt ?? link.at,
    updated_at: link.at,
  };
}

function toLink(row: Selectable<LinkTable> & { version: number }): Link {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    domain: row.domain,
    code: row.code,
    url: row.url,
    permanent: row.permanent === 1,
    status: row.status,
    expiresAt: row.expires_at,
    title: row.title,
    notes: row.notes,
    tags: JSON.parse(row.tags) as string[],
    fallbackUrl: row.fallback_url,
    hitsPerMonth: row.hits_per_month,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
