import { type RawBuilder, sql as raw } from "kysely";
import { dayMs } from "../../base/clock.ts";
import { invalid, Problem } from "../../base/errors.ts";
import type { LinkId, TenantId } from "../../base/ids.ts";
import { type HitReason, hitReasons } from "../../redirect/decide.ts";
import type { GroupNumber, LinkNumber, TenantNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant, type TenantDb } from "../../sql/tenant-db.ts";
import { tenantNumberOf } from "../../tenants/tenant-number.ts";
import { type Dimension, none, other } from "../click.ts";
import { defaultZone } from "../events/days.ts";
import { packedMark, readTagList } from "../events/tag-list.ts";
import { domainNumbers } from "./domain-filter.ts";
import type { EventScope } from "./events.ts";
import { type ClickFilter, lowerAscii } from "./filters.ts";
import { linkNumbers } from "./link-filter.ts";
import type { Span } from "./query.ts";

/** What a report is about. */
export type ReportSubject =
  | { readonly kind: "link"; readonly id: LinkId }
  | { readonly kind: "tenant" }
  /** As stored: the server's own domain is empty. */
  | { readonly kind: "domain"; readonly name: string }
  | { readonly kind: "tag"; readonly name: string };

/** The same in a report: a link also with its place. */
export type ReportedSubject =
  | Exclude<ReportSubject, { readonly kind: "link" }>
  | { readonly kind: "link"; readonly id: LinkId; readonly domain: string; readonly code: string };

export interface SubjectScope extends EventScope {
  /** Undefined: it has no roll-ups. */
  readonly number: LinkNumber | GroupNumber | undefined;
  readonly condensedUntil: number;
  /** Of the tenant: it is raised before a roll-up is replaced. */
  readonly late: number;
  /** When the tenant last had too many visitors to recognise new ones. Null: never. */
  readonly lastFullAt: number | null;
  /** Periods before this may have clicks without a roll-up. */
  readonly rollupsFrom: number;
  /** Events before this are deleted. */
  readonly eventsFrom: number;
  readonly subject: ReportedSubject;
  readonly tenantId: TenantId;
  readonly databaseNow: number;
}

/** Progress and zone of a tenant. */
export async function clickSettings({ db, now }: Pick<Sql, "db" | "now">, tenant: TenantId) {
  const columns = ["zone", "days_until", "events_from", "late", now.as("now")] as const;
  const row = await ofTenant(db, tenant).selectFrom("click_tenants").select(columns).executeTakeFirst();
  return {
    zone: row?.zone ?? defaultZone,
    condensedUntil: row?.days_until ?? 0,
    eventsFrom: row?.events_from ?? 0,
    late: row?.late ?? 0,
    databaseNow: row?.now ?? 0,
  };
}

/** The scope as it is after late clicks. */
export async function renewed(sql: Pick<Sql, "db" | "now">, scope: SubjectScope): Promise<SubjectScope> {
  const { condensedUntil, eventsFrom, late, databaseNow } = await clickSettings(sql, scope.tenantId);
  return { ...scope, condensedUntil, eventsFrom, late, databaseNow };
}

/** Values that a filter may match: more would be a long statement. */
const matchesMost = 2_000;

export async function scopeOf(sql: Sql, tenantId: TenantId, subject: ReportSubject): Promise<SubjectScope> {
  const own = ofTenant(sql.db, tenantId);
  const tenant = await tenantNumberOf(sql.db, tenantId);
  const { condensedUntil, eventsFrom, late, databaseNow } = await clickSettings(sql, tenantId);
  const { lived, lastFullAt } = await daysOf(sql, tenant);
  const common = {
    tenant,
    link: undefined,
    conditions: [],
    whose: "tenant" as const,
    ...{ condensedUntil, eventsFrom, late, rollupsFrom: 0, lived, lastFullAt },
    ...{ tenantId, databaseNow },
  };
  switch (subject.kind) {
    case "tenant":
      return { ...common, number: tenant, subject };
    case "link": {
      const links = own.selectFrom("links").select(["number", "domain", "code"]).where("id", "=", subject.id);
      const { number, domain = "", code = "" } = (await links.executeTakeFirst()) ?? {};
      if (number === undefined || number === null) throw new Problem("not_found", "No such link.");
      return { ...common, link: number, whose: "link", number, subject: { ...subject, domain, code } };
    }
    case "domain": {
      const [number] = await domainNumbers(own, "domain", [subject.name]);
      // Its first click creates the group.
      const conditions = [number === undefined ? nothing : raw<boolean>`domain = ${number}`];
      return { ...common, number, subject, conditions };
    }
    case "tag": {
      const group = await tagGroup(own, subject.name);
      const conditions = [isIn("tags", await idsOfTags(sql, tenant, [subject.name]))];
      return { ...common, subject, number: group?.number, rollupsFrom: group?.since ?? 0, conditions };
    }
  }
}

/** A click may begin the next day while a report is read. */
const marginMs = 2 * dayMs;

/** From the tenant's first day to its last: every click is in one of them. And the last time that it had too many visitors. */
async function daysOf({ db }: Pick<Sql, "db">, tenant: TenantNumber) {
  const { first, last, full } = await db
    .selectFrom("click_days")
    .select((row) => [
      row.fn.min("start").as("first"),
      row.fn.max("start").as("last"),
      row.fn.max("visitors_full_at").as("full"),
    ])
    .where("tenant", "=", tenant)
    .executeTakeFirstOrThrow();
  const lived: Span | undefined = first === null || last === null ? undefined : { from: first, to: last + marginMs };
  return { lived, lastFullAt: full };
}

async function tagGroup(own: TenantDb, name: string) {
  const groups = own.selectFrom("click_groups").select(["number", "since"]);
  return await groups.where("kind", "=", "tag").where("name", "=", name).executeTakeFirst();
}

/** The filters as conditions on events. */
export async function conditionsFor(
  sql: Sql,
  tenantId: TenantId,
  tenant: TenantNumber,
  filters: readonly ClickFilter[],
): Promise<RawBuilder<boolean>[]> {
  const conditions: RawBuilder<boolean>[] = [];
  for (const filter of filters) {
    const { column, ids } = await matchesOf(sql, tenantId, tenant, filter);
    const condition = isIn(column, ids);
    conditions.push(filter.how === "is not" ? raw<boolean>`not ${condition}` : condition);
  }
  return conditions;
}

async function matchesOf(
  sql: Sql,
  tenantId: TenantId,
  tenant: TenantNumber,
  filter: ClickFilter,
): Promise<{ column: string; ids: readonly number[] }> {
  const own = ofTenant(sql.db, tenantId);
  const { field, values } = filter;
  switch (field) {
    case "reason":
      return { column: "reason", ids: values.map((value) => hitReasons.indexOf(value as HitReason)) };
    case "tag":
      return { column: "tags", ids: await idsOfTags(sql, tenant, values) };
    case "domain":
      return { column: "domain", ids: await domainNumbers(own, "filter", values) };
    case "link":
      return { column: "link", ids: await linkNumbers(own, values) };
    default:
      return { column: field, ids: await idsOfValues(sql, tenant, field, filter) };
  }
}

async function idsOfValues(
  sql: Sql,
  tenant: TenantNumber,
  dimension: Dimension,
  { how, values }: ClickFilter,
): Promise<number[]> {
  const known = sql.db
    .selectFrom("click_values")
    .select("id")
    .where("tenant", "in", [0 as const, tenant])
    .where("dimension", "=", dimension);
  if (how !== "contains") {
    const rows = await known.where("value", "in", values).execute();
    return [...rows.map(({ id }) => id), ...(values.includes(none) ? [0] : []), ...(values.includes(other) ? [1] : [])];
  }
  const holds = values.map(
    (value) => raw<boolean>`${sql.lowerAscii("value")} like ${`%${escapeLike(lowerAscii(value))}%`} escape '\\'`,
  );
  const rows = await known
    .where(raw<boolean>`(${raw.join(holds, raw` or `)})`)
    .limit(matchesMost + 1)
    .execute();
  if (rows.length > matchesMost) throw tooMany();
  return rows.map(({ id }) => id);
}

const listsAtOnce = 2_000;

/**
 * Tags are stored as the sorted list of a link's tags. An empty tag means the clicks on links without tags. All lists are looked
 * at, because nobody can name a tag more precisely; a tenant has at most 20,000 of them (`valuesOfTenantMost`).
 */
async function idsOfTags({ db }: Pick<Sql, "db">, tenant: TenantNumber, tags: readonly string[]): Promise<number[]> {
  const named = tags.filter((tag) => tag !== none);
  const ids: number[] = named.length < tags.length ? [0] : [];
  if (named.length === 0) return ids;
  const isPacked = raw<boolean>`value like ${`${packedMark}%`}`;
  const holds = named.map((tag) => raw<boolean>`value like ${`%${escapeLike(JSON.stringify(tag))}%`} escape '\\'`);
  for (let last = ""; ; ) {
    const rows = await db
      .selectFrom("click_values")
      .select(["id", "value"])
      .where("tenant", "=", tenant)
      .where("dimension", "=", "tags")
      .where("value", ">", last)
      .where(raw<boolean>`(${raw.join([isPacked, ...holds], raw` or `)})`)
      .orderBy("value")
      .limit(listsAtOnce)
      .execute();
    // `like` is case-insensitive on SQLite, a tag may contain the text of another, and SQL cannot look into a list that is packed.
    const found = rows.filter(({ value }) => readTagList(value).some((tag) => named.includes(tag)));
    ids.push(...found.map(({ id }) => id));
    if (rows.length < listsAtOnce) return ids;
    last = rows.at(-1)?.value ?? "";
  }
}

const tooMany = () =>
  invalid("filter", "too_many_matches", `Matches more than ${matchesMost} values. Be more specific.`);

const nothing = raw<boolean>`(1 = 0)`;

/** Numbers that come from the database, as part of the text: a list has too many lengths to be prepared. */
const isIn = (column: string, ids: readonly number[]): RawBuilder<boolean> =>
  ids.length === 0 ? nothing : raw<boolean>`(${raw.ref(column)} in (${raw.join(ids.map((id) => raw.lit(id)))}))`;

const escapeLike = (text: string): string => text.replace(/[\\%_]/g, (character) => `\\${character}`);
