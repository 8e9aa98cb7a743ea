import { type RawBuilder, sql as raw } from "kysely";

/**
 * Whether visitors can reach a link: it is neither disabled, expired nor suspended. Notices are about such links only; the
 * most clicked links of a week had clicks, whatever they are now.
 *
 * For queries that call the links `l`. The suspension belongs to the code, so its table has no tenant.
 */
export const isReachable = (now: number): RawBuilder<boolean> =>
  raw<boolean>`(l.status = 'active' and (l.expires_at is null or l.expires_at > ${now})
    and not exists (select 1 from suspended_links as s where s.domain = l.domain and s.code = l.code))`;
