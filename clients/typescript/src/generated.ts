/** Generated from the OpenAPI document by `npm run docs`; a test keeps it so. */
import { type Asked, Caller, type CallOptions, type ClientSettings, eachOf, type PostOptions } from "./call.ts";

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly hint: string;
  readonly scopes: readonly ("links:read" | "links:write" | "usage:read" | "admin")[];
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly lastUsedAt: string | null;
  readonly apiPerMinute: number | null;
}

export interface ApiKeys {
  readonly items: readonly ApiKey[];
}

export interface BulkLinks {
  /** 1 to 1,000 elements, each as in POST /api/links. */
  readonly links: readonly NewLink[];
  /** All or nothing: one bad element, and none is made. */
  readonly atomic?: boolean | undefined;
}

export interface BulkResult {
  readonly created: number;
  readonly failed: number;
  readonly results: readonly {
    readonly index: number;
    readonly link?: Link | undefined;
    readonly problem?: Problem | undefined;
  }[];
}

export type CreatedApiKey = ApiKey & {
  readonly secret: string;
};

export interface LimitUse {
  readonly name: string;
  /** `known`: the figures are there. `not_counted`: without limit, these are not counted. `unavailable`: the counters do not answer right now. */
  readonly state: "known" | "not_counted" | "unavailable" | "in_server";
  readonly used: number | null;
  /** Reserved: it may still be given back. */
  readonly held: number | null;
  /** Null: none. */
  readonly limit: number | null;
  /** When all of it is there again. Null: nothing is used. */
  readonly resetsAt: string | null;
  /** When it will be used up at this month's pace, if that is before `resetsAt`; now when it is. */
  readonly spentAt: string | null;
}

export interface Link {
  readonly id: string;
  readonly domain: string;
  readonly code: string;
  readonly shortUrl: string;
  readonly url: string;
  readonly permanent: boolean;
  readonly status: "active" | "disabled";
  readonly expiresAt: string | null;
  readonly title: string | null;
  readonly notes: string | null;
  readonly tags: readonly string[];
  readonly fallbackUrl: string | null;
  readonly hitsPerMonth: number | null;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface LinkPage {
  readonly items: readonly Link[];
  readonly nextCursor: string | null;
}

export interface LinkPatch {
  /** Where the link leads: http or https, at most 2,048 characters. */
  readonly url?: string | undefined;
  /** Answer 301 instead of 302. Browsers then remember it for 90 seconds. */
  readonly permanent?: boolean | undefined;
  readonly status?: "active" | "disabled" | undefined;
  /** Null: never. Left out: in a year. */
  readonly expiresAt?: string | null | undefined;
  readonly title?: string | null | undefined;
  readonly notes?: string | null | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Where visitors go when the link is expired or spent. */
  readonly fallbackUrl?: string | null | undefined;
  /** Null: what the plan gives. */
  readonly hitsPerMonth?: number | null | undefined;
}

export interface LinkReplacement {
  /** Where the link leads: http or https, at most 2,048 characters. */
  readonly url: string;
  /** Answer 301 instead of 302. Browsers then remember it for 90 seconds. */
  readonly permanent?: boolean | undefined;
  readonly status?: "active" | "disabled" | undefined;
  /** Null: never. Left out: in a year. */
  readonly expiresAt?: string | null | undefined;
  readonly title?: string | null | undefined;
  readonly notes?: string | null | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Where visitors go when the link is expired or spent. */
  readonly fallbackUrl?: string | null | undefined;
  /** Null: what the plan gives. */
  readonly hitsPerMonth?: number | null | undefined;
}

export interface NewApiKey {
  readonly name: string;
  readonly scopes: readonly ("links:read" | "links:write" | "usage:read" | "admin")[];
  readonly expiresAt?: string | null | undefined;
  /** Calls per minute that this key may make of the tenant's. Null: as many as the tenant may. */
  readonly apiPerMinute?: number | null | undefined;
}

export interface NewLink {
  /** Where the link leads: http or https, at most 2,048 characters. */
  readonly url: string;
  /** Answer 301 instead of 302. Browsers then remember it for 90 seconds. */
  readonly permanent?: boolean | undefined;
  readonly status?: "active" | "disabled" | undefined;
  /** Null: never. Left out: in a year. */
  readonly expiresAt?: string | null | undefined;
  readonly title?: string | null | undefined;
  readonly notes?: string | null | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Where visitors go when the link is expired or spent. */
  readonly fallbackUrl?: string | null | undefined;
  /** Null: what the plan gives. */
  readonly hitsPerMonth?: number | null | undefined;
  /** 3 to 64 letters, digits, - and _; case matters. Left out: seven characters are generated. */
  readonly code?: string | undefined;
}

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code:
    | "invalid_input"
    | "invalid_json"
    | "unsupported_media_type"
    | "body_too_large"
    | "body_timeout"
    | "unauthorized"
    | "forbidden"
    | "not_found"
    | "method_not_allowed"
    | "code_taken"
    | "bulk_refused"
    | "name_taken"
    | "idempotency_in_flight"
    | "idempotency_unknown"
    | "idempotency_mismatch"
    | "version_conflict"
    | "link_expired"
    | "rate_limited"
    | "too_many_guesses"
    | "limit_reached"
    | "quota_spent"
    | "password_required"
    | "busy"
    | "unavailable"
    | "internal";
  readonly detail: string;
  readonly errors?:
    | readonly {
        readonly field: string;
        readonly code: string;
        readonly message: string;
      }[]
    | undefined;
  readonly requestId?: string | undefined;
}

export interface Tenant {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly plan: string;
  readonly limits: {
    readonly hitsPerLinkPerMonth: number | null;
    readonly linksPerMonth: number | null;
    readonly storageBytes: number | null;
    readonly emailsPerHourSmtp: number | null;
    readonly emailsPerHourSendgrid: number | null;
    readonly apiPerMinute: number | null;
  };
  readonly createdAt: string;
}

export interface Usage {
  readonly limits: readonly LimitUse[];
  /** The links nearest to their limit, at most 10. */
  readonly hitsPerLinkPerMonth: readonly (LimitUse & {
    readonly link: string;
    readonly code: string;
  })[];
}

export interface ListLinksQuery {
  readonly limit?: number | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
  readonly sort?: "createdAt" | "updatedAt" | "code" | "expiresAt" | undefined;
  readonly order?: "asc" | "desc" | undefined;
  /** Links with this tag; give it several times for several, at most 10. */
  readonly tag?: readonly string[] | undefined;
  /** Whether a link must have all of the tags. */
  readonly match?: "all" | "any" | undefined;
  readonly status?: "active" | "disabled" | undefined;
  readonly createdAfter?: string | undefined;
  readonly createdBefore?: string | undefined;
  readonly expiresBefore?: string | undefined;
  /** Is in the code, address, title, notes or tags. Capital and small A to Z are the same. */
  readonly search?: string | undefined;
  /** Only these fields of each link, with commas between: `id,code,url`. */
  readonly fields?: string | undefined;
}

export interface GetLinkQuery {
  /** Only these fields of each link, with commas between: `id,code,url`. */
  readonly fields?: string | undefined;
}

export class QuickLink {
  readonly #caller: Caller;

  constructor(settings: ClientSettings) {
    this.#caller = new Caller(settings);
  }

  /** What is not here yet: any call of the API. */
  send(asked: Asked): Promise<Response> {
    return this.#caller.response(asked);
  }

  /** Shorten an address. Needs the scope `links:write`. */
  createLink(body: NewLink, options: PostOptions = {}): Promise<Link> {
    return this.#caller.json<Link>({
      method: "POST",
      path: "/api/links",
      json: body,
      idempotencyKey: options.idempotencyKey,
      signal: options.signal,
    });
  }

  /** List links, filtered, searched and sorted. Newest first if nothing else is said. Whatever is not the plain list reads all links of the tenant in the worst case. Needs the scope `links:read`. */
  listLinks(query: ListLinksQuery = {}, options: CallOptions = {}): Promise<LinkPage> {
    return this.#caller.json<LinkPage>({ method: "GET", path: "/api/links", query, signal: options.signal });
  }

  /** All of them, page by page, as they are asked for. */
  iterateLinks(query: ListLinksQuery = {}, options: CallOptions = {}): AsyncGenerator<Link> {
    return eachOf((cursor) => this.listLinks({ ...query, cursor: cursor ?? query.cursor }, options));
  }

  /** Shorten up to 1,000 addresses. Each is taken or refused on its own, and the results stand in the order of the request. With `atomic` all are taken, or the answer is a problem whose `errors` name the bad elements, and nothing was made or spent. Needs the scope `links:write`. */
  createLinks(body: BulkLinks, options: PostOptions = {}): Promise<BulkResult> {
    return this.#caller.json<BulkResult>({
      method: "POST",
      path: "/api/links/bulk",
      json: body,
      idempotencyKey: options.idempotencyKey,
      signal: options.signal,
    });
  }

  /** Read a link. Needs the scope `links:read`. */
  getLink(id: string, query: GetLinkQuery = {}, options: CallOptions = {}): Promise<Link> {
    return this.#caller.json<Link>({
      method: "GET",
      path: `/api/links/${encodeURIComponent(id)}`,
      query,
      signal: options.signal,
    });
  }

  /** Change some fields. Needs the scope `links:write`. */
  updateLink(
    id: string,
    body: LinkPatch,
    options: CallOptions & { readonly ifMatch?: string | undefined } = {},
  ): Promise<Link> {
    return this.#caller.json<Link>({
      method: "PATCH",
      path: `/api/links/${encodeURIComponent(id)}`,
      headers: { "if-match": options.ifMatch },
      json: body,
      signal: options.signal,
    });
  }

  /** Set all fields. Needs the scope `links:write`. */
  replaceLink(
    id: string,
    body: LinkReplacement,
    options: CallOptions & { readonly ifMatch?: string | undefined } = {},
  ): Promise<Link> {
    return this.#caller.json<Link>({
      method: "PUT",
      path: `/api/links/${encodeURIComponent(id)}`,
      headers: { "if-match": options.ifMatch },
      json: body,
      signal: options.signal,
    });
  }

  /** Delete a link. Its code answers 404 from then on, and nobody but you can take it again. Needs the scope `links:write`. */
  deleteLink(id: string, options: CallOptions & { readonly ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#caller.nothing({
      method: "DELETE",
      path: `/api/links/${encodeURIComponent(id)}`,
      headers: { "if-match": options.ifMatch },
      signal: options.signal,
    });
  }

  /** Whose key this is, and its limits. Needs the scope `links:read`. */
  getTenant(options: CallOptions = {}): Promise<Tenant> {
    return this.#caller.json<Tenant>({ method: "GET", path: "/api/tenant", signal: options.signal });
  }

  /** List keys. Needs the scope `admin`. */
  listKeys(options: CallOptions = {}): Promise<ApiKeys> {
    return this.#caller.json<ApiKeys>({ method: "GET", path: "/api/keys", signal: options.signal });
  }

  /** Create a key. Needs the scope `admin`. */
  createKey(body: NewApiKey, options: PostOptions = {}): Promise<CreatedApiKey> {
    return this.#caller.json<CreatedApiKey>({
      method: "POST",
      path: "/api/keys",
      json: body,
      idempotencyKey: options.idempotencyKey,
      signal: options.signal,
    });
  }

  /** Revoke a key. It stops working at once. Needs the scope `admin`. */
  revokeKey(id: string, options: CallOptions = {}): Promise<void> {
    return this.#caller.nothing({
      method: "DELETE",
      path: `/api/keys/${encodeURIComponent(id)}`,
      signal: options.signal,
    });
  }

  /** Every limit of the tenant, and what is used of it. Needs the scope `usage:read`. */
  getUsage(options: CallOptions = {}): Promise<Usage> {
    return this.#caller.json<Usage>({ method: "GET", path: "/api/usage", signal: options.signal });
  }
}
