import { toIso } from "../../base/clock.ts";
import { type HitReason, hitReasons } from "../../redirect/decide.ts";
import type { TenantNumber } from "../../sql/schema.ts";
import { type ClickBatch, type ClickedLink, type Dimension, dimensions, other } from "../click.ts";

/** What a stream shows: a click, or the hits of a link that were counted this month. */
export interface LiveEvent {
  readonly kind: "click" | "quota";
  /** For fairness between links only. */
  readonly link: string;
  /** One line of JSON, made once for all readers. */
  readonly json: string;
}

/** New hits of a link, and its limit. */
export interface LiveQuota {
  readonly tenant: TenantNumber;
  readonly domain: string;
  readonly code: string;
  readonly month: string;
  readonly used: number;
  readonly limit: number | null;
}

/** A fact is at most a few hundred characters. An event beyond this is counted instead of shown. */
export const eventBytesMost = 4_096;

/** How the visit was counted: against the link's limit, without, or after the limit was used up. */
const verdicts: Readonly<Record<HitReason, "counted" | "exempt" | "over_quota">> = {
  counted: "counted",
  bot: "exempt",
  head: "exempt",
  prefetch: "exempt",
  preview: "exempt",
  fallback: "exempt",
  over_quota: "over_quota",
};

/** The host of a domain as it is stored: that of the server itself is empty. */
export type HostOf = (domain: string) => string;

/** One click of a batch as an event, with the names that lists of clicks use; undefined if it is too large. */
export function clickEvent(batch: ClickBatch, place: number, hostOf: HostOf): LiveEvent | undefined {
  const link = batch.links[batch.link[place] ?? 0];
  const reason = hitReasons[batch.reason[place] ?? 0];
  if (link === undefined || reason === undefined) return undefined;
  const json = JSON.stringify({
    at: toIso(batch.at[place] ?? 0),
    link: { domain: hostOf(link.domain), code: link.code },
    reason,
    verdict: verdicts[reason],
    ...Object.fromEntries(dimensions.map((name) => [name, factOf(batch, place, name)])),
  });
  return sized({ kind: "click", link: nameOf(link), json });
}

export function quotaEvent({ domain, code, month, used, limit }: LiveQuota, hostOf: HostOf): LiveEvent | undefined {
  const json = JSON.stringify({ link: { domain: hostOf(domain), code }, month, used, limit });
  return sized({ kind: "quota", link: nameOf({ domain, code }), json });
}

/** The data of a `quota` event, which another process may have sent; undefined if it is none. */
export function readQuota(json: string): Pick<LiveQuota, "month" | "used" | "limit"> | undefined {
  const data = parse(json);
  return isQuota(data) ? data : undefined;
}

const isQuota = (data: unknown): data is Pick<LiveQuota, "month" | "used" | "limit"> =>
  typeof data === "object" &&
  data !== null &&
  "month" in data &&
  typeof data.month === "string" &&
  "used" in data &&
  Number.isSafeInteger(data.used) &&
  "limit" in data &&
  (data.limit === null || Number.isSafeInteger(data.limit));

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

const nameOf = ({ domain, code }: Pick<ClickedLink, "domain" | "code">): string => `${domain}/${code}`;

const sized = (event: LiveEvent): LiveEvent | undefined =>
  Buffer.byteLength(event.json) > eventBytesMost ? undefined : event;

/** Null: none, or unknown. */
function factOf(batch: ClickBatch, place: number, name: Dimension): string | null {
  const text = batch.texts[batch.facts[place * dimensions.length + columns[name]] ?? 0] ?? "";
  return text === "" || text === other ? null : text;
}

const columns = Object.fromEntries(dimensions.map((name, column) => [name, column])) as Record<Dimension, number>;
