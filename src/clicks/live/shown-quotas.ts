import { BoundedMap } from "../../base/bounded-map.ts";
import { type LiveEvent, readQuota } from "./live-event.ts";

/**
 * What the streams of a tenant have shown of its links' limits. Each server tells what it knew when it wrote its own hits, so an older
 * number can come after a newer one. It is not shown: in a month, hits only grow. Limits do not, so a different limit is
 * shown in any case, with the most hits that were.
 */
export interface ShownQuotas {
  /** What to show; undefined if it is older than what was shown, or unreadable. */
  next(event: LiveEvent): NextQuota | undefined;
  /** It is shown now. */
  keep(quota: NextQuota): void;
}

export interface NextQuota {
  /** The link and the month: hits of the last one may still arrive in a new one. */
  readonly key: string;
  readonly used: number;
  readonly limit: number | null;
  readonly json: string;
}

/** At 20 a second, those of 25 seconds at least: servers write every second. About 100 KB of a tenant that is watched. */
export const quotasKeptMost = 500;

export function createShownQuotas(): ShownQuotas {
  const kept = new BoundedMap<string, Pick<NextQuota, "used" | "limit">>(quotasKeptMost);
  return {
    next({ link, json }) {
      const told = readQuota(json);
      if (told === undefined) return undefined;
      const { month, used, limit } = told;
      const key = `${month} ${link}`;
      const last = kept.get(key);
      if (last === undefined || used >= last.used) return { key, used, limit, json };
      if (limit === last.limit) return undefined;
      return { key, used: last.used, limit, json: JSON.stringify({ ...told, used: last.used }) };
    },
    keep({ key, used, limit }) {
      kept.set(key, { used, limit });
    },
  };
}
