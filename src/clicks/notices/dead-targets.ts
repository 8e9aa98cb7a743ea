import { dayMs } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { LinkId, TenantId } from "../../base/ids.ts";
import { switchesOf } from "../../email/settings/notice-kinds.ts";
import { type LinkHealth, shortUrl } from "../../links/link.ts";
import type { LinkNumber } from "../../sql/schema.ts";
import { acrossTenants, ofTenant } from "../../sql/tenant-db.ts";
import { quarterOf } from "../click.ts";
import type { FailedTenant, NoticeSources, NoticeTenant } from "./find-notices.ts";
import { end, type NoticeRow, note, noteAgain } from "./notice-rows.ts";
import { quartersOf } from "./quarter-counts.ts";
import { isReachable } from "./reachable-links.ts";

/**
 * Links whose destination no longer works (`link-health/verdict.ts` decides that after days of failures). All dead destinations are
 * walked over, a part in each run: for each tenant there are few, and finding them by tenant would read all its links.
 */
const walkName = "dead-targets";
const pageLinks = 200;
const pagesMost = 10;
const weekMs = 7 * dayMs;
const checkedAtOnce = 100;

/** Returns the tenants for which it failed. */
export async function noteDeadTargets(sources: NoticeSources): Promise<FailedTenant[]> {
  const { sql } = sources;
  const { db } = sql;
  const saved = await db.selectFrom("walks").select("position").where("name", "=", walkName).executeTakeFirst();
  const failed: FailedTenant[] = [];
  let position = (saved?.position ?? "") as LinkId;
  for (let pages = 0; pages < pagesMost; pages++) {
    const page = await deadAfter(sources, position);
    for (const [tenant, links] of Map.groupBy(page, ({ tenant_id }) => tenant_id)) {
      await noteDead(sources, tenant, links).catch((error: unknown) =>
        failed.push({ tenant, error: messageOf(error) }),
      );
    }
    position = page.length < pageLinks ? ("" as LinkId) : (page.at(-1)?.id ?? position);
    if (position === "") break;
  }
  await db
    .insertInto("walks")
    .values({ name: walkName, position })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ position }))
    .execute();
  return failed;
}

const columns = ["l.id", "l.tenant_id", "l.number", "l.domain", "l.code", "l.url", "l.title"] as const;

const deadAfter = ({ sql, clock }: NoticeSources, position: LinkId) =>
  acrossTenants(sql.db)
    .selectFrom("targets as t")
    .innerJoin("links as l", "l.id", "t.link_id")
    .select(columns)
    .where("t.state", "=", "dead")
    .where("t.link_id", ">", position)
    .where(isReachable(clock.now()))
    .orderBy("t.link_id")
    .limit(pageLinks)
    .execute();

type DeadLink = Awaited<ReturnType<typeof deadAfter>>[number];

async function noteDead(sources: NoticeSources, tenant: TenantId, links: readonly DeadLink[]): Promise<void> {
  const { sql, targets, baseUrl, clock } = sources;
  const numbers = links.map(({ number }) => number);
  const own = ofTenant(sql.db, tenant);
  const settings = await own.selectFrom("email_settings").select(["contact", "notices"]).executeTakeFirst();
  if (settings === undefined || settings.contact === null || !switchesOf(settings.notices).deadTarget) return;
  const rows = await own
    .selectFrom("click_notices")
    .select("link")
    .where("kind", "=", "deadTarget")
    .where("link", "in", numbers)
    .execute();
  const known = new Set<number>(rows.map(({ link }) => link));
  const fresh = links.filter(({ number }) => !known.has(number));
  if (fresh.length === 0) return;
  // The result may be about a destination that the link had before.
  const health = await targets.of(fresh);
  const dead = fresh.flatMap((link) => {
    const found = health.get(link.id);
    return found?.state === "dead" ? [{ link, found }] : [];
  });
  const clicks = await clicksOfWeek(
    sources,
    tenant,
    dead.map(({ link }) => link.number),
  );
  const now = clock.now();
  const noted = dead.map(({ link, found }) => ({
    link: link.number,
    since: now,
    facts: JSON.stringify({
      ...{ id: link.id, url: shortUrl(baseUrl, link), title: link.title, at: found.checkedAt },
      ...{ clicks: clicks.get(link.number) ?? 0, answer: answerOf(found) },
    }),
  }));
  await note(sql, tenant, "deadTarget", noted, now);
}

/** `answers 404`, or `does not answer`. */
const answerOf = ({ httpStatus }: LinkHealth): string =>
  httpStatus === null ? "does not answer" : `answers ${httpStatus}`;

async function clicksOfWeek({ sql, clock }: NoticeSources, tenant: TenantId, links: readonly LinkNumber[]) {
  const own = ofTenant(sql.db, tenant);
  const progress = await own.selectFrom("click_tenants").select("days_until").executeTakeFirst();
  const row = await sql.db.selectFrom("tenants").select("number").where("id", "=", tenant).executeTakeFirst();
  if (row === undefined) return new Map<LinkNumber, number>();
  const until = clock.now();
  const counted = { number: row.number, daysUntil: progress?.days_until ?? 0 };
  const quarters = await quartersOf(sql, counted, links, quarterOf(until - weekMs), until);
  return new Map(
    [...quarters].map(([link, counts]) => [link, [...counts.values()].reduce((sum, one) => sum + one, 0)]),
  );
}

/** Of these, the links that visitors can reach and whose destination is still dead. */
export async function stillDead(
  { sql, targets }: NoticeSources,
  { id }: NoticeTenant,
  noted: readonly Pick<NoticeRow, "facts">[],
  now: number,
): Promise<ReadonlySet<LinkNumber>> {
  const ids = noted.map(({ facts }) => (JSON.parse(facts) as { id: LinkId }).id);
  const links = await ofTenant(sql.db, id)
    .selectFrom("links as l")
    .select(["l.id", "l.url", "l.number"])
    .where("l.id", "in", ids)
    .where(isReachable(now))
    .execute();
  const health = await targets.of(links);
  return new Set(links.flatMap(({ id, number }) => (health.get(id)?.state === "dead" ? [number] : [])));
}

/** A link whose destination works again, or that visitors cannot reach, is forgotten: the next time is a new one. */
export async function endRecovered(sources: NoticeSources, tenant: NoticeTenant, now: number): Promise<void> {
  const { sql } = sources;
  const { id } = tenant;
  const own = ofTenant(sql.db, id);
  const noted = await own
    .selectFrom("click_notices")
    .select(["link", "facts"])
    .where("kind", "=", "deadTarget")
    .orderBy("seen_at")
    .orderBy("link")
    .limit(checkedAtOnce)
    .execute();
  if (noted.length === 0) return;
  const numbers = noted.flatMap(({ link }) => (link === 0 ? [] : [link]));
  const still = await stillDead(sources, tenant, noted, now);
  await end(
    sql,
    id,
    "deadTarget",
    numbers.filter((number) => !still.has(number)),
  );
  // So that the next run checks others.
  await noteAgain(sql, id, "deadTarget", [...still], now);
}
