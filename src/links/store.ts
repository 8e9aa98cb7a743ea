import type { Selectable, Transaction } from "kysely";
import type { FileId, LinkId, TenantId } from "../base/ids.ts";
import type { Versioned } from "../cache/cache.ts";
import { storedKey } from "../files/file.ts";
import { monthName } from "../limits/month.ts";
import { recordChange } from "../sql/feed.ts";
import type { CodeState, LinkTable, Schema } from "../sql/schema.ts";
import { isUniqueViolation, type Sql } from "../sql/sql.ts";
import { spendOfMonth } from "../tenants/monthly.ts";
import { hitsMax } from "../tenants/plans.ts";
import { choiceColumns, toChoice, toChoiceFields, toUtm } from "./choice-columns.ts";
import { claim } from "./claim.ts";
import { conditionsOf, type LinkQuery, orderOf } from "./find.ts";
import { createGather } from "./gather.ts";
import { cacheKey, type Link, type LinkFields, type MeteredTarget, ownDomain, type TargetFile } from "./link.ts";
import { withUtm } from "./utm.ts";

/**
 * Links in SQL. Whatever changes a link adds 1 to the version of its (domain, code) and a row to the change feed, all in
 * one transaction; the version row stays when the link goes. Every method that somebody outside can reach takes the
 * tenant first, and finds nothing of anybody else's.
 */
export interface StoredFields extends LinkFields {
  /** Left out: as it was. */
  readonly passwordHash?: string | null;
}

export interface NewLink extends StoredFields {
  readonly id: LinkId;
  readonly domain: string;
  readonly code: string;
  /** A generated code may only be new or purged; a chosen one also one that its owner deleted. */
  readonly generated: boolean;
  /** If generated: by chance, and not from the counter. */
  readonly private?: boolean;
  /** Its id was chosen before: a link that has it already is this one. */
  readonly findable?: boolean;
  readonly at: number;
  /** If it was made elsewhere before. */
  readonly createdAt?: number;
}

export type Written =
  | { readonly kind: "written"; readonly link: Link }
  /** It was written before. */
  | { readonly kind: "found"; readonly link: Link }
  | { readonly kind: "taken" }
  /** The domain is not the tenant's, or not any more. */
  | { readonly kind: "no_domain" }
  /** It should lead to a file that the tenant has not stored. */
  | { readonly kind: "no_file" }
  /** The month's links are made; this one was not even tried. */
  | { readonly kind: "spent" };

export type AllWritten =
  | { readonly kind: "written"; readonly links: readonly Link[] }
  /** Nothing was written, because of those at these places. */
  | { readonly kind: "refused"; readonly refused: ReadonlyMap<number, "taken" | "no_domain" | "no_file"> }
  | { readonly kind: "spent" };

/** Whether new links count for the tenant's month, and how many it may have; null is without limit, but counted. */
export type Spending = { readonly linksPerMonth: number | null } | "nothing";

export type Changed =
  | { readonly kind: "changed"; readonly link: Link }
  | { readonly kind: "conflict"; readonly version: number }
  | { readonly kind: "no_file" }
  | { readonly kind: "missing" };

export interface LinkStore {
  /**
   * All in one transaction; a code that is taken leaves its place as `taken` and the others go in. When the month has
   * room for fewer than would be written, only the first so many are tried.
   */
  insert(tenant: TenantId, links: readonly NewLink[], spending: Spending): Promise<Written[]>;
  /** All of them in one transaction, or none. */
  insertAll(tenant: TenantId, links: readonly NewLink[], spending: Spending): Promise<AllWritten>;
  /** The operator's, in one transaction with what else is to be written if they are; what it throws undoes all. */
  insertWith(
    tenant: TenantId,
    links: readonly NewLink[],
    also: (trx: Transaction<Schema>, written: readonly Written[]) => Promise<void>,
  ): Promise<Written[]>;
  /** What would keep each of them out, whatever its code; nothing where nothing would. */
  unfit(
    tenant: TenantId,
    links: readonly Pick<NewLink, "domain" | "file">[],
  ): Promise<("no_domain" | "no_file" | undefined)[]>;
  get(tenant: TenantId, id: LinkId): Promise<Link | undefined>;
  /** Those of them that there are. */
  made(tenant: TenantId, ids: readonly LinkId[]): Promise<Map<LinkId, Link>>;
  byCode(tenant: TenantId, domain: string, code: string): Promise<Link | undefined>;
  /** Newest first; `before` is the last id of the page before. */
  list(tenant: TenantId, limit: number, before?: LinkId): Promise<Link[]>;
  /** In the order asked for, from its position on. */
  find(tenant: TenantId, query: LinkQuery): Promise<Link[]>;
  /** Oldest first; `after` is the last id of the page before. */
  listUp(tenant: TenantId, limit: number, after?: LinkId): Promise<Link[]>;
  update(
    tenant: TenantId,
    id: LinkId,
    edit: (link: Link) => StoredFields,
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

const meetingsMost = 5;
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

  async function madeOf(from: Pick<typeof db, "selectFrom">, tenant: TenantId, ids: readonly LinkId[]) {
    if (ids.length === 0) return new Map<LinkId, Link>();
    const rows = await withVersion(from).where("links.tenant_id", "=", tenant).where("links.id", "in", ids).execute();
    return new Map(rows.map((row) => [row.id, toLink(row)]));
  }

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

  /**
   * Which of the files that these lead to are there, and stay until the transaction ends: whoever deletes one after that
   * finds the link, and gives it a new version.
   */
  async function lockFiles(
    trx: Pick<typeof db, "selectFrom">,
    tenant: TenantId,
    links: readonly Pick<LinkFields, "file">[],
  ): Promise<Set<FileId>> {
    const ids = [...new Set(links.flatMap(({ file }) => (file === null ? [] : [file])))];
    if (ids.length === 0) return new Set();
    const rows = trx
      .selectFrom("files")
      .select("id")
      .where("tenant_id", "=", tenant)
      .where("id", "in", ids)
      .where("state", "=", "stored")
      .orderBy("id");
    return new Set((await sql.locked(rows).execute()).map(({ id }) => id));
  }

  async function write(trx: Transaction<Schema>, tenant: TenantId, links: readonly NewLink[]): Promise<Written[]> {
    const made = await madeOf(
      trx,
      tenant,
      links.flatMap(({ id, findable }) => (findable ? id : [])),
    );
    const owned = await ownedDomains(trx, tenant, links);
    const files = await lockFiles(trx, tenant, links);
    const hasDomain = ({ domain }: NewLink) => owned.has(domain);
    const hasFile = ({ file }: NewLink) => file === null || files.has(file);
    const written = new Map<LinkId, Link>();
    const wanted = links.filter((link) => !made.has(link.id) && hasDomain(link) && hasFile(link));
    for (const some of inStatements(wanted)) {
      const versions = await claim(trx, tenant, some);
      const ours = some.flatMap((link) => {
        const version = versions.get(link);
        return version === undefined ? [] : [{ row: toRow(tenant, link), version }];
      });
      if (ours.length === 0) continue;
      await trx
        .insertInto("links")
        .values(ours.map(({ row }) => row))
        .execute();
      const changes = ours.map(({ row: { domain, code }, version }) => ({ domain, code, version }));
      await recordChange(trx, changes, some[0]?.at ?? 0);
      for (const { row, version } of ours) written.set(row.id, toLink({ ...row, version }));
    }
    return links.map((link) => {
      const [found, ours] = [made.get(link.id), written.get(link.id)];
      if (found) return { kind: "found", link: found };
      if (ours) return { kind: "written", link: ours };
      if (!hasDomain(link)) return { kind: "no_domain" };
      return { kind: hasFile(link) ? "taken" : "no_file" };
    });
  }

  function writeAll(spender: Spender | undefined, tenant: TenantId, links: readonly NewLink[]): Promise<AllWritten> {
    return sql.transaction(async (trx) => {
      const results = await write(trx, tenant, links);
      const refused = new Map(
        results.flatMap(({ kind }, place) =>
          kind === "taken" || kind === "no_domain" || kind === "no_file" ? [[place, kind] as const] : [],
        ),
      );
      if (refused.size > 0) throw new NotAll({ kind: "refused", refused });
      const written = results.filter(({ kind }) => kind === "written").length;
      if (spender && written > 0) {
        const used = await spendOfMonth(trx, { tenant, name: "links", month: spender.month }, written);
        if (used + written > spender.most) throw new NotAll({ kind: "spent" });
      }
      return { kind: "written", links: results.flatMap((result) => ("link" in result ? [result.link] : [])) };
    });
  }

  async function insertAll(...all: Parameters<typeof writeAll>): Promise<AllWritten> {
    for (let meetings = 1; ; meetings++) {
      try {
        return await writeAll(...all);
      } catch (error) {
        if (error instanceof NotAll) return error.outcome;
        if (!isUniqueViolation(error) || meetings === meetingsMost) throw error;
      }
    }
  }

  /** They stay the tenant's until the transaction ends: a domain goes only when no link is on it. */
  async function ownedDomains(
    trx: Pick<typeof db, "selectFrom">,
    tenant: TenantId,
    links: readonly Pick<NewLink, "domain">[],
  ): Promise<ReadonlySet<string>> {
    const asked = [...new Set(links.map(({ domain }) => domain))].filter((domain) => domain !== ownDomain);
    if (asked.length === 0) return onlyOwn;
    const rows = await sql
      .steady(
        trx
          .selectFrom("domains")
          .select("host")
          .where("tenant_id", "=", tenant)
          .where("host", "in", asked)
          .where("state", "=", "verified"),
      )
      .execute();
    return new Set([ownDomain, ...rows.map(({ host }) => host)]);
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
    let meetings = 0;
    for (let tried = links; ; ) {
      try {
        const results = await writeWithin(spender, tried);
        return links.map((_, place) => results[place] ?? { kind: "spent" });
      } catch (error) {
        // Another run of the same request has just made it: this time it is found.
        if (isUniqueViolation(error) && links.some(({ findable }) => findable) && ++meetings < meetingsMost) continue;
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
      return gathered(spenderOf(tenant, links, spending), links);
    },

    insertAll: (tenant, links, spending) =>
      insertAll(spending === "nothing" ? undefined : spenderOf(tenant, links, spending), tenant, links),
    insertWith: (tenant, links, also) =>
      sql.transaction(async (trx) => {
        const written = await write(trx, tenant, links);
        await also(trx, written);
        return written;
      }),

    async unfit(tenant, links) {
      const owned = await ownedDomains(db, tenant, links);
      const files = await lockFiles(db, tenant, links);
      return links.map(({ domain, file }) => {
        if (!owned.has(domain)) return "no_domain";
        return file === null || files.has(file) ? undefined : "no_file";
      });
    },

    async get(tenant, id) {
      const row = await byId(db, tenant, id).executeTakeFirst();
      return row && toLink(row);
    },

    made: (tenant, ids) => madeOf(db, tenant, ids),

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

    async find(tenant, query) {
      let rows = withVersion(db).where("links.tenant_id", "=", tenant);
      for (const condition of conditionsOf(sql, query)) rows = rows.where(condition);
      return (await rows.orderBy(orderOf(query)).limit(query.limit).execute()).map(toLink);
    },

    async listUp(tenant, limit, after) {
      let query = withVersion(db).where("links.tenant_id", "=", tenant);
      if (after !== undefined) query = query.where("links.id", ">", after);
      const rows = await query.orderBy("links.id").limit(limit).execute();
      return rows.map(toLink);
    },

    update: (tenant, id, edit, at, expected) =>
      change(tenant, id, expected, at, "live", async (trx, link, version) => {
        const { passwordHash, ...fields } = edit(link);
        const other = fields.file !== null && fields.file !== link.file;
        if (other && (await lockFiles(trx, tenant, [fields])).size === 0) throw new NoFile();
        await trx
          .updateTable("links")
          .set({ ...fieldColumns(fields), ...(passwordHash !== undefined && { password_hash: passwordHash }) })
          .set({ updated_at: at })
          .where("id", "=", id)
          .execute();
        const password = passwordHash === undefined ? link.password : passwordHash !== null;
        return { ...link, ...fields, password, version, updatedAt: at };
      }).catch((error: unknown): Changed => {
        if (error instanceof NoFile) return { kind: "no_file" };
        throw error;
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
        .leftJoin("files as f", (join) =>
          join.onRef("f.id", "=", "l.file_id").onRef("f.tenant_id", "=", "l.tenant_id").on("f.state", "=", "stored"),
        )
        .leftJoin("tenants as t", "t.id", "l.tenant_id")
        .leftJoin("plans as p", "p.name", "t.plan")
        .leftJoin("suspended_links as s", (join) =>
          join.onRef("s.domain", "=", "v.domain").onRef("s.code", "=", "v.code"),
        )
        .leftJoin("suspended_tenants as st", "st.tenant_id", "l.tenant_id")
        .select(["v.version", "l.url", "l.permanent", "l.status", "l.expires_at", "l.fallback_url", "l.password_hash"])
        .select(["l.rules", "l.split", "l.utm", "l.forward_query"])
        .select(["l.file_id", "l.tenant_id", "f.name", "f.type", "f.size_bytes", "f.sha256"])
        .select(["l.hits_per_month", "t.plan", "t.limits as overrides", "p.limits as plan_limits"])
        .select(["s.suspended_at", "st.suspended_at as tenant_suspended_at"])
        .where("v.domain", "=", domain)
        .where("v.code", "=", code)
        .executeTakeFirst();
      if (!row) return { version: 0, value: undefined };
      const file = fileOf(row);
      const fileGone = row.file_id !== null && file === null;
      if (row.url === null || fileGone || row.status !== "active") return { version: row.version, value: undefined };
      return {
        version: row.version,
        value: {
          url: row.url === "" ? "" : withUtm(row.url, toUtm(row.utm)),
          file,
          permanent: row.permanent === 1,
          expiresAt: row.expires_at,
          fallbackUrl: row.fallback_url,
          password: row.password_hash !== null,
          ...((row.suspended_at ?? row.tenant_suspended_at) !== null && { suspended: true as const }),
          choice: toChoice(row),
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
          // The code is anybody's now, who has done nothing.
          await trx
            .deleteFrom("suspended_links")
            .where("domain", "=", link.domain)
            .where("code", "=", link.code)
            .execute();
          return { ...link, version };
        });
        if (outcome.kind === "changed") purged++;
      }
      return purged;
    },
  };
}

const onlyOwn: ReadonlySet<string> = new Set([ownDomain]);

/** Whose month the links count for, and how many it may have. */
interface Spender {
  readonly tenant: TenantId;
  readonly month: string;
  readonly most: number;
}

const spenderOf = (tenant: TenantId, links: readonly NewLink[], { linksPerMonth }: Exclude<Spending, "nothing">) => ({
  tenant,
  month: monthName(links[0]?.at ?? 0),
  most: linksPerMonth ?? Number.POSITIVE_INFINITY,
});

/** Undoes a transaction that could not write all it was to. */
class NotAll extends Error {
  constructor(readonly outcome: Exclude<AllWritten, { kind: "written" }>) {
    super(`not all could be written: ${outcome.kind}`);
  }
}

/** Undoes a transaction that wrote more links than the month has room for. */
class Overspent extends Error {
  constructor(readonly room: number) {
    super(`the month has room for ${room} more`);
  }
}

/** Undoes a change to a file that is not there. */
class NoFile extends Error {}

/**
 * In groups for one statement each, in the order of their codes, so that two transactions that want some of the same ones
 * cannot wait for each other. In sizes of powers of two: each size is a statement of its own to the database, which
 * should know it already.
 */
function inStatements(links: readonly NewLink[]): NewLink[][] {
  const rest = links.toSorted(byKey);
  const groups: NewLink[][] = [];
  while (rest.length > 0) groups.push(rest.splice(0, Math.min(statementRows, 2 ** Math.floor(Math.log2(rest.length)))));
  return groups;
}

const statementRows = 64;

function byKey(a: NewLink, b: NewLink): number {
  const [one, other] = [cacheKey(a.domain, a.code), cacheKey(b.domain, b.code)];
  return one === other ? 0 : one < other ? -1 : 1;
}

function fieldColumns(fields: LinkFields) {
  return {
    url: fields.url,
    file_id: fields.file,
    permanent: fields.permanent ? (1 as const) : (0 as const),
    status: fields.status,
    expires_at: fields.expiresAt,
    title: fields.title,
    notes: fields.notes,
    tags: JSON.stringify(fields.tags),
    fallback_url: fields.fallbackUrl,
    hits_per_month: fields.hitsPerMonth,
    ...choiceColumns(fields),
  };
}

interface JoinedFile {
  readonly tenant_id: TenantId | null;
  readonly file_id: FileId | null;
  readonly name: string | null;
  readonly type: string | null;
  readonly size_bytes: number | null;
  readonly sha256: string | null;
}

/** Nothing if it leads to none, or to one that is gone. */
function fileOf({ tenant_id: tenantId, file_id: id, name, type, size_bytes, sha256 }: JoinedFile): TargetFile | null {
  if (tenantId === null || id === null || name === null || type === null || size_bytes === null) return null;
  return { key: storedKey({ tenantId, id }), name, type, sizeBytes: size_bytes, sha256 };
}

function toRow(tenant: TenantId, link: NewLink): LinkTable {
  return {
    id: link.id,
    tenant_id: tenant,
    domain: link.domain,
    code: link.code,
    ...fieldColumns(link),
    password_hash: link.passwordHash ?? null,
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
    file: row.file_id,
    permanent: row.permanent === 1,
    status: row.status,
    expiresAt: row.expires_at,
    title: row.title,
    notes: row.notes,
    tags: JSON.parse(row.tags) as string[],
    fallbackUrl: row.fallback_url,
    hitsPerMonth: row.hits_per_month,
    ...toChoiceFields(row),
    password: row.password_hash !== null,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
