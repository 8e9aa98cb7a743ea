import { LRUCache } from "lru-cache";
import type { Clock } from "../base/clock.ts";
import { type FieldError, Problem } from "../base/errors.ts";
import type { TenantId } from "../base/ids.ts";
import type { Shares } from "../base/shares.ts";
import type { Links } from "../links/links.ts";
import type { Fetched } from "../safe-fetch/outcome.ts";
import type { SafeFetch } from "../safe-fetch/safe-fetch.ts";
import type { Tenant } from "../tenants/tenants.ts";
import { pageMetaOf } from "./title.ts";
import { judgeHealth } from "./verdict.ts";

/**
 * Checks a destination while somebody types it: by the rules of a new link, and then by a request to it. The request goes
 * through `safe-fetch`, has five seconds, and a place among those of its tenant. What was found is kept for a minute, per
 * tenant, so that nobody can tell what others have checked.
 */
export interface DestinationChecks {
  check(tenant: Tenant, url: string, signal: AbortSignal): Promise<DestinationCheck>;
}

export type DestinationCheck =
  | { readonly kind: "invalid"; readonly errors: readonly FieldError[] }
  /** `page`: null if the operator has turned checks off. */
  | { readonly kind: "valid"; readonly url: string; readonly page: DestinationPage | null };

/** What is known about the page. */
export interface DestinationPage {
  readonly state: "ok" | "failing" | "unchecked";
  readonly httpStatus: number | null;
  /** Why it is not ok. */
  readonly reason: string | null;
  /** Until the answer was read, with redirects; null if there was none. */
  readonly responseMs: number | null;
  /** After redirects; null if there was no answer. */
  readonly finalUrl: string | null;
  readonly title: string | null;
  readonly description: string | null;
  readonly imageUrl: string | null;
}

export interface DestinationSettings {
  readonly links: Pick<Links, "check">;
  readonly safeFetch: SafeFetch;
  readonly outgoing: Shares;
  readonly clock: Clock;
  /** Whether the operator allows requests to destinations. */
  readonly fetches: boolean;
}

const fetchMs = 5_000;
const keptMs = 60_000;
const keptMost = 500;
const urlMost = 2_048;

export function createDestinationChecks(settings: DestinationSettings): DestinationChecks {
  const { links, safeFetch, outgoing, clock, fetches } = settings;
  // The promise, so that several requests while it is fetched share one.
  const known = new LRUCache<string, Promise<DestinationPage>>({ max: keptMost, ttl: keptMs });

  function pageOf(tenant: TenantId, url: string, signal: AbortSignal): Promise<DestinationPage> {
    const key = `${tenant} ${url}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const fetched = outgoing.run(
      tenant,
      async () => {
        const started = clock.elapsed();
        const fetched = await safeFetch.fetch("GET", url, AbortSignal.timeout(fetchMs));
        return describe(fetched, Math.round(clock.elapsed() - started));
      },
      { signal },
    );
    known.set(key, fetched);
    // A caller who left, or found no place, must not decide for the next one.
    fetched.catch(() => known.delete(key));
    return fetched;
  }

  return {
    async check(tenant, url, signal) {
      let href: string;
      try {
        href = links.check(tenant, { url }).url;
      } catch (error) {
        if (!(error instanceof Problem) || error.more.errors === undefined) throw error;
        return { kind: "invalid", errors: error.more.errors };
      }
      return { kind: "valid", url: href, page: fetches ? await pageOf(tenant.id, href, signal) : null };
    },
  };
}

function describe(fetched: Fetched, responseMs: number): DestinationPage {
  const { state, httpStatus, reason } = judgeHealth(0, fetched);
  const nothing = { responseMs: null, finalUrl: null, title: null, description: null, imageUrl: null };
  const verdict = { state: state === "dead" ? ("failing" as const) : state, httpStatus, reason };
  if (fetched.kind !== "answered") return { ...verdict, ...nothing };
  const meta = pageMetaOf(fetched.body, fetched.contentType);
  return {
    ...verdict,
    responseMs,
    finalUrl: fetched.url,
    title: meta?.title ?? null,
    description: meta?.description ?? null,
    imageUrl: imageUrl(meta?.image, fetched.url),
  };
}

/** Only what a browser may show as an image: no data, no scripts. */
function imageUrl(image: string | undefined, base: string): string | null {
  if (image === undefined || !URL.canParse(image, base)) return null;
  const url = new URL(image, base);
  const isWeb = url.protocol === "https:" || url.protocol === "http:";
  return isWeb && url.username === "" && url.password === "" && url.href.length <= urlMost ? url.href : null;
}
