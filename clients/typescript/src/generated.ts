/** Generated from the OpenAPI document by `npm run docs`; a test keeps it so. */
import { type Asked, Caller, type CallOptions, type ClientSettings, eachOf, type PostOptions } from "./call.ts";

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly hint: string;
  readonly scopes: readonly (
    | "links:read"
    | "links:write"
    | "files:read"
    | "files:write"
    | "usage:read"
    | "email:read"
    | "email:send"
    | "admin"
  )[];
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly lastUsedAt: string | null;
  readonly apiPerMinute: number | null;
}

export interface ApiKeyPage {
  readonly items: readonly ApiKey[];
  readonly nextCursor: string | null;
}

export interface BulkLinks {
  /** 1 to 1,000 elements, each as in POST /api/links, but without `password`. */
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

export interface Domain {
  readonly host: string;
  readonly state: "pending" | "verified";
  readonly isDefault: boolean;
  readonly rootUrl: string | null;
  readonly missingUrl: string | null;
  /** The operator's blocklist names where `rootUrl` leads, so it is not used. */
  readonly rootBlocked: boolean;
  /** The same of `missingUrl`. */
  readonly missingBlocked: boolean;
  /** Publish one of the two, then verify. Null once that is done. */
  readonly proof: {
    readonly txt: {
      readonly name: string;
      readonly value: string;
    };
    readonly file: {
      readonly url: string;
      readonly content: string;
    };
  } | null;
  readonly createdAt: string;
  readonly verifiedAt: string | null;
}

export interface DomainChange {
  /** New links go on it when nobody says otherwise. */
  readonly isDefault?: boolean | undefined;
  /** Where the bare domain leads. Null: a plain page. */
  readonly rootUrl?: string | null | undefined;
  /** Where codes that do not exist lead. Null: the usual 404 page. */
  readonly missingUrl?: string | null | undefined;
}

export interface DomainPage {
  readonly items: readonly Domain[];
  readonly nextCursor: string | null;
}

export interface Download {
  readonly url: string;
  readonly expiresAt: string;
}

export interface EmailProviderStats {
  readonly provider: "smtp" | "sendgrid";
  /** 1: the platform's mail server. 2: your own SendGrid key. */
  readonly tier: number;
  /** In the last hour. Null: the counters do not answer right now. */
  readonly used: number | null;
  /** In any hour. Null: none. */
  readonly limit: number | null;
  readonly remaining: number | null;
  /** When all of it is there again. Null: nothing is used. */
  readonly resetsAt: string | null;
  readonly sent: number;
  readonly failed: number;
  readonly waiting: number;
  readonly bounced: number;
  readonly complaints: number;
  /** It is, or was, unknown whether the provider took them. */
  readonly unsure: number;
}

export interface EmailSettings {
  /** Where notices about limits go. Null: nowhere. */
  readonly contact: string | null;
  /** Who emails through your own SendGrid key are from. */
  readonly sender: string | null;
  /** The end of your own key, and when SendGrid accepted it. Null: there is none. */
  readonly sendgrid: {
    readonly hint: string;
    readonly checkedAt: string;
  } | null;
  /** The address for SendGrid's Event Webhook. Null until you save a setting. Keep it to yourself. */
  readonly webhookUrl: string | null;
  readonly webhookKey: string | null;
}

export interface EmailSettingsChange {
  /** Where notices about limits go. */
  readonly contact?: string | null | undefined;
  /** Verified at SendGrid: `Acme <links@example.com>`. */
  readonly sender?: string | null | undefined;
  /** Checked with SendGrid, then kept sealed. Null removes it. */
  readonly sendgridKey?: string | null | undefined;
  /** The verification key of SendGrid's signed event webhook. */
  readonly webhookKey?: string | null | undefined;
}

export interface EmailStats {
  /** Who carries your next email. */
  readonly current: "smtp" | "sendgrid";
  /** `sent` and all after it look back so far. */
  readonly periodDays: number;
  readonly providers: readonly EmailProviderStats[];
}

export interface File {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly type: string;
  /** In hex; of what is stored, once it is. */
  readonly sha256: string | null;
  /** `pending`: to be uploaded and completed. */
  readonly state: "pending" | "stored";
  readonly createdAt: string;
  readonly storedAt: string | null;
}

export interface FilePage {
  readonly items: readonly File[];
  readonly nextCursor: string | null;
}

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
  /** Null when it leads to a file. */
  readonly url: string | null;
  /** Null when it leads to an address. */
  readonly file: string | null;
  readonly permanent: boolean;
  readonly status: "active" | "disabled";
  readonly expiresAt: string | null;
  readonly title: string | null;
  readonly notes: string | null;
  readonly tags: readonly string[];
  readonly fallbackUrl: string | null;
  readonly hitsPerMonth: number | null;
  /** In their order: the first whose conditions all hold says where the visitor goes. At most 16 KB. */
  readonly rules: readonly Rule[];
  /** Where no rule fits: one of these by their weights, the same for a visitor every time. 2 to 10, or none. */
  readonly split: readonly SplitTarget[];
  readonly utm: Utm;
  /** The visitor's own query parameters are added to the address, unless it has them. */
  readonly forwardQuery: boolean;
  /** Whether visitors are asked for one. */
  readonly password: boolean;
  /** What was last found there. Null: nobody looked yet. */
  readonly target: LinkTarget | null;
  /** Why the operator stopped it; it answers 451 until then. */
  readonly suspended: string | null;
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
  readonly url?: string | null | undefined;
  /** Instead of `url`: the stored file that the link leads to. */
  readonly file?: string | null | undefined;
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
  /** In their order: the first whose conditions all hold says where the visitor goes. At most 16 KB. */
  readonly rules?: readonly Rule[] | undefined;
  /** Where no rule fits: one of these by their weights, the same for a visitor every time. 2 to 10, or none. */
  readonly split?: readonly SplitTarget[] | undefined;
  readonly utm?: Utm | undefined;
  /** The visitor's own query parameters are added to the address, unless it has them. */
  readonly forwardQuery?: boolean | undefined;
  /** Asked of every visitor: at least 8 characters, or at least 6 if all of them are digits. Never shown again; null takes it away, leaving it out keeps it. */
  readonly password?: string | null | undefined;
  /** If it has no title, take the one of the page that it leads to: soon after, if the operator allows it. */
  readonly fetchTitle?: boolean | undefined;
}

export interface LinkReplacement {
  /** Where the link leads: http or https, at most 2,048 characters. */
  readonly url?: string | null | undefined;
  /** Instead of `url`: the stored file that the link leads to. */
  readonly file?: string | null | undefined;
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
  /** In their order: the first whose conditions all hold says where the visitor goes. At most 16 KB. */
  readonly rules?: readonly Rule[] | undefined;
  /** Where no rule fits: one of these by their weights, the same for a visitor every time. 2 to 10, or none. */
  readonly split?: readonly SplitTarget[] | undefined;
  readonly utm?: Utm | undefined;
  /** The visitor's own query parameters are added to the address, unless it has them. */
  readonly forwardQuery?: boolean | undefined;
  /** Asked of every visitor: at least 8 characters, or at least 6 if all of them are digits. Never shown again; null takes it away, leaving it out keeps it. */
  readonly password?: string | null | undefined;
  /** If it has no title, take the one of the page that it leads to: soon after, if the operator allows it. */
  readonly fetchTitle?: boolean | undefined;
}

export interface LinkTarget {
  /** `dead`: failing for days. `unchecked`: this server does not ask there, `reason` says why. */
  readonly state: "ok" | "failing" | "dead" | "unchecked";
  readonly checkedAt: string;
  readonly httpStatus: number | null;
  readonly reason: string | null;
}

export interface NewApiKey {
  readonly name: string;
  readonly scopes: readonly (
    | "links:read"
    | "links:write"
    | "files:read"
    | "files:write"
    | "usage:read"
    | "email:read"
    | "email:send"
    | "admin"
  )[];
  readonly expiresAt?: string | null | undefined;
  /** Calls per minute that this key may make of the tenant's. Null: as many as the tenant may. */
  readonly apiPerMinute?: number | null | undefined;
}

export interface NewDomain {
  /** Its bare name: no https://, no path. */
  readonly host: string;
}

export interface NewFile {
  /** What a download is saved as, at most 255 characters. */
  readonly name: string;
  /** In bytes. Exactly so many can be uploaded. */
  readonly size: number;
  /** Its media type. The bytes must not contradict it. */
  readonly type: string;
  /** In hex. If it is given, the bytes must have it. */
  readonly sha256?: string | undefined;
}

export interface NewLink {
  /** Where the link leads: http or https, at most 2,048 characters. */
  readonly url?: string | null | undefined;
  /** Instead of `url`: the stored file that the link leads to. */
  readonly file?: string | null | undefined;
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
  /** In their order: the first whose conditions all hold says where the visitor goes. At most 16 KB. */
  readonly rules?: readonly Rule[] | undefined;
  /** Where no rule fits: one of these by their weights, the same for a visitor every time. 2 to 10, or none. */
  readonly split?: readonly SplitTarget[] | undefined;
  readonly utm?: Utm | undefined;
  /** The visitor's own query parameters are added to the address, unless it has them. */
  readonly forwardQuery?: boolean | undefined;
  /** Asked of every visitor: at least 8 characters, or at least 6 if all of them are digits. Never shown again; null takes it away, leaving it out keeps it. */
  readonly password?: string | null | undefined;
  /** If it has no title, take the one of the page that it leads to: soon after, if the operator allows it. */
  readonly fetchTitle?: boolean | undefined;
  /** 3 to 64 letters, digits, - and _; case matters. Left out: seven characters are generated. */
  readonly code?: string | undefined;
  /** One of your verified domains. Null: the server's own. Left out: your default domain. */
  readonly domain?: string | null | undefined;
  /** Twelve characters of chance instead of seven, which nobody finds by trying. */
  readonly private?: boolean | undefined;
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
    | "suspended"
    | "invalid_host"
    | "misdirected"
    | "not_found"
    | "method_not_allowed"
    | "address_expired"
    | "address_invalid"
    | "upload_mismatch"
    | "upload_too_large"
    | "upload_taken"
    | "storage_full"
    | "code_taken"
    | "bulk_refused"
    | "name_taken"
    | "domain_unproven"
    | "domain_taken"
    | "domain_in_use"
    | "idempotency_in_flight"
    | "idempotency_unknown"
    | "idempotency_mismatch"
    | "version_conflict"
    | "link_suspended"
    | "link_expired"
    | "rate_limited"
    | "too_many_guesses"
    | "over_quota"
    | "upload_missing"
    | "collection_full"
    | "limit_reached"
    | "email_limited"
    | "email_suppressed"
    | "quota_spent"
    | "password_required"
    | "wrong_password"
    | "too_many_attempts"
    | "not_set_up"
    | "busy"
    | "unavailable"
    | "internal";
  readonly detail: string;
  /** With `over_quota`: bytes that are stored. */
  readonly used?: number | undefined;
  /** With `over_quota`: bytes of uploads that are not complete yet. */
  readonly held?: number | undefined;
  /** With `over_quota`: what the plan gives. */
  readonly limit?: number | undefined;
  /** With `over_quota`: by how many bytes it does not fit. */
  readonly missing?: number | undefined;
  readonly errors?:
    | readonly {
        readonly field: string;
        readonly code: string;
        readonly message: string;
      }[]
    | undefined;
  readonly requestId?: string | undefined;
}

export interface Rule {
  readonly when: {
    /** ISO 3166-1 codes, such as DE. */
    readonly country?: readonly string[] | undefined;
    readonly device?: readonly ("mobile" | "tablet" | "desktop" | "other")[] | undefined;
    readonly os?: readonly ("ios" | "android" | "windows" | "macos" | "linux" | "chromeos" | "other")[] | undefined;
    /** What the visitor's browser asks for first; de is also de-AT. */
    readonly language?: readonly string[] | undefined;
    readonly from?: string | undefined;
    readonly until?: string | undefined;
    /** By the clock of a zone; until before from ends on the next day. */
    readonly hours?:
      | {
          readonly zone: string;
          readonly days?: readonly ("sun" | "mon" | "tue" | "wed" | "thu" | "fri" | "sat")[] | undefined;
          readonly from: string;
          readonly until: string;
        }
      | undefined;
    readonly query?:
      | {
          readonly name: string;
          readonly value?: string | undefined;
        }
      | undefined;
  };
  readonly url: string;
}

export interface Share {
  /** One address. */
  readonly to: string;
  /** Plain text. */
  readonly message?: string | null | undefined;
}

export interface SplitTarget {
  readonly url: string;
  readonly weight: number;
}

export interface Suppression {
  readonly address: string;
  readonly reason: "bounced" | "complaint" | "unsubscribed" | "manual";
  readonly createdAt: string;
}

export interface SuppressionPage {
  readonly items: readonly Suppression[];
  readonly nextCursor: string | null;
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

export type Upload = File & {
  readonly upload: {
    readonly method: "PUT";
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly expiresAt: string;
  };
};

export interface Usage {
  readonly limits: readonly LimitUse[];
  /** The links nearest to their limit, at most 10. */
  readonly hitsPerLinkPerMonth: readonly (LimitUse & {
    readonly link: string;
    readonly code: string;
  })[];
}

/** Added to the address as utm_source and so on, unless it has them. */
export type Utm = {
  readonly source?: string | undefined;
  readonly medium?: string | undefined;
  readonly campaign?: string | undefined;
  readonly term?: string | undefined;
  readonly content?: string | undefined;
} | null;

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
  /** One of your domains, or the server's own. */
  readonly domain?: string | undefined;
  /** Links that lead to this file. */
  readonly file?: string | undefined;
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

export interface GetLinkQrQuery {
  readonly format?: "svg" | "png" | undefined;
  /** Pixels on each side, with the margin. */
  readonly size?: number | undefined;
  /** In squares of the code. Scanners want 4. */
  readonly margin?: number | null | undefined;
  /** #rrggbb or #rrggbbaa; the # as %23, or left out. */
  readonly dark?: string | undefined;
  readonly light?: string | undefined;
  /** How much of it may be damaged. */
  readonly level?: "L" | "M" | "Q" | "H" | undefined;
}

export interface ListKeysQuery {
  readonly limit?: number | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface ListDomainsQuery {
  readonly limit?: number | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface ListFilesQuery {
  readonly limit?: number | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface ListSuppressionsQuery {
  readonly limit?: number | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
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

  /** Change some fields of a link. Needs the scope `links:write`. */
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

  /** Set all fields of a link. Needs the scope `links:write`. */
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

  /** A link's short address as a QR code. Needs the scope `links:read`. */
  getLinkQr(id: string, query: GetLinkQrQuery = {}, options: CallOptions = {}): Promise<Response> {
    return this.#caller.response({
      method: "GET",
      path: `/api/links/${encodeURIComponent(id)}/qr`,
      query,
      signal: options.signal,
    });
  }

  /** Whose key this is, and its limits. Needs the scope `links:read`. */
  getTenant(options: CallOptions = {}): Promise<Tenant> {
    return this.#caller.json<Tenant>({ method: "GET", path: "/api/tenant", signal: options.signal });
  }

  /** List keys, newest first. Needs the scope `admin`. */
  listKeys(query: ListKeysQuery = {}, options: CallOptions = {}): Promise<ApiKeyPage> {
    return this.#caller.json<ApiKeyPage>({ method: "GET", path: "/api/keys", query, signal: options.signal });
  }

  /** All of them, page by page, as they are asked for. */
  iterateKeys(query: ListKeysQuery = {}, options: CallOptions = {}): AsyncGenerator<ApiKey> {
    return eachOf((cursor) => this.listKeys({ ...query, cursor: cursor ?? query.cursor }, options));
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

  /** List domains, oldest first. Needs the scope `links:read`. */
  listDomains(query: ListDomainsQuery = {}, options: CallOptions = {}): Promise<DomainPage> {
    return this.#caller.json<DomainPage>({ method: "GET", path: "/api/domains", query, signal: options.signal });
  }

  /** All of them, page by page, as they are asked for. */
  iterateDomains(query: ListDomainsQuery = {}, options: CallOptions = {}): AsyncGenerator<Domain> {
    return eachOf((cursor) => this.listDomains({ ...query, cursor: cursor ?? query.cursor }, options));
  }

  /** Add a domain. The answer says what to publish, to show that it is yours. Needs the scope `admin`. */
  addDomain(body: NewDomain, options: PostOptions = {}): Promise<Domain> {
    return this.#caller.json<Domain>({
      method: "POST",
      path: "/api/domains",
      json: body,
      idempotencyKey: options.idempotencyKey,
      signal: options.signal,
    });
  }

  /** Read a domain. Needs the scope `links:read`. */
  getDomain(host: string, options: CallOptions = {}): Promise<Domain> {
    return this.#caller.json<Domain>({
      method: "GET",
      path: `/api/domains/${encodeURIComponent(host)}`,
      signal: options.signal,
    });
  }

  /** Change where a domain leads. Needs the scope `admin`. */
  updateDomain(host: string, body: DomainChange, options: CallOptions = {}): Promise<Domain> {
    return this.#caller.json<Domain>({
      method: "PATCH",
      path: `/api/domains/${encodeURIComponent(host)}`,
      json: body,
      signal: options.signal,
    });
  }

  /** Remove a domain. Only when no link is on it any more. After that another tenant can verify it. Needs the scope `admin`. */
  removeDomain(host: string, options: CallOptions = {}): Promise<void> {
    return this.#caller.nothing({
      method: "DELETE",
      path: `/api/domains/${encodeURIComponent(host)}`,
      signal: options.signal,
    });
  }

  /** Verify a domain. Looks for the TXT record, then for the file. From then on links can be made on it. Needs the scope `admin`. */
  verifyDomain(host: string, options: PostOptions = {}): Promise<Domain> {
    return this.#caller.json<Domain>({
      method: "POST",
      path: `/api/domains/${encodeURIComponent(host)}/verify`,
      idempotencyKey: options.idempotencyKey,
      signal: options.signal,
    });
  }

  /** Every limit of the tenant, and what is used of it. Needs the scope `usage:read`. */
  getUsage(options: CallOptions = {}): Promise<Usage> {
    return this.#caller.json<Usage>({ method: "GET", path: "/api/usage", signal: options.signal });
  }

  /** Announce a file, to upload it. Its bytes are held from the tenant's storage. Send them with `upload.method` to `upload.url`, with exactly `upload.headers`, until `upload.expiresAt`; then complete it. Needs the scope `files:write`. */
  createFile(body: NewFile, options: PostOptions = {}): Promise<Upload> {
    return this.#caller.json<Upload>({
      method: "POST",
      path: "/api/files",
      json: body,
      idempotencyKey: options.idempotencyKey,
      signal: options.signal,
    });
  }

  /** List files, newest first. Needs the scope `files:read`. */
  listFiles(query: ListFilesQuery = {}, options: CallOptions = {}): Promise<FilePage> {
    return this.#caller.json<FilePage>({ method: "GET", path: "/api/files", query, signal: options.signal });
  }

  /** All of them, page by page, as they are asked for. */
  iterateFiles(query: ListFilesQuery = {}, options: CallOptions = {}): AsyncGenerator<File> {
    return eachOf((cursor) => this.listFiles({ ...query, cursor: cursor ?? query.cursor }, options));
  }

  /** Say that a file is uploaded. Size, type and checksum are compared with what was announced. If they differ the upload is given up: announce it again. Asked again, the answer is the same. Needs the scope `files:write`. */
  completeFile(id: string, options: PostOptions = {}): Promise<File> {
    return this.#caller.json<File>({
      method: "POST",
      path: `/api/files/${encodeURIComponent(id)}/complete`,
      idempotencyKey: options.idempotencyKey,
      signal: options.signal,
    });
  }

  /** Read about a file. Needs the scope `files:read`. */
  getFile(id: string, options: CallOptions = {}): Promise<File> {
    return this.#caller.json<File>({
      method: "GET",
      path: `/api/files/${encodeURIComponent(id)}`,
      signal: options.signal,
    });
  }

  /** Delete a file, or give up its upload. Its bytes are given back. Links that lead to it answer 404 until they lead somewhere else. Needs the scope `files:write`. */
  deleteFile(id: string, options: CallOptions = {}): Promise<void> {
    return this.#caller.nothing({
      method: "DELETE",
      path: `/api/files/${encodeURIComponent(id)}`,
      signal: options.signal,
    });
  }

  /** Get a file's address for download. Whoever has the address can fetch the file until `expiresAt`. It counts as no visit of a link. Needs the scope `files:read`. */
  downloadFile(id: string, options: CallOptions = {}): Promise<Download> {
    return this.#caller.json<Download>({
      method: "GET",
      path: `/api/files/${encodeURIComponent(id)}/download`,
      signal: options.signal,
    });
  }

  /** What you sent, and may send. Needs the scope `email:read`. */
  getEmailStats(options: CallOptions = {}): Promise<EmailStats> {
    return this.#caller.json<EmailStats>({ method: "GET", path: "/api/email/stats", signal: options.signal });
  }

  /** Who gets no more email from you, and why. Needs the scope `email:read`. */
  listSuppressions(query: ListSuppressionsQuery = {}, options: CallOptions = {}): Promise<SuppressionPage> {
    return this.#caller.json<SuppressionPage>({
      method: "GET",
      path: "/api/email/suppressions",
      query,
      signal: options.signal,
    });
  }

  /** All of them, page by page, as they are asked for. */
  iterateSuppressions(query: ListSuppressionsQuery = {}, options: CallOptions = {}): AsyncGenerator<Suppression> {
    return eachOf((cursor) => this.listSuppressions({ ...query, cursor: cursor ?? query.cursor }, options));
  }

  /** Let an address get email again. Only when its owner asks you to: mail that is not wanted hurts all you send. Needs the scope `admin`. */
  removeSuppression(address: string, options: CallOptions = {}): Promise<void> {
    return this.#caller.nothing({
      method: "DELETE",
      path: `/api/email/suppressions/${encodeURIComponent(address)}`,
      signal: options.signal,
    });
  }

  /** How your email is sent. Needs the scope `email:read`. */
  getEmailSettings(options: CallOptions = {}): Promise<EmailSettings> {
    return this.#caller.json<EmailSettings>({ method: "GET", path: "/api/email/settings", signal: options.signal });
  }

  /** Change how your email is sent. What is left out stays as it is; null removes it. Needs the scope `admin`. */
  updateEmailSettings(body: EmailSettingsChange, options: CallOptions = {}): Promise<EmailSettings> {
    return this.#caller.json<EmailSettings>({
      method: "PATCH",
      path: "/api/email/settings",
      json: body,
      signal: options.signal,
    });
  }

  /** Get a new webhook address. The former address stops working at once. Paste the new `webhookUrl` into SendGrid's settings. Needs the scope `admin`. */
  rotateEmailWebhook(options: PostOptions = {}): Promise<EmailSettings> {
    return this.#caller.json<EmailSettings>({
      method: "POST",
      path: "/api/email/webhook/rotate",
      idempotencyKey: options.idempotencyKey,
      signal: options.signal,
    });
  }

  /** Send somebody a link by email. Needs the scope `email:send`. */
  shareLink(
    id: string,
    body: Share,
    options: PostOptions = {},
  ): Promise<{
    readonly id: string;
    readonly state: "queued";
  }> {
    return this.#caller.json<{
      readonly id: string;
      readonly state: "queued";
    }>({
      method: "POST",
      path: `/api/links/${encodeURIComponent(id)}/share`,
      json: body,
      idempotencyKey: options.idempotencyKey,
      signal: options.signal,
    });
  }
}
