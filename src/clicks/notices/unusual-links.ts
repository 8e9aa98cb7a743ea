import { dayMs } from "../../base/clock.ts";
import type { LinkNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant } from "../../sql/tenant-db.ts";
import { hourMs } from "../reports/zones.ts";
import type { NoticeSources, NoticeTenant } from "./find-notices.ts";
import { namesOf } from "./link-names.ts";
import { end, endOld, note, noteAgain } from "./notice-rows.ts";
import { busyLinks, quartersOf } from "./quarter-counts.ts";
import { steadyLinks } from "./steady-links.ts";
import { dropWindowMs, historyDays, judgeDrop, judgeSpike, spikeLeast, type Unusual } from "./unusual.ts";

/** Links of a tenant that are judged in a run. */
const linksMost = 100;
/** A spike that stopped for so long is over. A day later it may happen again, and is told again. */
const spikeOverMs = 6 * hourMs;
/** After a week without clicks, their absence is usual. */
const dropOverMs = 7 * dayMs;
/** For the oldest window of the drop, and the time of day around it. */
const historyMs = historyDays * dayMs + dropWindowMs;

/** Notes links with a spike or a drop in the time before `until`, and ends those that are over. */
export async function noteUnusual(sources: NoticeSources, tenant: NoticeTenant, until: number): Promise<void> {
  const { sql } = sources;
  const { id, switches } = tenant;
  if (switches.spike) {
    const links = await busyLinks(sql, tenant, until - hourMs, until, spikeLeast, linksMost);
    const found = await judged(sources, tenant, "spike", links, until);
    await noteAgain(sql, id, "spike", found.goingOn, until);
    await endOld(sql, id, "spike", until - spikeOverMs);
  }
  if (switches.drop) {
    const links = await steadyLinks(sources, tenant, until, linksMost);
    const found = await judged(sources, tenant, "drop", links, until);
    await noteAgain(sql, id, "drop", found.goingOn, until);
    await end(sql, id, "drop", found.normal);
    await endOld(sql, id, "drop", until - dropOverMs);
  }
}

interface Judged {
  readonly goingOn: readonly LinkNumber[];
  readonly normal: readonly LinkNumber[];
}

async function judged(
  { sql, baseUrl }: NoticeSources,
  tenant: NoticeTenant,
  kind: "spike" | "drop",
  links: readonly LinkNumber[],
  until: number,
): Promise<Judged> {
  if (links.length === 0) return { goingOn: [], normal: [] };
  const firsts = await firstClicks(sql, tenant, links);
  const quarters = await quartersOf(sql, tenant, links, until - historyMs, until);
  const judge = kind === "spike" ? judgeSpike : judgeDrop;
  const found = links.map((link): readonly [LinkNumber, Unusual] => {
    const firstAt = firsts.get(link);
    if (firstAt === undefined) return [link, { kind: "no" }];
    return [link, judge({ firstAt, quarters: quarters.get(link) ?? new Map() }, until)];
  });
  const beginning = found.flatMap(([link, one]) => (one.kind === "begins" ? [link] : []));
  const names = await namesOf(sql, tenant.id, beginning, baseUrl, until);
  const rows = found.flatMap(([link, one]) => {
    const name = names.get(link);
    if (one.kind !== "begins" || name === undefined) return [];
    const { clicks, usual } = one;
    const facts = { url: name.url, title: name.title, at: until, clicks, usual };
    return [{ link, since: until, facts: JSON.stringify(facts) }];
  });
  await note(sql, tenant.id, kind, rows, until);
  return {
    goingOn: found.flatMap(([link, one]) => (one.kind === "no" ? [] : [link])),
    normal: found.flatMap(([link, one]) => (one.kind === "no" ? [link] : [])),
  };
}

async function firstClicks({ db }: Sql, { id }: NoticeTenant, links: readonly LinkNumber[]) {
  const rows = await ofTenant(db, id)
    .selectFrom("click_links")
    .select(["link", "first_at"])
    .where("link", "in", links)
    .execute();
  return new Map(rows.flatMap(({ link, first_at }) => (first_at === null ? [] : [[link, first_at] as const])));
}
