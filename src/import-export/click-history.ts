import type { TenantId } from "../base/ids.ts";
import { firstNoon } from "../clicks/reports/zones.ts";
import { cacheKey } from "../links/link.ts";
import { ofTenant, type Trx } from "../sql/tenant-db.ts";
import type { PastClicks } from "./formats.ts";
import type { RefusedRow, WantedRow } from "./refused-rows.ts";

/**
 * Clicks that a link had in another shortener. Exports have their total, not their days: it is stored as one period from
 * the link's creation to the import, with the name of the shortener, apart from clicks that were counted here. The creation is that of
 * the file: a link that already existed here may be younger than its clicks there.
 *
 * A second import of the same link from the same shortener replaces the first one.
 */
export interface PastTotal {
  readonly source: PastClicks["source"];
  readonly clicks: number;
  /** When the link was created there, if the file says so. */
  readonly since: number | undefined;
}

const clicksMost = 1_000_000_000_000;

/** Undefined if the text or number is no count. */
export function parsePastClicks({ source, clicks }: PastClicks, since: number | undefined): PastTotal | undefined {
  const count = typeof clicks === "string" && /^\d{1,13}$/.test(clicks) ? Number(clicks) : clicks;
  if (typeof count !== "number" || !Number.isSafeInteger(count) || count < 0 || count > clicksMost) return undefined;
  return { source, clicks: count, since };
}

/** Called in the transaction that creates the links, with the rows that were refused. */
export async function storePastClicks(
  trx: Trx,
  tenant: TenantId,
  wanted: readonly WantedRow[],
  refusals: readonly RefusedRow[],
  now: number,
): Promise<void> {
  const refused = new Set(refusals.map(({ line }) => line));
  const totals = new Map<string, PastTotal>();
  for (const { line, link, past } of wanted) {
    if (past !== undefined && link !== undefined && !refused.has(line))
      totals.set(cacheKey(link.domain, link.code), past);
  }
  if (totals.size === 0) return;
  const own = ofTenant(trx, tenant);
  const drafts = wanted.flatMap(({ link }) => link ?? []);
  const links = await own
    .selectFrom("links")
    .select(["domain", "code", "number", "created_at"])
    .where("domain", "in", [...new Set(drafts.map(({ domain }) => domain))])
    .where("code", "in", [...new Set(drafts.map(({ code }) => code))])
    .execute();
  const rows = links.flatMap(({ domain, code, number, created_at }) => {
    const total = totals.get(cacheKey(domain, code));
    if (total === undefined) return [];
    // No report begins before 2012, and a period counts where it begins.
    const start = Math.max(firstNoon, Math.min(total.since ?? created_at, now - 1));
    const { source, clicks } = total;
    return [{ link: number, start, until: now, source, clicks, visitors: null, is_total: 1 as const }];
  });
  for (const [source, some] of Map.groupBy(rows, (row) => row.source)) {
    const numbers = some.map(({ link }) => link);
    await own.deleteFrom("click_history").where("link", "in", numbers).where("source", "=", source).execute();
  }
  const visited = rows.filter(({ clicks }) => clicks > 0);
  if (visited.length > 0) await own.insertInto("click_history").values(visited).execute();
}
