import type { LinkId, TenantId } from "../../base/ids.ts";
import type { Place } from "../../sql/versions.ts";

/** What is used of a limit that a tenant is told about. */
export type NoticeUse =
  | {
      readonly tenant: TenantId;
      readonly limit: "linksPerMonth" | "storageBytes";
      readonly used: number;
      readonly max: number | null;
    }
  | {
      readonly tenant: TenantId;
      readonly limit: "hitsPerLinkPerMonth";
      readonly used: number;
      readonly max: number | null;
      readonly link: Place & { readonly id: LinkId; readonly fallback: boolean };
    };

export type Percent = 80 | 100;

/** What to tell about; who has used all is not told that it is nearly all. A limit of nothing is used by nobody. */
export function reachedPercent(used: number, max: number | null): Percent | undefined {
  if (max === null || max <= 0) return undefined;
  if (used >= max) return 100;
  return used * 5 >= max * 4 ? 80 : undefined;
}

export const hitsKeyStart = "quota:hits:";

/** One email has it, ever: once for each limit, month and share of it. Storage has no month of its own, and is told again in the next. */
export function noticeKey(use: NoticeUse, month: string, percent: Percent): string {
  if (use.limit === "hitsPerLinkPerMonth") return `${hitsKeyStart}${use.link.id}:${month}:${percent}`;
  return `quota:${use.limit === "linksPerMonth" ? "links" : "storage"}:${month}:${percent}`;
}
