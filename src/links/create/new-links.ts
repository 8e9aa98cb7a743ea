import type { FileId, LinkId, TenantId } from "../../base/ids.ts";
import { monthName } from "../../limits/month.ts";
import { recordChange } from "../../sql/feed.ts";
import { isUniqueViolation, type Sql } from "../../sql/sql.ts";
import { type Db, ofTenant, type Trx } from "../../sql/tenant-db.ts";
import { spendOfMonth } from "../../tenants/monthly.ts";
import { type Link, type LinkFields, ownDomain } from "../link.ts";
import { toLink, toRow, withVersion } from "../rows.ts";
import { claim } from "./claim.ts";
import { createGather } from "./gather.ts";

/**
 * Links that come into being: all that are asked for together, in one transaction with their versions, their rows in the
 * change feed, and what they cost of the tenant's month.
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

export interface NewLinks {
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
    also: (trx: Trx, written: readonly Written[]) => Promise<void>,
  ): Promise<Written[]>;
  /** What would keep each of them out, whatever its code; nothing where nothing would. */
  unfit(
    tenant: TenantId,
    links: readonly Pick<NewLink, "domain" | "file">[],
  ): Promise<("no_domain" | "no_file" | undefined)[]>;
  /** Those of them that there are. */
  made(tenant: TenantId, ids: readonly LinkId[]): Promise<Map<LinkId, Link>>;
}

const meetingsMost = 5;
const gatheredMost = 16; // on SQLite a transaction holds the thread that serves: for a few milliseconds at most

export function createNewLinks(sql: Sql): NewLinks {
  const { db } = sql;

  async function write(trx: Trx, tenant: TenantId, links: readonly NewLink[]): Promise<Written[]> {
    const made = await madeOf(
      trx,
      tenant,
      links.flatMap(({ id, findable }) => (findable ? id : [])),
    );
    const owned = await ownedDomains(trx, tenant, links);
    const files = await lockFiles(sql, trx, tenant, links);
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
      await ofTenant(trx, tenant)
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
    trx: Db,
    tenant: TenantId,
    links: readonly Pick<NewLink, "domain">[],
  ): Promise<ReadonlySet<string>> {
    const asked = [...new Set(links.map(({ domain }) => domain))].filter((domain) => domain !== ownDomain);
    if (asked.length === 0) return onlyOwn;
    const rows = await sql
      .forShare(
        ofTenant(trx, tenant)
          .selectFrom("domains")
          .select("host")
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
      const files = await lockFiles(sql, db, tenant, links);
      return links.map(({ domain, file }) => {
        if (!owned.has(domain)) return "no_domain";
        return file === null || files.has(file) ? undefined : "no_file";
      });
    },

    made: (tenant, ids) => madeOf(db, tenant, ids),
  };
}

async function madeOf(from: Db, tenant: TenantId, ids: readonly LinkId[]): Promise<Map<LinkId, Link>> {
  if (ids.length === 0) return new Map<LinkId, Link>();
  const rows = await withVersion(ofTenant(from, tenant)).where("links.id", "in", ids).execute();
  return new Map(rows.map((row) => [row.id, toLink(row)]));
}

/**
 * Which of the files that these lead to are there, and stay until the transaction ends: whoever deletes one after that
 * finds the link, and gives it a new version.
 */
export async function lockFiles(
  sql: Sql,
  trx: Db,
  tenant: TenantId,
  links: readonly Pick<LinkFields, "file">[],
): Promise<Set<FileId>> {
  const ids = [...new Set(links.flatMap(({ file }) => (file === null ? [] : [file])))];
  if (ids.length === 0) return new Set();
  const rows = ofTenant(trx, tenant)
    .selectFrom("files")
    .select("id")
    .where("id", "in", ids)
    .where("state", "=", "stored")
    .orderBy("id");
  return new Set((await sql.forUpdate(rows).execute()).map(({ id }) => id));
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

/** The order in which `sql/versions.ts` locks, too: two transactions cannot wait for each other. */
function byKey(a: NewLink, b: NewLink): number {
  if (a.domain !== b.domain) return a.domain < b.domain ? -1 : 1;
  return a.code === b.code ? 0 : a.code < b.code ? -1 : 1;
}
