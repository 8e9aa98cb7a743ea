import { type RawBuilder, sql as raw } from "kysely";
import type { Clock } from "../../base/clock.ts";
import { dayMs } from "../../base/clock.ts";
import type { LinkId, TenantId } from "../../base/ids.ts";
import { type HitReason, hitReasons } from "../../redirect/decide.ts";
import type { LinkNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant } from "../../sql/tenant-db.ts";
import { type ClickFacts, dimensions, firstToLink, firstToTenant, tooLate } from "../click.ts";
import { createValueNames } from "../rollups/value-names.ts";
import { chooseSample, type EventScope, eventsOf, eventsReadMost, levelMost } from "./events.ts";
import type { ClickFilter } from "./filters.ts";
import type { Span } from "./query.ts";
import { conditionsFor, type ReportSubject, scopeOf } from "./scope.ts";

/**
 * Single clicks, newest first. Events are stored by day and not by time, so a page looks at whole days: one, then two, four and
 * so on while they have few clicks. It looks at a bounded number of events, and may end before it is full: then its
 * place is where the next one goes on. Of a day with more events than that, a sample is listed.
 */
export interface ClickListQuery extends Span {
  readonly filters: readonly ClickFilter[];
  readonly limit: number;
  readonly after: ClickPlace | undefined;
}

/** Of the last click that was listed, or was looked at. */
export type ClickPlace = readonly [at: number, seq: number, link: number];

export interface ClickPage {
  readonly items: readonly ListedClick[];
  /** Null: there are no more. */
  readonly next: ClickPlace | null;
}

export interface ListedClick {
  readonly at: number;
  readonly link: { readonly id: LinkId | null; readonly domain: string; readonly code: string };
  readonly reason: HitReason;
  /** The day's first visit to the link, or to the tenant. Null: it came too late to tell. */
  readonly first: boolean | null;
  readonly facts: ClickFacts;
  /** How many clicks it stands for; above 1 if this is a sample. */
  readonly weight: number;
}

const columns = ["at", "seq", "link", "reason", "first", ...dimensions] as const;
const longestDays = 256;
const listMs = 8_000;

export async function listClicks(
  sql: Sql,
  clock: Clock,
  tenant: TenantId,
  subject: ReportSubject,
  query: ClickListQuery,
): Promise<ClickPage> {
  const end = clock.elapsed() + listMs;
  const scope = await scopeOf(sql, tenant, subject);
  const conditions = await conditionsFor(sql, tenant, scope.tenant, query.filters);
  const filtered: EventScope = { ...scope, conditions: [...scope.conditions, ...conditions] };
  const found: number[] = [];
  const rows = () => found.length / columns.length;
  const weights: number[] = [];
  let [looked, days] = [0, 1];
  let to = query.after === undefined ? query.to : Math.min(query.to, query.after[0] + 1);
  while (to > query.from) {
    const from = Math.max(query.from, Math.floor((to - 1) / dayMs - days + 1) * dayMs);
    const sample = await chooseSample(sql, scope, [{ from, to }]);
    if (sample.level > 0 && days > 1) {
      days = 1;
      continue;
    }
    const levels = Array.from({ length: levelMost + 1 - sample.level }, (_, place) => sample.level + place);
    let page = eventsOf(sql, filtered, { from, to }, levels)
      .orderBy("at", "desc")
      .orderBy("seq", "desc")
      .orderBy("link", "desc")
      .limit(query.limit + 1 - rows());
    if (query.after !== undefined) page = page.where(isBefore(query.after));
    for (const row of await page.select(columns).execute()) {
      for (const name of columns) found.push(row[name]);
      weights.push(2 ** sample.level);
    }
    if (rows() > query.limit) break;
    looked += sample.events;
    to = from;
    days = Math.min(longestDays, days * 2);
    if (looked >= eventsReadMost || clock.elapsed() > end) break;
  }
  const isFull = rows() > query.limit;
  const items = await shownClicks(sql, tenant, scope, isFull ? found.slice(0, query.limit * columns.length) : found);
  const last = query.limit - 1;
  const [at = 0, seq = 0, link = 0] = found.slice(last * columns.length, last * columns.length + 3);
  const next: ClickPlace | null = isFull ? [at, seq, link] : to > query.from ? [to, -1, 0] : null;
  return { items: items.map((item, place) => ({ ...item, weight: weights[place] ?? 1 })), next };
}

const isBefore = ([at, seq, link]: ClickPlace): RawBuilder<boolean> =>
  raw<boolean>`(at < ${at} or (at = ${at} and (seq < ${seq} or (seq = ${seq} and link < ${link}))))`;

async function shownClicks(
  sql: Sql,
  tenant: TenantId,
  { whose }: EventScope,
  numbers: readonly number[],
): Promise<Omit<ListedClick, "weight">[]> {
  const width = columns.length;
  const factsPlace = width - dimensions.length;
  const clicks = Array.from({ length: numbers.length / width }, (_, row) =>
    numbers.slice(row * width, (row + 1) * width),
  );
  const names = createValueNames(sql);
  await names.load(clicks.flatMap((click) => click.slice(factsPlace)));
  const links = await linksOf(
    sql,
    tenant,
    clicks.map((click) => click[2] as LinkNumber),
  );
  const bit = whose === "link" ? firstToLink : firstToTenant;
  return clicks.map((click) => {
    const [at = 0, , link = 0, reason = 0, first = 0] = click;
    return {
      at,
      link: links.get(link) ?? { id: null, domain: "", code: "" },
      reason: hitReasons[reason] ?? "counted",
      first: (first & tooLate) !== 0 ? null : (first & bit) !== 0,
      facts: Object.fromEntries(
        dimensions.map((name, place) => [name, names.of(click[factsPlace + place] ?? 0) ?? ""]),
      ) as ClickFacts,
    };
  });
}

const linksAtOnce = 500;

/** A deleted link has no id, but its clicks keep its code. */
async function linksOf(
  { db }: Sql,
  tenant: TenantId,
  numbers: readonly LinkNumber[],
): Promise<Map<number, ListedClick["link"]>> {
  const own = ofTenant(db, tenant);
  const wanted = [...new Set(numbers)];
  const links = new Map<number, ListedClick["link"]>();
  for (let at = 0; at < wanted.length; at += linksAtOnce) {
    const some = wanted.slice(at, at + linksAtOnce);
    const known = await own
      .selectFrom("click_links")
      .select(["link", "domain", "code"])
      .where("link", "in", some)
      .execute();
    for (const { link, domain, code } of known) links.set(link, { id: null, domain, code });
    if (known.length === 0) continue;
    const live = await own
      .selectFrom("links")
      .select(["id", "number", "domain", "code"])
      .where("domain", "in", [...new Set(known.map(({ domain }) => domain))])
      .where("code", "in", [...new Set(known.map(({ code }) => code))])
      .execute();
    for (const { id, number, domain, code } of live) {
      if (number !== null && links.has(number)) links.set(number, { id, domain, code });
    }
  }
  return links;
}
