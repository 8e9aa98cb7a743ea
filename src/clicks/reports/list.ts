import { type RawBuilder, sql as raw } from "kysely";
import type { Clock } from "../../base/clock.ts";
import { dayMs } from "../../base/clock.ts";
import type { TenantId } from "../../base/ids.ts";
import { type HitReason, hitReasons } from "../../redirect/decide.ts";
import type { LinkNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { type ClickFacts, dimensions, firstToLink, firstToTenant, none, tooLate } from "../click.ts";
import { everyLevel } from "../event-shelves.ts";
import { createValueNames } from "../rollups/value-names.ts";
import { linksNumbered, type NumberedLink } from "./clicked-links.ts";
import { chooseSample, type EventScope, eventsOf, eventsReadMost } from "./events.ts";
import type { ClickFilter } from "./filters.ts";
import { dayBegin, type KeyPlace, listedColumns, readDay } from "./list-day.ts";
import type { Span } from "./query.ts";
import { conditionsFor, type ReportSubject, scopeOf } from "./scope.ts";

/**
 * Single clicks, newest first. Events are stored by day and not by time, so a page looks at whole days: one, then two, four and
 * so on while they have few clicks. It looks at a bounded number of events, and may end before it is full: then its
 * place is where the next one goes on. Of a day with more events than that, a sample is listed, or for an export all of them, in
 * another order (`list-day.ts`).
 */
export interface ClickListQuery extends Span {
  readonly filters: readonly ClickFilter[];
  readonly limit: number;
  readonly after: ClickPlace | undefined;
  /** Whether all clicks are listed, and none stands for others. */
  readonly isExport?: boolean;
}

/** Of the last click that was listed, or was looked at; or within the day that ends at this time. */
export type ClickPlace = readonly [at: number, seq: number, link: number] | readonly [until: number, ...key: KeyPlace];

const isInDay = (place: ClickPlace): place is readonly [until: number, ...key: KeyPlace] => place.length > 3;

export interface ClickPage {
  readonly items: readonly ListedClick[];
  /** Null: there are no more. */
  readonly next: ClickPlace | null;
}

export interface ListedClick {
  readonly at: number;
  readonly link: Pick<NumberedLink, "value" | "id" | "domain" | "code">;
  readonly reason: HitReason;
  /** The day's first visit to the link, or to the tenant. Null: it came too late to tell. */
  readonly first: boolean | null;
  readonly facts: ClickFacts;
  /** How many clicks it stands for; above 1 if this is a sample. */
  readonly weight: number;
}

const columns = listedColumns;
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
  const first = Math.max(query.from, scope.eventsFrom, scope.lived?.from ?? 0);
  const dayPage = async (until: number, after: KeyPlace): Promise<ClickPage> => {
    const from = Math.max(first, Math.floor((until - 1) / dayMs) * dayMs);
    const { rows, next } = await readDay(sql, filtered, { from, to: until }, after);
    const numbers = rows.flatMap((row) => columns.map((name) => row[name]));
    const items = (await shownClicks(sql, tenant, scope, numbers)).map((item) => ({ ...item, weight: 1 }));
    if (next !== undefined) return { items, next: [until, ...next] };
    return { items, next: from > first ? [from, -1, 0] : null };
  };
  if (query.after !== undefined && isInDay(query.after)) {
    const [until, ...key] = query.after;
    return await dayPage(until, key);
  }
  const found: number[] = [];
  const rows = () => found.length / columns.length;
  const weights: number[] = [];
  let [looked, days] = [0, 1];
  let to = Math.min(query.to, scope.lived?.to ?? query.to, query.after === undefined ? query.to : query.after[0] + 1);
  while (to > first) {
    const from = Math.max(first, Math.floor((to - 1) / dayMs - days + 1) * dayMs);
    const sample = await chooseSample(sql, scope, [{ from, to }]);
    if (sample.level > 0 && days > 1) {
      days = 1;
      continue;
    }
    if (sample.level > 0 && query.isExport) {
      if (rows() === 0) return await dayPage(to, dayBegin);
      break;
    }
    let page = eventsOf(sql, filtered, [{ from, to }], everyLevel.slice(sample.level))
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
  const next: ClickPlace | null = isFull ? [at, seq, link] : to > first ? [to, -1, 0] : null;
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
  const links = await linksNumbered(
    sql,
    tenant,
    clicks.map((click) => click[2] as LinkNumber),
  );
  const bit = whose === "link" ? firstToLink : firstToTenant;
  return clicks.map((click) => {
    const [at = 0, , link = 0, reason = 0, first = 0] = click;
    const { value = none, id = null, domain = "", code = "" } = links.get(link) ?? {};
    return {
      at,
      link: { value, id, domain, code },
      reason: hitReasons[reason] ?? "counted",
      first: (first & tooLate) !== 0 ? null : (first & bit) !== 0,
      facts: Object.fromEntries(
        dimensions.map((name, place) => [name, names.of(click[factsPlace + place] ?? 0) ?? ""]),
      ) as ClickFacts,
    };
  });
}
