import { stillDead } from "./dead-targets.ts";
import type { NoticeSources, NoticeTenant } from "./find-notices.ts";
import { namesOf } from "./link-names.ts";
import { end, type LinkNotice, type PlannedMail } from "./notice-rows.ts";

export type LinkMail = PlannedMail & { readonly kind: LinkNotice };

/**
 * What waits for its email may have changed since it was noted: the link was deleted, disabled or suspended, it has expired, or
 * its destination works again. So it is checked when it is told, and what is no longer true is dropped. If that leaves nothing of
 * an email, its key is free, and the next run gives it to others that wait.
 */
export async function stillNews(
  sources: NoticeSources,
  tenant: NoticeTenant,
  mails: readonly LinkMail[],
  now: number,
): Promise<LinkMail[]> {
  const news: LinkMail[] = [];
  for (const mail of mails) {
    const links = mail.rows.flatMap(({ link }) => (link === 0 ? [] : [link]));
    const valid =
      mail.kind === "deadTarget"
        ? await stillDead(sources, tenant, mail.rows, now)
        : new Set((await namesOf(sources.sql, tenant.id, links, sources.baseUrl, now)).keys());
    const rows = mail.rows.filter(({ link }) => link !== 0 && valid.has(link));
    await end(
      sources.sql,
      tenant.id,
      mail.kind,
      links.filter((link) => !valid.has(link)),
    );
    if (rows.length > 0) news.push({ ...mail, rows });
  }
  return news;
}
