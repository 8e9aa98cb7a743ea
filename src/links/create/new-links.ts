import { setImmediate as nextTurn } from "node:timers/promises";
import type { HistoryId, LinkId, TenantId } from "../../base/ids.ts";
import type { Actor } from "../../history/history.ts";
import { addToRequest } from "../../history/requests.ts";
import { monthName } from "../../limits/window.ts";
import { type BulkAppend, type BulkInsert, bulkAppend, bulkInsert, ofDialect, prepareDuring } from "../../sql/bulk.ts";
import { takeLinkNumbers } from "../../sql/link-numbers.ts";
import { isUnavailable, isUniqueViolation, type Sql } from "../../sql/sql.ts";
import { type Params, statement } from "../../sql/statement.ts";
import { acrossTenants, type Db, ofTenant, type TenantDb, type Trx } from "../../sql/tenant-db.ts";
import { type ClaimedCode, firstVersion, raiseVersions } from "../../sql/versions.ts";
import { spendOfMonth } from "../../tenants/monthly-usage.ts";
import { cacheKey, type Link, type LinkFields, type LinkKey, ownDomain } from "../link.ts";
import { asCreated, lockFiles, toLink, withVersion } from "../rows.ts";
import { trashedAmong } from "../trash/trash-store.ts";
import { createGather } from "./gather.ts";
import {
  hasPlainRow,
  type NewLinkColumn,
  numberColumn,
  plainColumns,
  sameColumns,
  seldomColumns,
  sharedValues,
  valuesOf,
} from "./new-row.ts";

/**
 * New links in SQL: all of a request, in one transaction with their versions, their rows in the change feed, and their
 * count towards the tenant's month. `createEach`, `createAll` and `createWith` differ in what happens when some cannot
 * be created; all use `insertLinks`.
 */
export interface StoredFields extends LinkFields {
  /** Omitted: unchanged. */
  readonly passwordHash?: string | null;
}

export interface NewLink extends StoredFields {
  readonly id: LinkId;
  readonly domain: string;
  readonly code: string;
  /** A generated code must be new or purged; a chosen one may also be one that its owner deleted. */
  readonly generated: boolean;
  /** If generated: random, not from the counter. */
  readonly private?: boolean;
  /** Its ID was derived from the request: a link that has it already is this one. */
  readonly findable?: boolean;
  readonly at: number;
  /** When it was created elsewhere, for imports. */
  readonly createdAt?: number;
  readonly by: Actor;
  /** It was created with others, by a request that has one row in the history. */
  readonly request?: HistoryId;
}

export type Created = { readonly kind: "created"; readonly link: Link } | NotCreated;

/** A link that was written, and its version. */
export type WrittenLink = { readonly kind: "created"; readonly version: number } | NotCreated;

type NotCreated =
  /** It already exists. */
  | { readonly kind: "found"; readonly link: Link }
  /** `trashed`: by this link in the trash of the tenant. */
  | { readonly kind: "taken"; readonly trashed?: LinkId }
  /** The domain does not belong to the tenant, or no longer. */
  | { readonly kind: "no_domain" }
  /** It leads to a file that the tenant has not stored. */
  | { readonly kind: "no_file" }
  /** The month's links are used up; this one was not tried. */
  | { readonly kind: "spent" };

export type AllCreated =
  | { readonly kind: "created"; readonly links: readonly Link[] }
  /** None was created, because of those at these indexes. */
  | { readonly kind: "refused"; readonly refused: ReadonlyMap<number, Unfit> }
  | { readonly kind: "spent" };

export type Unfit = Extract<Created, { readonly kind: "taken" | "no_domain" | "no_file" }>;

/** Whether new links count towards the tenant's month, and how many it may have; null for no limit, but counted. */
export type Spending = { readonly linksPerMonth: number | null } | "nothing";

export interface NewLinks {
  /**
   * Each separately, in one transaction: a taken code is reported as `taken`, and the others are created. If the month
   * has room for fewer, only that many are tried.
   */
  createEach(tenant: TenantId, links: readonly NewLink[], spending: Spending): Promise<Created[]>;
  /** All of them in one transaction, or none. */
  createAll(tenant: TenantId, links: readonly NewLink[], spending: Spending): Promise<AllCreated>;
  /** For the operator: in one transaction with other writes; if `also` throws, everything is undone. */
  createWith(
    tenant: TenantId,
    links: readonly NewLink[],
    also: (trx: Trx, written: readonly WrittenLink[]) => Promise<void>,
  ): Promise<WrittenLink[]>;
  /** Why each of them cannot be created, whatever its code; `undefined` for those that can. */
  unfit(
    tenant: TenantId,
    links: readonly Pick<NewLink, "domain" | "file">[],
  ): Promise<("no_domain" | "no_file" | undefined)[]>;
  /** Those that exist. */
  byIds(tenant: TenantId, ids: readonly LinkId[]): Promise<Map<LinkId, Link>>;
}

const meetingsMost = 5;

/** Links in one shared transaction. On SQLite it blocks the serving thread: for a few milliseconds at most. */
const gatheredMost = 64;

/** Fewer are numbered by the database itself: taking their numbers is one more statement. */
const manyLinks = 64;

export function createNewLinks(sql: Sql): NewLinks {
  const { db } = sql;

  const selectVerified = statement((own: TenantDb, { hosts }: Params<{ hosts: readonly string[] }>) =>
    sql.forShare(
      own
        .selectFrom("domains")
        .select("host")
        .where("host", "in", hosts)
        .where("state", "=", "verified")
        .orderBy("host"),
    ),
  );

  /** Locks in the order of `sql/versions.ts`. On PostgreSQL all requests are of one tenant. */
  async function insertLinks(trx: Trx, requests: readonly OwnedLinks[]): Promise<WrittenLink[][]> {
    const inspected: Inspected[] = [];
    for (const { tenant, links } of requests) inspected.push(await inspect(trx, tenant, links));
    const claims = inspected.flatMap(({ tenant, fit }) =>
      fit.map(({ domain, code, generated }) => ({ domain, code, generated, tenant })),
    );
    const at = requests[0]?.links[0]?.at ?? 0;
    const claimed = versionsByTenant(await raiseVersions(sql, trx, { claims }, at));
    const results: WrittenLink[][] = [];
    for (const one of inspected) results.push(await insertClaimed(trx, one, claimed.get(one.tenant) ?? new Map()));
    return results;
  }

  async function insertOwn(trx: Trx, tenant: TenantId, links: readonly NewLink[]): Promise<WrittenLink[]> {
    const [written = []] = await insertLinks(trx, [{ tenant, links }]);
    return written;
  }

  /** Which of them may exist, and those that do already. */
  async function inspect(trx: Trx, tenant: TenantId, links: readonly NewLink[]): Promise<Inspected> {
    const findable = links.filter((link) => link.findable);
    const made = await linksByIds(
      trx,
      tenant,
      findable.map(({ id }) => id),
    );
    const owned = await holdDomains(trx, tenant, links);
    const files = await lockFiles(sql, trx, tenant, links);
    const unfit = ({ domain, file }: NewLink) => {
      if (!owned.has(domain)) return "no_domain";
      return file === null || files.has(file) ? undefined : "no_file";
    };
    return { tenant, links, made, unfit, fit: links.filter((link) => !made.has(link.id) && !unfit(link)) };
  }

  /**
   * Links that certainly can be created, with the fastest way of writing that each database has, unless one of their codes was used
   * before: then it throws a unique violation, and nothing of the transaction is written.
   */
  async function appendOwn(trx: Trx, tenant: TenantId, links: readonly NewLink[]): Promise<WrittenLink[]> {
    const { fit } = await inspect(trx, tenant, links);
    const created = links.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const [one] = created;
    const shared = sharedValues(created, tenant);
    if (one === undefined || shared === undefined || fit.length < links.length) return insertOwn(trx, tenant, links);
    const first = await takeLinkNumbers(sql, trx, created.length);
    const firsts = links.map(({ code }) => code);
    const raising = raiseVersions(sql, trx, { firsts, domain: one.domain, tenant }, one.at);
    const { append, own } = insertFor(created)(first !== undefined);
    const write = await prepareDuring(raising, () =>
      append[sql.dialect]().prepared(shared, valuesOf(created, tenant, own, first)),
    );
    await write(acrossTenants(trx));
    await recordRequests(trx, tenant, created);
    return links.map(() => createdFirst);
  }

  async function insertClaimed(trx: Trx, inspected: Inspected, claimed: Map<LinkKey, number>): Promise<WrittenLink[]> {
    const { tenant } = inspected;
    const { results, created, lost } = divide(inspected, claimed);
    created.sort((a, b) => (a.id < b.id ? -1 : 1));
    const first = created.length < manyLinks ? undefined : await takeLinkNumbers(sql, trx, created.length);
    const { columns, insert } = insertFor(created)(first !== undefined);
    await insert[sql.dialect]().run(acrossTenants(trx), valuesOf(created, tenant, columns, first));
    await recordRequests(trx, tenant, created);
    const trashed = await trashedAmong(
      trx,
      tenant,
      lost.map(({ link }) => link),
    );
    for (const { link, place } of lost) {
      const id = trashed.get(cacheKey(link.domain, link.code));
      if (id !== undefined) results[place] = { kind: "taken", trashed: id };
    }
    return results;
  }

  /**
   * The month's remaining room after these; negative if they are too many. The tenant's row comes last, because every
   * other creation of this tenant waits for it until the commit.
   */
  async function spend(trx: Trx, { tenant, month, most }: Spender, written: readonly WrittenLink[]): Promise<number> {
    const count = countCreated(written);
    if (count === 0) return 0;
    return most - (await spendOfMonth(trx, { tenant, name: "links", month }, count)) - count;
  }

  /** Each tenant within its month: one that has no more room does not affect the others. */
  async function createWithinMonths(requests: readonly SpentLinks[]): Promise<Created[][]> {
    const groups = [...Map.groupBy(requests, ({ spender }) => keyOf(spender)).values()];
    const tried = groups.map((group) => {
      const links = group.flatMap((request) => request.links);
      return { spender: (group[0] as SpentLinks).spender, links, places: [...links.keys()] };
    });
    for (let meetings = 0; ; ) {
      try {
        const created = await sql.transaction(async (trx) => {
          const results = await insertLinks(
            trx,
            tried.map(({ spender: { tenant }, links, places }) => ({
              tenant,
              links: places.flatMap((at) => links[at] ?? []),
            })),
          );
          for (const [group, { spender, places }] of tried.entries()) {
            const result = results[group] ?? [];
            const room = await spend(trx, spender, result);
            if (room < 0) throw new Overspent(group, withRoom(places, result, room + countCreated(result)));
          }
          return results;
        });
        const results = new Map<SpentLinks, Created[]>();
        for (const [place, group] of groups.entries()) {
          const written = new Map(tried[place]?.places.map((at, n) => [at, created[place]?.[n]]));
          let at = 0;
          for (const request of group) {
            const { spender, links } = request;
            const own = links.map((): WrittenLink => written.get(at++) ?? { kind: "spent" });
            results.set(request, toCreated(spender.tenant, links, own));
          }
        }
        return requests.map((request) => results.get(request) ?? []);
      } catch (error) {
        // Another run of the same request has just created it: the retry finds it.
        if (isUniqueViolation(error) && requests.some(hasFindable) && ++meetings < meetingsMost) continue;
        if (!(error instanceof Overspent)) throw error;
        // Fewer every time, because usage only grows.
        const one = tried[error.group];
        if (one !== undefined) tried[error.group] = { ...one, places: error.places };
      }
    }
  }

  const gathered = createGather({
    // A transaction of PostgreSQL holds the row of its tenant's month, and must not keep other tenants waiting for it.
    keyOf: ({ spender }: SpentLinks) => (sql.dialect === "sqlite" ? "" : keyOf(spender)),
    holderOf: ({ spender }) => spender.tenant,
    sizeOf: ({ links }) => links.length,
    run: createWithinMonths,
    most: gatheredMost,
    failsForAll: isUnavailable,
    ...(sql.dialect === "sqlite" && { turn: () => nextTurn() }),
  });

  /** They stay the tenant's until the transaction ends: a domain can only be removed without links. */
  async function holdDomains(
    from: Db,
    tenant: TenantId,
    links: readonly Pick<NewLink, "domain">[],
  ): Promise<ReadonlySet<string>> {
    const elsewhere = links.filter(({ domain }) => domain !== ownDomain);
    if (elsewhere.length === 0) return onlyOwn;
    const hosts = [...new Set(elsewhere.map(({ domain }) => domain))];
    const rows = await selectVerified.all(ofTenant(from, tenant), { hosts });
    return new Set([ownDomain, ...rows.map(({ host }) => host)]);
  }

  /** Of the last links of `createWith`. A file that was imported before is not tried again and again. */
  let wereNew = true;

  return {
    async createEach(tenant, links, spending) {
      if (spending === "nothing") {
        return toCreated(tenant, links, await sql.transaction((trx) => insertOwn(trx, tenant, links)));
      }
      return gathered({ spender: spenderOf(tenant, links, spending), links });
    },

    async createAll(tenant, links, spending) {
      for (let meetings = 1; ; meetings++) {
        try {
          return await sql.transaction(async (trx) => {
            const written = await insertOwn(trx, tenant, links);
            const results = toCreated(tenant, links, written);
            const refused = refusedOf(results);
            if (refused.size > 0) throw new NotAll({ kind: "refused", refused });
            const room = spending === "nothing" ? 0 : await spend(trx, spenderOf(tenant, links, spending), written);
            if (room < 0) throw new NotAll({ kind: "spent" });
            return { kind: "created", links: results.flatMap((result) => ("link" in result ? [result.link] : [])) };
          });
        } catch (error) {
          if (error instanceof NotAll) return error.outcome;
          if (!isUniqueViolation(error) || meetings === meetingsMost) throw error;
        }
      }
    },

    async createWith(tenant, links, also) {
      const run = (insert: typeof insertOwn) =>
        sql.transaction(async (trx) => {
          const written = await insert(trx, tenant, links);
          await also(trx, written);
          return written;
        });
      if (wereNew && links.length >= manyLinks) {
        try {
          return await run(appendOwn);
        } catch (error) {
          if (!isUniqueViolation(error)) throw error;
        }
      }
      const written = await run(insertOwn);
      wereNew = written.every((one) => one.kind === "created" && one.version === firstVersion);
      return written;
    },

    async unfit(tenant, links) {
      const owned = await holdDomains(db, tenant, links);
      const files = await lockFiles(sql, db, tenant, links);
      return links.map(({ domain, file }) => {
        if (!owned.has(domain)) return "no_domain";
        return file === null || files.has(file) ? undefined : "no_file";
      });
    },

    byIds: (tenant, ids) => linksByIds(db, tenant, ids),
  };
}

/** `created` and `lost`: those that are to be inserted, and those whose chosen code belongs to another one. */
function divide({ links, made, unfit }: Inspected, claimed: Map<LinkKey, number>) {
  const results: WrittenLink[] = [];
  const created: NewLink[] = [];
  const lost: { readonly link: NewLink; readonly place: number }[] = [];
  for (const link of links) {
    const found = made.get(link.id);
    const why = unfit(link);
    const key = cacheKey(link.domain, link.code);
    const version = claimed.get(key);
    if (found !== undefined) results.push({ kind: "found", link: found });
    else if (why !== undefined) results.push({ kind: why });
    else if (version !== undefined) {
      claimed.delete(key); // of two that want the same code, the first gets it
      created.push(link);
      results.push({ kind: "created", version });
    } else {
      if (!link.generated) lost.push({ link, place: results.length });
      results.push({ kind: "taken" });
    }
  }
  return { results, created, lost };
}

/** Creations are recorded on the links themselves; a request for many has one row in the history besides. */
async function recordRequests(trx: Trx, tenant: TenantId, created: readonly NewLink[]): Promise<void> {
  const requested = created.filter(({ request }) => request !== undefined);
  for (const [request, some] of Map.groupBy(requested, (link) => link.request)) {
    const [first] = some;
    if (request === undefined || first === undefined) continue;
    const entry = { tenant, actor: first.by, action: "link.bulk", subject: { kind: "request", id: request } };
    await addToRequest(trx, { now: () => first.at }, { ...entry, id: request }, { created: some.length });
  }
}

const refusedOf = (results: readonly Created[]) =>
  new Map(
    results.flatMap((result, place) => {
      const isUnfit = result.kind === "taken" || result.kind === "no_domain" || result.kind === "no_file";
      return isUnfit ? [[place, result] as const] : [];
    }),
  );

async function linksByIds(from: Db, tenant: TenantId, ids: readonly LinkId[]): Promise<Map<LinkId, Link>> {
  if (ids.length === 0) return new Map<LinkId, Link>();
  const rows = await selectByIds.all(ofTenant(from, tenant), { ids });
  return new Map(rows.map((row) => [row.id, toLink(row)]));
}

const selectByIds = statement((own: TenantDb, { ids }: Params<{ ids: readonly LinkId[] }>) =>
  withVersion(own).where("links.id", "in", ids),
);

const typesOf = (columns: readonly NewLinkColumn[]) =>
  Object.fromEntries(columns.map(({ name, type }) => [name, type]));

/** Every row names its tenant. */
const inserting = (own: readonly NewLinkColumn[]) => {
  const settings = { into: "links", same: typesOf(sameColumns), columns: typesOf(own) } as const;
  return {
    own,
    columns: [...sameColumns, ...own],
    insert: ofDialect<BulkInsert<AcrossTenants, never>>((dialect) => bulkInsert(dialect, settings)),
    append: ofDialect<BulkAppend<AcrossTenants>>((dialect) => bulkAppend(dialect, settings)),
  };
};

type AcrossTenants = ReturnType<typeof acrossTenants>;

const createdFirst: WrittenLink = { kind: "created", version: firstVersion };

/** Links that already have their number, or not. */
const insertingBoth = (columns: readonly NewLinkColumn[]) => {
  const [numbered, unnumbered] = [inserting([...columns, numberColumn]), inserting(columns)];
  return (isNumbered: boolean) => (isNumbered ? numbered : unnumbered);
};

const plainInsert = insertingBoth(plainColumns);
const fullInsert = insertingBoth([...plainColumns, ...seldomColumns]);

const insertFor = (links: readonly NewLink[]) => (links.every(hasPlainRow) ? plainInsert : fullInsert);

const onlyOwn: ReadonlySet<string> = new Set([ownDomain]);

interface OwnedLinks {
  readonly tenant: TenantId;
  readonly links: readonly NewLink[];
}

/** New links of one caller. */
interface SpentLinks {
  readonly spender: Spender;
  readonly links: readonly NewLink[];
}

/** New links of a tenant, before their codes are claimed. */
interface Inspected extends OwnedLinks {
  readonly made: ReadonlyMap<LinkId, Link>;
  readonly unfit: (link: NewLink) => "no_domain" | "no_file" | undefined;
  /** Those that need a code. */
  readonly fit: readonly NewLink[];
}

const keyOf = ({ tenant, month, most }: Spender): string => `${tenant} ${month} ${most}`;
const hasFindable = ({ links }: SpentLinks): boolean => links.some(({ findable }) => findable);
const countCreated = (written: readonly WrittenLink[]): number =>
  written.filter(({ kind }) => kind === "created").length;

const toCreated = (tenant: TenantId, links: readonly NewLink[], written: readonly WrittenLink[]): Created[] =>
  written.map((one, place) =>
    one.kind === "created" ? { kind: "created", link: asCreated(tenant, links[place] as NewLink, one.version) } : one,
  );

/** A tenant may be there twice, with another month or limit: both share what it claimed. */
function versionsByTenant(claimed: readonly ClaimedCode[]): ReadonlyMap<TenantId, Map<LinkKey, number>> {
  const versions = new Map<TenantId, Map<LinkKey, number>>();
  for (const { tenant, domain, code, version } of claimed) {
    let own = versions.get(tenant);
    if (own === undefined) {
      own = new Map();
      versions.set(tenant, own);
    }
    own.set(cacheKey(domain, code), version);
  }
  return versions;
}

/** Whose month the links count towards, and how many it may have. */
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

/** Undoes a transaction that could not create all of its links. */
class NotAll extends Error {
  constructor(readonly outcome: Exclude<AllCreated, { kind: "created" }>) {
    super(`not all could be created: ${outcome.kind}`);
  }
}

/** Undoes a transaction in which a tenant created more links than its month has room for. */
class Overspent extends Error {
  constructor(
    readonly group: number,
    /** Of its links that may be tried again. */
    readonly places: number[],
  ) {
    super("the month has room for fewer links");
  }
}

/** All but the last ones that were created: a link that exists, or whose code is taken, needs no room. */
function withRoom(places: readonly number[], written: readonly WrittenLink[], room: number): number[] {
  let left = room;
  return places.filter((_, n) => written[n]?.kind !== "created" || left-- > 0);
}
