import type { FileId, LinkId, TenantId } from "../base/ids.ts";
import type { Change, LinkVersion } from "../cache/feed.ts";
import type { LinkNumber, TenantNumber } from "../sql/schema.ts";
import type { Place } from "../sql/versions.ts";
import type { Choice, ChoiceFields } from "./routing/choice.ts";

/** A short link, as its owner sees it. */
export interface Link extends LinkFields {
  readonly id: LinkId;
  readonly tenantId: TenantId;
  /** Empty: the server's own domain. */
  readonly domain: string;
  readonly code: string;
  /** Whether it has a password; the password itself is never readable. */
  readonly password: boolean;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const changeOf = ({ domain, code, version }: Link): LinkVersion => ({ kind: "link", domain, code, version });

export type LinkStatus = "active" | "disabled";

/** The fields that the owner sets. */
export interface LinkFields extends ChoiceFields {
  /** Empty if it leads to a file. */
  readonly url: string;
  /** The file may have been deleted: then the link leads nowhere. */
  readonly file: FileId | null;
  readonly permanent: boolean;
  readonly status: LinkStatus;
  readonly expiresAt: number | null;
  readonly title: string | null;
  readonly notes: string | null;
  readonly tags: readonly string[];
  readonly fallbackUrl: string | null;
  readonly hitsPerMonth: number | null;
  /** Whether facts about visitors, such as country and browser, are recorded with its clicks. */
  readonly clickFacts: boolean;
}

/** What is known about a link besides what its owner set. */
export interface LinkState {
  /** Null: not checked yet. */
  readonly target: LinkHealth | null;
  /** Why the operator suspended it; null if not suspended. */
  readonly suspended: string | null;
  /** Clicks that count, since ever. */
  readonly clicks: number;
  readonly lastClickAt: number | null;
  /** Hits of this month that count towards its limit. */
  readonly hitsUsed: number;
  /** Its own limit a month, or that of its tenant; null: no limit. */
  readonly hitsLimit: number | null;
  /** Of the file that it leads to; null if there is none, or it was deleted. */
  readonly fileName: string | null;
}

export interface LinkHealth {
  readonly state: "ok" | "failing" | "dead" | "unchecked";
  readonly checkedAt: number;
  readonly httpStatus: number | null;
  readonly reason: string | null;
  /** Until its answer was read; null if there was none. */
  readonly responseMs: number | null;
  /** Of a destination that does not work: when that was first seen. */
  readonly failingSince: number | null;
}

export const stateless: LinkState = {
  ...{ target: null, suspended: null, clicks: 0, lastClickAt: null },
  ...{ hitsUsed: 0, hitsLimit: null, fileName: null },
};

/** What a redirect needs, and nothing that it must not leak. */
export interface Target {
  /** Empty if it leads to a file. */
  readonly url: string;
  readonly file: TargetFile | null;
  readonly permanent: boolean;
  readonly expiresAt: number | null;
  readonly fallbackUrl: string | null;
  readonly password: boolean;
  /** Whether the operator suspended the link. */
  readonly suspended: boolean;
  /** Null: every visitor gets the same answer. */
  readonly choice: Choice | null;
}

/** What a download needs of a file. */
export interface TargetFile {
  /** Key of its bytes in the file storage. */
  readonly key: string;
  readonly name: string;
  readonly type: string;
  readonly sizeBytes: number;
  readonly sha256: string | null;
}

/** What is stored of a link alone. What follows from its tenant may change for all links at once (`known-tenants.ts`). */
export interface MeteredTarget extends Target {
  /** What its owner set; null: as many as its tenant allows. */
  readonly hitsPerMonth: number | null;
  readonly clicks: ClickTarget;
}

/** How many hits a link may have in a month: what its owner set, within what its tenant allows. Null: no limit. */
export const hitsWithin = (own: number | null, allowed: number | null): number | null =>
  own === null || allowed === null ? (own ?? allowed) : Math.min(own, allowed);

/** What a click is recorded under. */
export interface ClickTarget {
  readonly link: LinkNumber;
  readonly tenant: TenantNumber;
  readonly tags: readonly string[];
  /** Whether the link allows that facts about the visitor are recorded, besides the time and reason. */
  readonly facts: boolean;
}

export const ownDomain = "";

/** The (domain, code) of a key: neither codes nor hosts contain a slash. */
export function splitKey(key: string): { readonly domain: string; readonly code: string } {
  const slash = key.indexOf("/");
  return slash === -1 ? { domain: ownDomain, code: key } : { domain: key.slice(0, slash), code: key.slice(slash + 1) };
}

/**
 * The name of a (domain, code) in caches: just the code on the server's own domain. Only `cacheKey` and `keyOfPath`
 * create one, and neither accepts a code with a slash: that would name a link of another domain.
 */
export type LinkKey = string & { readonly [brand]: "link key" };
declare const brand: unique symbol;

export function cacheKey(domain: string, code: string): LinkKey {
  const key = keyOfPath(domain, code);
  if (key === undefined) throw new Error(`no code has a slash: ${code}`);
  return key;
}

/** The links that a change is about. */
export function keysOfChange(change: Change): LinkKey[] {
  if (change.kind === "link") return [cacheKey(change.domain, change.code)];
  return change.kind === "links" ? change.codes.split(" ").map((code) => cacheKey(change.domain, code)) : [];
}

/** For a visitor's request: the last part of the path, decoded, may contain anything. */
export const keyOfPath = (domain: string, path: string): LinkKey | undefined =>
  path.includes("/") ? undefined : ((domain === ownDomain ? path : `${domain}/${path}`) as LinkKey);

/**
 * The public URL of a link: the only place that builds one. On another domain the same code may be another tenant's
 * link, so a URL without the domain would lead to the wrong link.
 */
export const shortUrl = (baseUrl: string, { domain, code }: Place): string => `${originOf(baseUrl, domain)}/${code}`;

/** What a QR code encodes: the short URL with a mark, so that scans can be told from clicks. */
export const scannedUrl = (baseUrl: string, place: Place): string => `${shortUrl(baseUrl, place)}?${qrMark}`;

/** A parameter without a value. */
export const qrMark = "qr";

/** Custom domains use the same scheme, on its default port. */
export const originOf = (baseUrl: string, domain: string): string =>
  domain === ownDomain ? baseUrl : `${new URL(baseUrl).protocol}//${domain}`;

/** A domain as answers show it: that of the server itself is stored as an empty one. */
export const shownHost = (baseUrl: string, domain: string): string => new URL(originOf(baseUrl, domain)).host;
