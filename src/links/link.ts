import type { FileId, LinkId, TenantId } from "../base/ids.ts";
import type { Choice, ChoiceFields } from "./routing/choice.ts";

/** A short link, as its owner sees it. */
export interface Link extends LinkFields {
  readonly id: LinkId;
  readonly tenantId: TenantId;
  /** Empty: the server's own domain. */
  readonly domain: string;
  readonly code: string;
  /** Whether it asks for one; which, nobody can say. */
  readonly password: boolean;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export type LinkStatus = "active" | "disabled";

/** What its owner may say about a link; the rest we know. */
export interface LinkFields extends ChoiceFields {
  /** Empty when it leads to a file. */
  readonly url: string;
  /** Which may be gone: then the link leads nowhere. */
  readonly file: FileId | null;
  readonly permanent: boolean;
  readonly status: LinkStatus;
  readonly expiresAt: number | null;
  readonly title: string | null;
  readonly notes: string | null;
  readonly tags: readonly string[];
  readonly fallbackUrl: string | null;
  readonly hitsPerMonth: number | null;
}

/** What others know about a link, and its owner cannot say. */
export interface LinkState {
  /** Null: nobody looked yet. */
  readonly target: LinkHealth | null;
  /** Why the operator stopped it; null where nobody did. */
  readonly suspended: string | null;
}

export interface LinkHealth {
  readonly state: "ok" | "failing" | "dead" | "unchecked";
  readonly checkedAt: number;
  readonly httpStatus: number | null;
  readonly reason: string | null;
}

export const stateless: LinkState = { target: null, suspended: null };

/** What a redirect needs to know, and nothing that it must not leak. */
export interface Target {
  /** Empty when it leads to a file. */
  readonly url: string;
  readonly file: TargetFile | null;
  readonly permanent: boolean;
  readonly expiresAt: number | null;
  readonly fallbackUrl: string | null;
  readonly password: boolean;
  /** By the operator: the link, or its tenant. */
  readonly suspended: boolean;
  /** Null: everybody gets the same answer. */
  readonly choice: Choice | null;
}

/** What a download needs to know of a file. */
export interface TargetFile {
  /** Of its bytes, in the store of files. */
  readonly key: string;
  readonly name: string;
  readonly type: string;
  readonly sizeBytes: number;
  readonly sha256: string | null;
}

/** The same with the link's monthly limit: its own, else the tenant's, else the plan's; null is without. */
export interface MeteredTarget extends Target {
  readonly hitsMax: number | null;
}

export const ownDomain = "";

/** The (domain, code) of such a name: no code has a slash, and no host either. */
export function splitKey(key: string): { readonly domain: string; readonly code: string } {
  const slash = key.indexOf("/");
  return slash === -1 ? { domain: ownDomain, code: key } : { domain: key.slice(0, slash), code: key.slice(slash + 1) };
}

/**
 * The name of a (domain, code) in caches: the bare code on the server's own domain. Only `cacheKey` and `keyOfPath` make
 * one, and neither takes a code with a slash: that would name a link of another domain.
 */
export type LinkKey = string & { readonly [brand]: "link key" };
declare const brand: unique symbol;

export function cacheKey(domain: string, code: string): LinkKey {
  const key = keyOfPath(domain, code);
  if (key === undefined) throw new Error(`no code has a slash: ${code}`);
  return key;
}

/** For what a visitor asks for: the last part of the path, with its escapes undone, may hold anything. */
export const keyOfPath = (domain: string, path: string): LinkKey | undefined =>
  path.includes("/") ? undefined : ((domain === ownDomain ? path : `${domain}/${path}`) as LinkKey);
