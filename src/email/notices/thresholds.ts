import type { LinkId, TenantId } from "../../base/ids.ts";
import type { Place } from "../../sql/versions.ts";

/** Usage of a limit that a tenant is notified about. */
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

/** The threshold to report; 100 % replaces 80 %. A limit of 0 is never reported. */
export function reachedPercent(used: number, max: number | null): Percent | undefined {
  if (max === null || max <= 0) return undefined;
  if (used >= max) return 100;
  return used * 5 >= max * 4 ? 80 : undefined;
}

export const hitsKeyStart = "quota:hits:";

/**
 * Unique per limit, month and threshold, so that one email is sent. Storage has no month, so its notice repeats every
 * month.
 */
export function noticeKey(use: NoticeUse, month: string, percent: Percent): string {
  if (use.limit === "hitsPerLinkPerMonth") return `${hitsKeyStart}${use.link.id}:${month}:${percent}`;
  return `quota:${use.limit === "linksPerMonth" ? "links" : "storage"}:${month}:${percent}`;
}
