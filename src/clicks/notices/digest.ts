import { sql as raw } from "kysely";
import type { DigestFacts } from "../../email/templates/digest.ts";
import { monthName } from "../../limits/window.ts";
import { shortUrl } from "../../links/link.ts";
import { hitsMaxExpression } from "../../links/rows.ts";
import { ofTenant } from "../../sql/tenant-db.ts";
import type { NoticeSources, NoticeTenant } from "./find-notices.ts";
import { allNamesOf } from "./link-names.ts";
import { isReachable } from "./reachable-links.ts";
import { dueWeek, readWeek, type Week } from "./week.ts";

/** The weekly digest of a tenant, when it is due: once for each week, by the key of its email. */
export interface DigestNotice {
  readonly kind: "digest";
  /** `digest:2026-W46` */
  readonly key: string;
  readonly facts: Omit<DigestFacts, "tenant">;
}

const shownMost = 5;

export async function digestOf(
  sources: NoticeSources,
  tenant: NoticeTenant,
  now: number,
): Promise<DigestNotice | undefined> {
  const week = dueWeek(tenant.zone, now);
  if (week === undefined || (await isDone(sources, tenant, week))) return undefined;
  const counts = await readWeek(sources.sql, tenant, week);
  if (counts === undefined) return undefined; // condensing is behind: the next run looks again
  const key = `digest:${week.name}`;
  // A tenant without clicks has nothing to read.
  const isEmpty = counts.clicks + counts.before.clicks === 0;
  await remember(sources, tenant, week, isEmpty ? null : key, now);
  if (isEmpty) return undefined;
  const { sql, baseUrl } = sources;
  // They had clicks in this week, even if visitors cannot reach them any more.
  const names = await allNamesOf(
    sql,
    tenant.id,
    counts.links.map(({ link }) => link),
    baseUrl,
  );
  const links = counts.links.flatMap(({ link, clicks }) => {
    const name = names.get(link);
    return name === undefined ? [] : [{ url: name.url, title: name.title, clicks }];
  });
  const { days, clicks, visitors, before, countries, referrers } = counts;
  const [dead, nearLimit] = [await deadLinks(sources, tenant, now), await linksNearLimit(sources, tenant, now)];
  const facts = { zone: tenant.zone, days, clicks, visitors, before, links, countries, referrers, dead, nearLimit };
  return { kind: "digest", key, facts };
}

/** One row for the last week that was looked at: told, or without clicks. */
async function isDone({ sql }: NoticeSources, { id }: NoticeTenant, week: Week): Promise<boolean> {
  const row = await ofTenant(sql.db, id)
    .selectFrom("click_notices")
    .select(["since", "told"])
    .where("kind", "=", "digest")
    .where("link", "=", 0)
    .executeTakeFirst();
  return row !== undefined && row.since >= week.start && row.told === 1;
}

async function remember({ sql }: NoticeSources, { id }: NoticeTenant, week: Week, mail: string | null, now: number) {
  const row = { since: week.start, seen_at: now, facts: "{}", mail, told: mail === null ? (1 as const) : (0 as const) };
  await ofTenant(sql.db, id)
    .insertInto("click_notices")
    .values({ ...row, kind: "digest", link: 0 })
    .onConflict((conflict) => conflict.columns(["tenant_id", "kind", "link"]).doUpdateSet(row))
    .execute();
}

/** Looked at to show some: others were given another destination since the check. */
const deadMost = 100;

async function deadLinks(
  { sql, targets, baseUrl }: NoticeSources,
  { id }: NoticeTenant,
  now: number,
): Promise<DigestFacts["dead"]> {
  const rows = await ofTenant(sql.db, id)
    .selectFrom("links as l")
    .innerJoin("targets as t", "t.link_id", "l.id")
    .select(["l.id", "l.url", "l.domain", "l.code", "l.title"])
    .where("t.state", "=", "dead")
    .where(isReachable(now))
    .orderBy("t.checked_at", "desc")
    .limit(deadMost)
    .execute();
  const health = await targets.of(rows);
  return rows
    .filter((row) => health.get(row.id)?.state === "dead")
    .slice(0, shownMost)
    .map(({ title, domain, code }) => ({ url: shortUrl(baseUrl, { domain, code }), title }));
}

/** At 80 % or more of their hits this month, which matters only while visitors can reach them. */
async function linksNearLimit(
  { sql, baseUrl, tenants }: NoticeSources,
  { id }: NoticeTenant,
  now: number,
): Promise<DigestFacts["nearLimit"]> {
  const limits = (await tenants.byId(id))?.limits;
  if (limits === undefined) return [];
  const max = hitsMaxExpression(limits.hitsPerLinkPerMonth);
  const rows = await ofTenant(sql.db, id)
    .selectFrom("links as l")
    .innerJoin("quotas as q", (join) => join.onRef("q.domain", "=", "l.domain").onRef("q.code", "=", "l.code"))
    .select(["l.domain", "l.code", "q.counted", max.as("max")])
    .where(isReachable(now))
    .where("q.month", "=", monthName(now))
    .where("q.draws", "=", "hits")
    .where(max, ">", 0)
    .where(raw<boolean>`q.counted * 5 >= (${max}) * 4`)
    .orderBy(raw`q.counted * 1.0 / (${max})`, "desc")
    .orderBy("l.id")
    .limit(shownMost)
    .execute();
  return rows.map(({ counted, max, ...place }) => ({
    url: shortUrl(baseUrl, place),
    used: Number(counted),
    max: Number(max),
  }));
}
