import { sql as raw } from "kysely";
import { dayMs } from "../../base/clock.ts";
import type { TenantId } from "../../base/ids.ts";
import { numberOfKept } from "../../links/trash/kept-row.ts";
import type { GroupNumber, LinkNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { acrossTenants, type Db, ofTenant } from "../../sql/tenant-db.ts";
import { daysKeptDays, grains, longKeptWeek, partsKeptDays, weeksKeptDays } from "./periods.ts";
import type { Subject } from "./write-rollups.ts";

/**
 * A walk over the subjects of all roll-ups. Of each it deletes parts of days, days and weeks that are too old, and of those that are gone
 * (a deleted link, tenant, domain or tag) everything.
 *
 * Roll-ups are in the order of their subjects, so old ones are found subject by subject. A run does some of them and notes in
 * `walks` where the next one continues.
 *
 * The clicks of a deleted link stay in the roll-ups of its tenant, domain and tags. Its own rows and its name are kept like
 * those of other links, so that breakdowns by link stay complete, until its last day is too old to be kept; then all of it is
 * deleted.
 */
const walkName = "click-rollups";
const pageSubjects = 200;
const pagesMost = 100;

export interface RollupPurge {
  readonly now: number;
  /** How long a tenant keeps events; null for good. */
  eventDaysOf(tenant: TenantId): number | null;
}

/** Returns how many rows it deleted. */
export async function purgeRollups(sql: Sql, purge: RollupPurge): Promise<number> {
  const { db } = sql;
  const noted = await db.selectFrom("walks").select("position").where("name", "=", walkName).executeTakeFirst();
  let after = noted === undefined ? Number.MIN_SAFE_INTEGER : Number(noted.position);
  let deleted = 0;
  for (let page = 0; page < pagesMost; page++) {
    const subjects = await nextSubjects(db, after);
    if (subjects.length > 0) deleted += await purgePage(sql, subjects, purge);
    after = subjects.length < pageSubjects ? Number.MIN_SAFE_INTEGER : Number(subjects.at(-1));
    if (subjects.length < pageSubjects) break;
  }
  const position = String(after);
  await db
    .insertInto("walks")
    .values({ name: walkName, position })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ position }))
    .execute();
  return deleted;
}

/** Jumps from one subject to the next, and reads none of the rows between. */
async function nextSubjects(db: Db, after: number): Promise<Subject[]> {
  const { rows } = await raw<{ subject: Subject | null }>`
    with recursive found (subject) as (
      select min(subject) from click_rollups where subject > ${after}
      union all
      select (select min(subject) from click_rollups where subject > found.subject) from found where found.subject is not null
    )
    select subject from found limit ${pageSubjects}`.execute(db);
  return rows.flatMap(({ subject }) => subject ?? []);
}

async function purgePage(sql: Sql, subjects: readonly Subject[], purge: RollupPurge): Promise<number> {
  const { db } = sql;
  const ofPage = (some: readonly Subject[]) => db.deleteFrom("click_rollups").where("subject", "in", some);
  const older = (grain: number, keptDays: number) =>
    ofPage(subjects)
      .where("grain", "=", grain)
      .where("start", "<", purge.now - keptDays * dayMs);
  const parts = await older(grains.part, partsKeptDays).executeTakeFirst();
  const weeks = await older(grains.week, weeksKeptDays)
    .where((row) => row.or([row("itemised", "<", longKeptWeek), row("start", "<", purge.now - daysKeptDays * dayMs)]))
    .executeTakeFirst();
  const days = await older(grains.day, daysKeptDays)
    .where((row) =>
      row.exists(
        row
          .selectFrom("click_rollups as m")
          .select("m.subject")
          .whereRef("m.subject", "=", "click_rollups.subject")
          .where("m.grain", "=", grains.month)
          .whereRef("m.start", "<=", "click_rollups.start")
          .whereRef("m.until", ">=", "click_rollups.until"),
      ),
    )
    .executeTakeFirst();
  const gone = [
    ...(await goneLinks(sql, subjects.filter(isLink), purge)),
    ...(await goneGroups(db, subjects.filter(isGroup))),
  ];
  let deleted = Number(parts.numDeletedRows) + Number(weeks.numDeletedRows) + Number(days.numDeletedRows);
  // One by one: a subject has up to 600 rows, and those of a large tenant are large.
  for (const subject of gone) deleted += Number((await ofPage([subject]).executeTakeFirst()).numDeletedRows);
  return deleted;
}

const isLink = (subject: Subject): subject is LinkNumber => subject > 0;
const isGroup = (subject: Subject): subject is GroupNumber => subject < 0;

async function goneGroups(db: Db, groups: readonly GroupNumber[]): Promise<GroupNumber[]> {
  if (groups.length === 0) return [];
  const all = acrossTenants(db);
  const tenants = await all
    .selectFrom("tenants")
    .select("number")
    .where("number", "in", groups as never)
    .execute();
  const named = await all.selectFrom("click_groups").select("number").where("number", "in", groups).execute();
  const known = new Set<number>([...tenants, ...named].map(({ number }) => number));
  return groups.filter((number) => !known.has(number));
}

/**
 * Deletes the names of deleted links whose clicks are too old, and returns all links without a name. Older versions left imported
 * clicks behind: these are deleted, too.
 */
async function goneLinks(sql: Sql, links: readonly LinkNumber[], purge: RollupPurge): Promise<LinkNumber[]> {
  if (links.length === 0) return [];
  const named = await acrossTenants(sql.db)
    .selectFrom("click_links as c")
    .leftJoin("links as l", (join) =>
      join.onRef("l.domain", "=", "c.domain").onRef("l.code", "=", "c.code").onRef("l.number", "=", "c.link"),
    )
    .leftJoin("trashed_links as t", (join) => join.onRef("t.domain", "=", "c.domain").onRef("t.code", "=", "c.code"))
    .select(["c.link", "c.tenant_id", "c.last_at", "l.id as live", "t.link as trashed"])
    .where("c.link", "in", links)
    .execute();
  const known = new Set(named.map(({ link }) => link));
  for (const { link, tenant_id: tenant, last_at, live, trashed } of named) {
    const eventDays = purge.eventDaysOf(tenant);
    // One in the trash may come back.
    const mayBeRestored = trashed !== null && numberOfKept(trashed) === link;
    if (live !== null || mayBeRestored || eventDays === null) continue;
    const oldest = purge.now - Math.max(daysKeptDays, eventDays) * dayMs;
    if ((last_at ?? 0) >= oldest || (await hasDays(sql.db, link))) continue;
    await sql.transaction(async (trx) => {
      const own = ofTenant(trx, tenant);
      await own.deleteFrom("click_history").where("link", "=", link).execute();
      await own.deleteFrom("click_links").where("link", "=", link).execute();
    });
    known.delete(link);
  }
  return links.filter((link) => !known.has(link));
}

async function hasDays(db: Db, link: LinkNumber): Promise<boolean> {
  const day = db
    .selectFrom("click_rollups")
    .select("start")
    .where("subject", "=", link)
    .where("grain", "=", grains.day);
  return (await day.limit(1).executeTakeFirst()) !== undefined;
}
