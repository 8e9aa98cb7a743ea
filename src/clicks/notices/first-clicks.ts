import { sql as raw } from "kysely";
import { dayMs } from "../../base/clock.ts";
import type { LinkNumber } from "../../sql/schema.ts";
import { ofTenant } from "../../sql/tenant-db.ts";
import type { NoticeSources, NoticeTenant } from "./find-notices.ts";
import { namesOf } from "./link-names.ts";
import { endOld, note } from "./notice-rows.ts";

/** A click is written at most 48 hours after it happened (`clicks/events`), and the notice may come a little later. */
const lookBackMs = 3 * dayMs;
/** A link that was told about longer ago is not found again: its first click is beyond `lookBackMs`. */
const rememberMs = 7 * dayMs;
const linksAtOnce = 200;

/** Notes links that had their first click. A link is noted once ever. */
export async function noteFirstClicks(
  { sql, baseUrl }: NoticeSources,
  tenant: NoticeTenant,
  now: number,
): Promise<void> {
  const own = ofTenant(sql.db, tenant.id);
  const known = own
    .selectFrom("click_notices as n")
    .select("n.link")
    .where("n.kind", "=", "firstClick")
    .where("n.link", "=", raw<LinkNumber>`click_links.link`);
  const rows = await own
    .selectFrom("click_links")
    .select(["link", "first_at"])
    .where("first_at", ">=", Math.max(tenant.firstClicksSince, now - lookBackMs))
    .where((row) => row.not(row.exists(known)))
    .orderBy("first_at")
    .orderBy("link")
    .limit(linksAtOnce)
    .execute();
  const names = await namesOf(
    sql,
    tenant.id,
    rows.map(({ link }) => link),
    baseUrl,
    now,
  );
  const found = rows.flatMap(({ link, first_at: since }) => {
    const name = names.get(link);
    if (since === null || name === undefined) return [];
    return [{ link, since, facts: JSON.stringify({ url: name.url, title: name.title, at: since }) }];
  });
  await note(sql, tenant.id, "firstClick", found, now);
  // Deleted or disabled meanwhile: they must not fill the next page again.
  const gone = rows.flatMap(({ link }) => (names.has(link) ? [] : [{ link, since: now, facts: "{}" }]));
  await note(sql, tenant.id, "firstClick", gone, now, 1);
  await endOld(sql, tenant.id, "firstClick", now - rememberMs);
}
