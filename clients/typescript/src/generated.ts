/** Generated from the OpenAPI document by `npm run docs`. A test compares the two. */
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
    | "stats:read"
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
  /** All or nothing: if one element is invalid, none is created. */
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

export interface Click {
  readonly at: string;
  readonly link: {
    readonly id: string | null;
    readonly domain: string;
    readonly code: string;
  };
  readonly reason: "counted" | "bot" | "head" | "prefetch" | "preview" | "fallback" | "over_quota";
  /** The visitor's first click of the day. Null: not known. */
  readonly first: boolean | null;
  /** How many clicks it stands for: above 1 if there are too many to list. */
  readonly weight: number;
  readonly country: string | null;
  readonly region: string | null;
  readonly city: string | null;
  readonly device: string | null;
  readonly browser: string | null;
  readonly os: string | null;
  readonly referrer: string | null;
  readonly language: string | null;
  readonly utm_source: string | null;
  readonly utm_medium: string | null;
  readonly utm_campaign: string | null;
  readonly source: string | null;
  readonly variant: string | null;
  readonly bot: string | null;
}

export interface ClickPage {
  readonly items: readonly Click[];
  readonly nextCursor: string | null;
}

export interface ClickReport {
  readonly subject:
    | {
        readonly kind: "tenant";
      }
    | {
        readonly kind: "link";
        readonly id: string;
        readonly domain: string;
        readonly code: string;
      }
    | {
        readonly kind: "domain";
        readonly name: string;
      }
    | {
        readonly kind: "tag";
        readonly name: string;
      };
  readonly from: string;
  readonly to: string;
  readonly zone: string;
  readonly interval: "quarter" | "hour" | "day" | "week" | "month";
  readonly traffic: "people" | "bots" | "all";
  /** `visitors` is the sum of daily visitors. `bots`: clicks that do not count. */
  readonly totals: {
    readonly clicks: number;
    readonly visitors: number;
    readonly bots: number;
  };
  readonly reasons: Readonly<Record<string, number>>;
  readonly series: readonly {
    readonly start: string;
    readonly clicks: number;
    readonly visitors: number;
  }[];
  readonly breakdowns: Readonly<
    Record<
      string,
      {
        readonly values: readonly {
          readonly value: string;
          readonly clicks: number;
          readonly visitors: number;
        }[];
        readonly none: number;
        readonly other: number;
        readonly notItemised: number;
      }
    >
  >;
  readonly previous: {
    readonly from: string;
    readonly to: string;
    readonly totals: {
      readonly clicks: number;
      readonly visitors: number;
      readonly bots: number;
    };
    readonly series: readonly {
      readonly start: string;
      readonly clicks: number;
      readonly visitors: number;
    }[];
    /** With filters: of how many of all clicks in the range it is known whether they match; `notInSeries`: matches that the series lacks. */
    readonly itemised: {
      readonly clicks: number;
      readonly of: number;
      readonly notInSeries: number;
    } | null;
    /** Not null if events were sampled. `error`: relative error of the total that 95 of 100 samples keep. */
    readonly sampled: {
      readonly rate: number;
      readonly error: number;
    } | null;
  } | null;
  /** With filters: of how many of all clicks in the range it is known whether they match; `notInSeries`: matches that the series lacks. */
  readonly itemised: {
    readonly clicks: number;
    readonly of: number;
    readonly notInSeries: number;
  } | null;
  /** Not null if events were sampled. `error`: relative error of the total that 95 of 100 samples keep. */
  readonly sampled: {
    readonly rate: number;
    readonly error: number;
  } | null;
  /** Clicks from another shortener, not part of the totals. `undated`: those whose day is not known. */
  readonly imported: {
    readonly clicks: number;
    readonly visitors: number;
    readonly undated: number;
    readonly series: readonly {
      readonly start: string;
      readonly clicks: number;
      readonly visitors: number;
    }[];
  } | null;
}

export interface ClickSettings {
  /** IANA time zone of the tenant's days. */
  readonly timeZone: string;
  /** Whether facts about visitors, such as country and browser, are recorded with clicks. */
  readonly facts: boolean;
  /** Null: as long as the plan allows. */
  readonly eventDays: number | null;
  /** For how many days single clicks are kept, by the plan and `eventDays`. Null: for good. */
  readonly eventsKeptDays: number | null;
  /** Tags whose totals are kept as long as those of links. */
  readonly tags: readonly string[];
}

export interface ClickSettingsChange {
  /** A change begins with the next day. */
  readonly timeZone?: string | undefined;
  readonly facts?: boolean | undefined;
  /** At most what the plan allows. Clicks of the last four days are always kept. Null: as the plan. */
  readonly eventDays?: number | null | undefined;
  /** At most 50. Free places are taken by other tags when their links are clicked. */
  readonly tags?: readonly string[] | undefined;
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
  /** True if the operator's blocklist contains the host of `rootUrl`; it is then not used. */
  readonly rootBlocked: boolean;
  /** The same for `missingUrl`. */
  readonly missingBlocked: boolean;
  /** Publish one of the two, then verify the domain. Null once verified. */
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
  /** Create new links on this domain by default. */
  readonly isDefault?: boolean | undefined;
  /** Where the bare domain redirects. Null: a plain page. */
  readonly rootUrl?: string | null | undefined;
  /** Where unknown codes redirect. Null: the default 404 page. */
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
  /** 1: the platform's mail server. 2: your SendGrid key. */
  readonly tier: number;
  /** In the last hour. Null: unknown, because the counters are unavailable. */
  readonly used: number | null;
  /** Per hour. Null: no limit. */
  readonly limit: number | null;
  readonly remaining: number | null;
  /** When the full limit is available again. Null: nothing is used. */
  readonly resetsAt: string | null;
  readonly sent: number;
  readonly failed: number;
  readonly waiting: number;
  readonly bounced: number;
  readonly complaints: number;
  /** Emails for which it is unknown whether the provider accepted them. */
  readonly unsure: number;
}

export interface EmailSettings {
  /** Address for notices about limits and clicks. Null: none are sent. */
  readonly contact: string | null;
  /** Sender of emails through your SendGrid key. */
  readonly sender: string | null;
  /** The last characters of your key, and when SendGrid accepted it. Null: no key. */
  readonly sendgrid: {
    readonly hint: string;
    readonly checkedAt: string;
  } | null;
  /** URL for SendGrid's Event Webhook. Null until you save a setting. Keep it secret. */
  readonly webhookUrl: string | null;
  readonly webhookKey: string | null;
  readonly notices: NoticeSwitches;
}

export interface EmailSettingsChange {
  /** Address for notices about limits and clicks. */
  readonly contact?: string | null | undefined;
  /** A sender verified at SendGrid: `Acme <links@example.com>`. */
  readonly sender?: string | null | undefined;
  /** Checked with SendGrid, then stored encrypted. Null removes it. */
  readonly sendgridKey?: string | null | undefined;
  /** Verification key of SendGrid's Signed Event Webhook. */
  readonly webhookKey?: string | null | undefined;
  /** Emails about clicks, to switch on or off. Omitted ones stay as they are. */
  readonly notices?:
    | {
        /** About the first click of a link. Off unless you choose. */
        readonly firstClick?: boolean | undefined;
        /** About a link that gets many more clicks than usual. On unless you choose. */
        readonly spike?: boolean | undefined;
        /** About a busy link that gets hardly any clicks. Off unless you choose. */
        readonly drop?: boolean | undefined;
        /** About a link whose destination no longer works. On unless you choose. */
        readonly deadTarget?: boolean | undefined;
        /** About the weekly summary of clicks. On unless you choose. */
        readonly digest?: boolean | undefined;
      }
    | undefined;
}

export interface EmailStats {
  /** The provider of your next email. */
  readonly current: "smtp" | "sendgrid";
  /** Period in days that `sent` and the following figures cover. */
  readonly periodDays: number;
  readonly providers: readonly EmailProviderStats[];
}

export interface File {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly type: string;
  /** In hex; of the stored file, once it is complete. */
  readonly sha256: string | null;
  /** `pending`: not uploaded and completed yet. */
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
  /** `known`: the figures are current. `not_counted`: not counted because there is no limit. `unavailable`: the counters are unavailable. */
  readonly state: "known" | "not_counted" | "unavailable" | "in_server";
  readonly used: number | null;
  /** Reserved, and may still be released. */
  readonly held: number | null;
  /** Null: no limit. */
  readonly limit: number | null;
  /** When the full limit is available again. Null: nothing is used. */
  readonly resetsAt: string | null;
  /** When it will be used up at this month's rate, if that is before `resetsAt`; now if it is used up already. */
  readonly spentAt: string | null;
}

export interface Link {
  readonly id: string;
  readonly domain: string;
  readonly code: string;
  readonly shortUrl: string;
  /** Null if the link serves a file. */
  readonly url: string | null;
  /** Null if the link redirects to a URL. */
  readonly file: string | null;
  readonly permanent: boolean;
  readonly status: "active" | "disabled";
  readonly expiresAt: string | null;
  readonly title: string | null;
  readonly notes: string | null;
  readonly tags: readonly string[];
  readonly fallbackUrl: string | null;
  readonly hitsPerMonth: number | null;
  readonly clickFacts: boolean;
  /** Checked in order: the first rule whose conditions all match determines the destination. At most 16 KB. */
  readonly rules: readonly Rule[];
  /** A/B split, used when no rule matches: destinations by weight; a visitor always gets the same one. 2 to 10 destinations, or null. */
  readonly split: readonly SplitTarget[];
  readonly utm: Utm;
  /** Pass the visitor's query parameters on to the destination, unless it already has them. */
  readonly forwardQuery: boolean;
  /** Whether visitors need a password. */
  readonly password: boolean;
  /** Result of the last destination check. Null: not checked yet. */
  readonly target: LinkTarget | null;
  /** Why the operator suspended the link; until restored, it answers 451. */
  readonly suspended: string | null;
  /** Clicks that count, since the link was created. See `/api/links/{id}/stats`. */
  readonly clicks: number;
  readonly lastClickAt: string | null;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface LinkPage {
  readonly items: readonly Link[];
  readonly nextCursor: string | null;
}

export interface LinkPatch {
  /** Destination URL: http or https, at most 2,048 characters. */
  readonly url?: string | null | undefined;
  /** Instead of `url`: the ID of an uploaded file. */
  readonly file?: string | null | undefined;
  /** Redirect with 301 instead of 302. Browsers cache it for 90 seconds. */
  readonly permanent?: boolean | undefined;
  readonly status?: "active" | "disabled" | undefined;
  /** Null: never. Default: in one year. */
  readonly expiresAt?: string | null | undefined;
  readonly title?: string | null | undefined;
  readonly notes?: string | null | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Where visitors go when the link has expired or used its hits. */
  readonly fallbackUrl?: string | null | undefined;
  /** Null: the plan's limit. */
  readonly hitsPerMonth?: number | null | undefined;
  /** Record facts about visitors, such as country and browser, with the link's clicks. Default: true. */
  readonly clickFacts?: boolean | undefined;
  /** Checked in order: the first rule whose conditions all match determines the destination. At most 16 KB. */
  readonly rules?: readonly Rule[] | undefined;
  /** A/B split, used when no rule matches: destinations by weight; a visitor always gets the same one. 2 to 10 destinations, or null. */
  readonly split?: readonly SplitTarget[] | undefined;
  readonly utm?: Utm | undefined;
  /** Pass the visitor's query parameters on to the destination, unless it already has them. */
  readonly forwardQuery?: boolean | undefined;
  /** Required of every visitor. At least 8 characters, or at least 6 if all are digits. Never returned. Null removes it; omit it to keep it. */
  readonly password?: string | null | undefined;
  /** If the link has no title, fetch it from the destination page shortly afterwards, if the operator allows it. */
  readonly fetchTitle?: boolean | undefined;
}

export interface LinkReplacement {
  /** Destination URL: http or https, at most 2,048 characters. */
  readonly url?: string | null | undefined;
  /** Instead of `url`: the ID of an uploaded file. */
  readonly file?: string | null | undefined;
  /** Redirect with 301 instead of 302. Browsers cache it for 90 seconds. */
  readonly permanent?: boolean | undefined;
  readonly status?: "active" | "disabled" | undefined;
  /** Null: never. Default: in one year. */
  readonly expiresAt?: string | null | undefined;
  readonly title?: string | null | undefined;
  readonly notes?: string | null | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Where visitors go when the link has expired or used its hits. */
  readonly fallbackUrl?: string | null | undefined;
  /** Null: the plan's limit. */
  readonly hitsPerMonth?: number | null | undefined;
  /** Record facts about visitors, such as country and browser, with the link's clicks. Default: true. */
  readonly clickFacts?: boolean | undefined;
  /** Checked in order: the first rule whose conditions all match determines the destination. At most 16 KB. */
  readonly rules?: readonly Rule[] | undefined;
  /** A/B split, used when no rule matches: destinations by weight; a visitor always gets the same one. 2 to 10 destinations, or null. */
  readonly split?: readonly SplitTarget[] | undefined;
  readonly utm?: Utm | undefined;
  /** Pass the visitor's query parameters on to the destination, unless it already has them. */
  readonly forwardQuery?: boolean | undefined;
  /** Required of every visitor. At least 8 characters, or at least 6 if all are digits. Never returned. Null removes it; omit it to keep it. */
  readonly password?: string | null | undefined;
  /** If the link has no title, fetch it from the destination page shortly afterwards, if the operator allows it. */
  readonly fetchTitle?: boolean | undefined;
}

export interface LinkTarget {
  /** `dead`: failing for days. `unchecked`: not checked; see `reason`. */
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
    | "stats:read"
    | "usage:read"
    | "email:read"
    | "email:send"
    | "admin"
  )[];
  readonly expiresAt?: string | null | undefined;
  /** API calls per minute for this key, within the tenant's limit. Null: the tenant's limit. */
  readonly apiPerMinute?: number | null | undefined;
}

export interface NewDomain {
  /** Host name only: no https://, no path. */
  readonly host: string;
}

export interface NewFile {
  /** File name of the download, at most 255 characters. */
  readonly name: string;
  /** In bytes. The upload must have exactly this size. */
  readonly size: number;
  /** Media type. The content must match it. */
  readonly type: string;
  /** In hex. If given, the uploaded bytes must match it. */
  readonly sha256?: string | undefined;
}

export interface NewLink {
  /** Destination URL: http or https, at most 2,048 characters. */
  readonly url?: string | null | undefined;
  /** Instead of `url`: the ID of an uploaded file. */
  readonly file?: string | null | undefined;
  /** Redirect with 301 instead of 302. Browsers cache it for 90 seconds. */
  readonly permanent?: boolean | undefined;
  readonly status?: "active" | "disabled" | undefined;
  /** Null: never. Default: in one year. */
  readonly expiresAt?: string | null | undefined;
  readonly title?: string | null | undefined;
  readonly notes?: string | null | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Where visitors go when the link has expired or used its hits. */
  readonly fallbackUrl?: string | null | undefined;
  /** Null: the plan's limit. */
  readonly hitsPerMonth?: number | null | undefined;
  /** Record facts about visitors, such as country and browser, with the link's clicks. Default: true. */
  readonly clickFacts?: boolean | undefined;
  /** Checked in order: the first rule whose conditions all match determines the destination. At most 16 KB. */
  readonly rules?: readonly Rule[] | undefined;
  /** A/B split, used when no rule matches: destinations by weight; a visitor always gets the same one. 2 to 10 destinations, or null. */
  readonly split?: readonly SplitTarget[] | undefined;
  readonly utm?: Utm | undefined;
  /** Pass the visitor's query parameters on to the destination, unless it already has them. */
  readonly forwardQuery?: boolean | undefined;
  /** Required of every visitor. At least 8 characters, or at least 6 if all are digits. Never returned. Null removes it; omit it to keep it. */
  readonly password?: string | null | undefined;
  /** If the link has no title, fetch it from the destination page shortly afterwards, if the operator allows it. */
  readonly fetchTitle?: boolean | undefined;
  /** 3 to 64 letters, digits, - and _; case-sensitive. Default: seven generated characters. */
  readonly code?: string | undefined;
  /** One of your verified domains. Null: the server's domain. Default: your default domain. */
  readonly domain?: string | null | undefined;
  /** Generate twelve random characters instead of seven, so that the code is hard to guess. */
  readonly private?: boolean | undefined;
}

/** Which emails about clicks go to `contact`. */
export interface NoticeSwitches {
  /** About the first click of a link. Off unless you choose. */
  readonly firstClick: boolean;
  /** About a link that gets many more clicks than usual. On unless you choose. */
  readonly spike: boolean;
  /** About a busy link that gets hardly any clicks. Off unless you choose. */
  readonly drop: boolean;
  /** About a link whose destination no longer works. On unless you choose. */
  readonly deadTarget: boolean;
  /** About the weekly summary of clicks. On unless you choose. */
  readonly digest: boolean;
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
    | "too_many_streams"
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
  /** With `over_quota`: bytes stored. */
  readonly used?: number | undefined;
  /** With `over_quota`: bytes reserved by incomplete uploads. */
  readonly held?: number | undefined;
  /** With `over_quota`: the storage quota in bytes. */
  readonly limit?: number | undefined;
  /** With `over_quota`: bytes by which the file exceeds the quota. */
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
    /** The browser's preferred language; `de` also matches `de-AT`. */
    readonly language?: readonly string[] | undefined;
    readonly from?: string | undefined;
    readonly until?: string | undefined;
    /** In local time of the zone. If `until` is before `from`, it ends on the next day. */
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
  /** One recipient address. */
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
    readonly eventDays: number | null;
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
  /** The links closest to their limit, at most 10. */
  readonly hitsPerLinkPerMonth: readonly (LimitUse & {
    readonly link: string;
    readonly code: string;
  })[];
}

/** Added to the destination as utm_source etc., unless it already has them. */
export type Utm = {
  readonly source?: string | undefined;
  readonly medium?: string | undefined;
  readonly campaign?: string | undefined;
  readonly term?: string | undefined;
  readonly content?: string | undefined;
} | null;

export interface ListLinksQuery {
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  readonly sort?: "createdAt" | "updatedAt" | "code" | "expiresAt" | "clicks" | "lastClickAt" | undefined;
  readonly order?: "asc" | "desc" | undefined;
  /** Only links with this tag; repeat the parameter for several tags, at most 10. */
  readonly tag?: readonly string[] | undefined;
  /** Whether a link must have all of the tags, or any of them. */
  readonly match?: "all" | "any" | undefined;
  readonly status?: "active" | "disabled" | undefined;
  /** One of your domains, or the server's domain. */
  readonly domain?: string | undefined;
  /** Only links to this file. */
  readonly file?: string | undefined;
  readonly createdAfter?: string | undefined;
  readonly createdBefore?: string | undefined;
  readonly expiresBefore?: string | undefined;
  /** Substring of the code, URL, title, notes or tags. Case-insensitive for A to Z. */
  readonly search?: string | undefined;
  /** Return only these fields of each link, comma separated: `id,code,url`. */
  readonly fields?: string | undefined;
}

export interface GetLinkQuery {
  /** Return only these fields of each link, comma separated: `id,code,url`. */
  readonly fields?: string | undefined;
}

export interface GetLinkStatsQuery {
  /** A date in the zone, or a time with an offset. Default: 30 days. */
  readonly from?: string | undefined;
  /** Exclusive if it is a time; a date includes its whole day. Default: now. */
  readonly to?: string | undefined;
  /** IANA time zone. Default: the tenant's. */
  readonly zone?: string | undefined;
  /** `country=DE,AT` (is), `browser!=Chrome` (is not), `referrer~news` (contains). Repeat it for several; all must hold. Write a comma in a value as `\,`. At most 20 filters with 200 values. Fields: country, region, city, device, browser, os, referrer, language, utm_source, utm_medium, utm_campaign, source, variant, bot, link, domain, tag, reason. */
  readonly filter?: readonly string[] | undefined;
  /** Default: by the length of the range. */
  readonly interval?: "quarter" | "hour" | "day" | "week" | "month" | undefined;
  /** `people`: clicks that count. `bots`: all others, such as previews. Default: people, or all with a filter on `bot` or `reason`. */
  readonly traffic?: "people" | "bots" | "all" | undefined;
  /** Comma separated: country, region, city, device, browser, os, referrer, language, utm_source, utm_medium, utm_campaign, source, variant, bot. Default: all. */
  readonly breakdown?: string | undefined;
  /** Values of each breakdown. */
  readonly limit?: number | undefined;
  /** Also count the period before, the same weekdays before, or the same dates a year before. */
  readonly compare?: "previous" | "weekdays" | "year" | undefined;
  /** `csv`: the series; the values of a dimension if `breakdown` names a single one. Or `Accept: text/csv`. */
  readonly format?: "json" | "csv" | undefined;
}

export interface GetStatsQuery {
  /** A date in the zone, or a time with an offset. Default: 30 days. */
  readonly from?: string | undefined;
  /** Exclusive if it is a time; a date includes its whole day. Default: now. */
  readonly to?: string | undefined;
  /** IANA time zone. Default: the tenant's. */
  readonly zone?: string | undefined;
  /** `country=DE,AT` (is), `browser!=Chrome` (is not), `referrer~news` (contains). Repeat it for several; all must hold. Write a comma in a value as `\,`. At most 20 filters with 200 values. Fields: country, region, city, device, browser, os, referrer, language, utm_source, utm_medium, utm_campaign, source, variant, bot, link, domain, tag, reason. */
  readonly filter?: readonly string[] | undefined;
  /** Default: by the length of the range. */
  readonly interval?: "quarter" | "hour" | "day" | "week" | "month" | undefined;
  /** `people`: clicks that count. `bots`: all others, such as previews. Default: people, or all with a filter on `bot` or `reason`. */
  readonly traffic?: "people" | "bots" | "all" | undefined;
  /** Comma separated: country, region, city, device, browser, os, referrer, language, utm_source, utm_medium, utm_campaign, source, variant, bot. Default: all. */
  readonly breakdown?: string | undefined;
  /** Values of each breakdown. */
  readonly limit?: number | undefined;
  /** Also count the period before, the same weekdays before, or the same dates a year before. */
  readonly compare?: "previous" | "weekdays" | "year" | undefined;
  /** `csv`: the series; the values of a dimension if `breakdown` names a single one. Or `Accept: text/csv`. */
  readonly format?: "json" | "csv" | undefined;
  /** Only clicks on links of this domain. */
  readonly domain?: string | undefined;
  /** Only clicks on links that had this tag. */
  readonly tag?: string | undefined;
}

export interface ListLinkClicksQuery {
  /** A date in the zone, or a time with an offset. Default: 30 days. */
  readonly from?: string | undefined;
  /** Exclusive if it is a time; a date includes its whole day. Default: now. */
  readonly to?: string | undefined;
  /** IANA time zone. Default: the tenant's. */
  readonly zone?: string | undefined;
  /** `country=DE,AT` (is), `browser!=Chrome` (is not), `referrer~news` (contains). Repeat it for several; all must hold. Write a comma in a value as `\,`. At most 20 filters with 200 values. Fields: country, region, city, device, browser, os, referrer, language, utm_source, utm_medium, utm_campaign, source, variant, bot, link, domain, tag, reason. */
  readonly filter?: readonly string[] | undefined;
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  /** `csv` and `jsonl` stream all matching clicks, at most a million, without pages. */
  readonly format?: "json" | "csv" | "jsonl" | undefined;
}

export interface ListClicksQuery {
  /** A date in the zone, or a time with an offset. Default: 30 days. */
  readonly from?: string | undefined;
  /** Exclusive if it is a time; a date includes its whole day. Default: now. */
  readonly to?: string | undefined;
  /** IANA time zone. Default: the tenant's. */
  readonly zone?: string | undefined;
  /** `country=DE,AT` (is), `browser!=Chrome` (is not), `referrer~news` (contains). Repeat it for several; all must hold. Write a comma in a value as `\,`. At most 20 filters with 200 values. Fields: country, region, city, device, browser, os, referrer, language, utm_source, utm_medium, utm_campaign, source, variant, bot, link, domain, tag, reason. */
  readonly filter?: readonly string[] | undefined;
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  /** `csv` and `jsonl` stream all matching clicks, at most a million, without pages. */
  readonly format?: "json" | "csv" | "jsonl" | undefined;
  /** Only clicks on links of this domain. */
  readonly domain?: string | undefined;
  /** Only clicks on links that had this tag. */
  readonly tag?: string | undefined;
}

export interface GetLinkQrQuery {
  readonly format?: "svg" | "png" | undefined;
  /** Width and height in pixels, including the margin. */
  readonly size?: number | undefined;
  /** In modules (squares). Scanners need 4. */
  readonly margin?: number | null | undefined;
  /** #rrggbb or #rrggbbaa; write # as %23 or omit it. */
  readonly dark?: string | undefined;
  readonly light?: string | undefined;
  /** Error correction: how much of the code may be damaged. */
  readonly level?: "L" | "M" | "Q" | "H" | undefined;
}

export interface ListKeysQuery {
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
}

export interface ListDomainsQuery {
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
}

export interface ListFilesQuery {
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
}

export interface ListSuppressionsQuery {
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
}

export interface WatchClicksQuery {
  /** When the stream ends. */
  readonly seconds?: number | undefined;
}

export class QuickLink {
  readonly #caller: Caller;

  constructor(settings: ClientSettings) {
    this.#caller = new Caller(settings);
  }

  /** Sends any request to the API, for routes without a method here. */
  send(asked: Asked): Promise<Response> {
    return this.#caller.response(asked);
  }

  /** Create a link. Requires the scope `links:write`. */
  createLink(body: NewLink, options: PostOptions = {}): Promise<Link> {
    return this.#caller.json<Link>({
      method: "POST",
      path: "/api/links",
      json: body,
      idempotencyKey: options.idempotencyKey,
      signal: options.signal,
    });
  }

  /** List, filter, search and sort links. Newest first by default. Any other order, and any filter, may read all links of the tenant. Requires the scope `links:read`. */
  listLinks(query: ListLinksQuery = {}, options: CallOptions = {}): Promise<LinkPage> {
    return this.#caller.json<LinkPage>({ method: "GET", path: "/api/links", query, signal: options.signal });
  }

  /** Iterates over all items; pages are loaded on demand. */
  iterateLinks(query: ListLinksQuery = {}, options: CallOptions = {}): AsyncGenerator<Link> {
    return eachOf((cursor) => this.listLinks({ ...query, cursor: cursor ?? query.cursor }, options));
  }

  /** Create up to 1,000 links. Each element is created or rejected separately; the results are in the order of the request. With `atomic`, either all are created, or the response is a problem whose `errors` name the invalid elements and nothing is created or counted. Requires the scope `links:write`. */
  createLinks(body: BulkLinks, options: PostOptions = {}): Promise<BulkResult> {
    return this.#caller.json<BulkResult>({
      method: "POST",
      path: "/api/links/bulk",
      json: body,
      idempotencyKey: options.idempotencyKey,
      signal: options.signal,
    });
  }

  /** Get a link. Requires the scope `links:read`. */
  getLink(id: string, query: GetLinkQuery = {}, options: CallOptions = {}): Promise<Link> {
    return this.#caller.json<Link>({
      method: "GET",
      path: `/api/links/${encodeURIComponent(id)}`,
      query,
      signal: options.signal,
    });
  }

  /** Update some fields of a link. Requires the scope `links:write`. */
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

  /** Replace all fields of a link. Requires the scope `links:write`. */
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

  /** Delete a link. Its code answers 404 from then on. Only you can use it again. Requires the scope `links:write`. */
  deleteLink(id: string, options: CallOptions & { readonly ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#caller.nothing({
      method: "DELETE",
      path: `/api/links/${encodeURIComponent(id)}`,
      headers: { "if-match": options.ifMatch },
      signal: options.signal,
    });
  }

  /** Get a report on a link's clicks. Requires the scope `stats:read`. */
  getLinkStats(id: string, query: GetLinkStatsQuery = {}, options: CallOptions = {}): Promise<Response> {
    return this.#caller.response({
      method: "GET",
      path: `/api/links/${encodeURIComponent(id)}/stats`,
      query,
      signal: options.signal,
    });
  }

  /** Get a report on all clicks, or those of a domain or tag. Requires the scope `stats:read`. */
  getStats(query: GetStatsQuery = {}, options: CallOptions = {}): Promise<Response> {
    return this.#caller.response({ method: "GET", path: "/api/stats", query, signal: options.signal });
  }

  /** List a link's clicks, newest first. Requires the scope `stats:read`. */
  listLinkClicks(id: string, query: ListLinkClicksQuery = {}, options: CallOptions = {}): Promise<Response> {
    return this.#caller.response({
      method: "GET",
      path: `/api/links/${encodeURIComponent(id)}/clicks`,
      query,
      signal: options.signal,
    });
  }

  /** List all clicks, newest first. Requires the scope `stats:read`. */
  listClicks(query: ListClicksQuery = {}, options: CallOptions = {}): Promise<Response> {
    return this.#caller.response({ method: "GET", path: "/api/clicks", query, signal: options.signal });
  }

  /** Get a link's QR code. Requires the scope `links:read`. */
  getLinkQr(id: string, query: GetLinkQrQuery = {}, options: CallOptions = {}): Promise<Response> {
    return this.#caller.response({
      method: "GET",
      path: `/api/links/${encodeURIComponent(id)}/qr`,
      query,
      signal: options.signal,
    });
  }

  /** Get the tenant of this key and its limits. Requires the scope `links:read`. */
  getTenant(options: CallOptions = {}): Promise<Tenant> {
    return this.#caller.json<Tenant>({ method: "GET", path: "/api/tenant", signal: options.signal });
  }

  /** List API keys, newest first. Requires the scope `admin`. */
  listKeys(query: ListKeysQuery = {}, options: CallOptions = {}): Promise<ApiKeyPage> {
    return this.#caller.json<ApiKeyPage>({ method: "GET", path: "/api/keys", query, signal: options.signal });
  }

  /** Iterates over all items; pages are loaded on demand. */
  iterateKeys(query: ListKeysQuery = {}, options: CallOptions = {}): AsyncGenerator<ApiKey> {
    return eachOf((cursor) => this.listKeys({ ...query, cursor: cursor ?? query.cursor }, options));
  }

  /** Create an API key. Requires the scope `admin`. */
  createKey(body: NewApiKey, options: PostOptions = {}): Promise<CreatedApiKey> {
    return this.#caller.json<CreatedApiKey>({
      method: "POST",
      path: "/api/keys",
      json: body,
      idempotencyKey: options.idempotencyKey,
      signal: options.signal,
    });
  }

  /** Revoke an API key. It stops working at once. Requires the scope `admin`. */
  revokeKey(id: string, options: CallOptions = {}): Promise<void> {
    return this.#caller.nothing({
      method: "DELETE",
      path: `/api/keys/${encodeURIComponent(id)}`,
      signal: options.signal,
    });
  }

  /** List domains, oldest first. Requires the scope `links:read`. */
  listDomains(query: ListDomainsQuery = {}, options: CallOptions = {}): Promise<DomainPage> {
    return this.#caller.json<DomainPage>({ method: "GET", path: "/api/domains", query, signal: options.signal });
  }

  /** Iterates over all items; pages are loaded on demand. */
  iterateDomains(query: ListDomainsQuery = {}, options: CallOptions = {}): AsyncGenerator<Domain> {
    return eachOf((cursor) => this.listDomains({ ...query, cursor: cursor ?? query.cursor }, options));
  }

  /** Add a custom domain. The response contains the records that verify the domain. Requires the scope `admin`. */
  addDomain(body: NewDomain, options: PostOptions = {}): Promise<Domain> {
    return this.#caller.json<Domain>({
      method: "POST",
      path: "/api/domains",
      json: body,
      idempotencyKey: options.idempotencyKey,
      signal: options.signal,
    });
  }

  /** Get a domain. Requires the scope `links:read`. */
  getDomain(host: string, options: CallOptions = {}): Promise<Domain> {
    return this.#caller.json<Domain>({
      method: "GET",
      path: `/api/domains/${encodeURIComponent(host)}`,
      signal: options.signal,
    });
  }

  /** Update a domain. Requires the scope `admin`. */
  updateDomain(host: string, body: DomainChange, options: CallOptions = {}): Promise<Domain> {
    return this.#caller.json<Domain>({
      method: "PATCH",
      path: `/api/domains/${encodeURIComponent(host)}`,
      json: body,
      signal: options.signal,
    });
  }

  /** Remove a domain. Only possible when the domain has no links. Afterwards another tenant can verify it. Requires the scope `admin`. */
  removeDomain(host: string, options: CallOptions = {}): Promise<void> {
    return this.#caller.nothing({
      method: "DELETE",
      path: `/api/domains/${encodeURIComponent(host)}`,
      signal: options.signal,
    });
  }

  /** Verify a domain. Checks the TXT record, then the file. Once verified, links can be created on the domain. Requires the scope `admin`. */
  verifyDomain(host: string, options: PostOptions = {}): Promise<Domain> {
    return this.#caller.json<Domain>({
      method: "POST",
      path: `/api/domains/${encodeURIComponent(host)}/verify`,
      idempotencyKey: options.idempotencyKey,
      signal: options.signal,
    });
  }

  /** Get all limits and their usage. Requires the scope `usage:read`. */
  getUsage(options: CallOptions = {}): Promise<Usage> {
    return this.#caller.json<Usage>({ method: "GET", path: "/api/usage", signal: options.signal });
  }

  /** Get click settings. Requires the scope `links:read`. */
  getClickSettings(options: CallOptions = {}): Promise<ClickSettings> {
    return this.#caller.json<ClickSettings>({ method: "GET", path: "/api/stats/settings", signal: options.signal });
  }

  /** Update click settings. Omitted fields keep their value. Requires the scope `admin`. */
  updateClickSettings(body: ClickSettingsChange, options: CallOptions = {}): Promise<ClickSettings> {
    return this.#caller.json<ClickSettings>({
      method: "PATCH",
      path: "/api/stats/settings",
      json: body,
      signal: options.signal,
    });
  }

  /** Start an upload. Reserves the file's bytes from the tenant's storage. Send the file with `upload.method` to `upload.url` with exactly `upload.headers` before `upload.expiresAt`, then complete the upload. Requires the scope `files:write`. */
  createFile(body: NewFile, options: PostOptions = {}): Promise<Upload> {
    return this.#caller.json<Upload>({
      method: "POST",
      path: "/api/files",
      json: body,
      idempotencyKey: options.idempotencyKey,
      signal: options.signal,
    });
  }

  /** List files, newest first. Requires the scope `files:read`. */
  listFiles(query: ListFilesQuery = {}, options: CallOptions = {}): Promise<FilePage> {
    return this.#caller.json<FilePage>({ method: "GET", path: "/api/files", query, signal: options.signal });
  }

  /** Iterates over all items; pages are loaded on demand. */
  iterateFiles(query: ListFilesQuery = {}, options: CallOptions = {}): AsyncGenerator<File> {
    return eachOf((cursor) => this.listFiles({ ...query, cursor: cursor ?? query.cursor }, options));
  }

  /** Complete an upload. Compares size, type and checksum with what was announced. If they differ, the upload is discarded: start again. Repeating the request returns the same response. Requires the scope `files:write`. */
  completeFile(id: string, options: PostOptions = {}): Promise<File> {
    return this.#caller.json<File>({
      method: "POST",
      path: `/api/files/${encodeURIComponent(id)}/complete`,
      idempotencyKey: options.idempotencyKey,
      signal: options.signal,
    });
  }

  /** Get a file. Requires the scope `files:read`. */
  getFile(id: string, options: CallOptions = {}): Promise<File> {
    return this.#caller.json<File>({
      method: "GET",
      path: `/api/files/${encodeURIComponent(id)}`,
      signal: options.signal,
    });
  }

  /** Delete a file, or cancel its upload. Frees its storage. Links to the file answer 404 until you give them another destination. Requires the scope `files:write`. */
  deleteFile(id: string, options: CallOptions = {}): Promise<void> {
    return this.#caller.nothing({
      method: "DELETE",
      path: `/api/files/${encodeURIComponent(id)}`,
      signal: options.signal,
    });
  }

  /** Get a download URL. Anyone who has the URL can download the file until `expiresAt`. Downloads do not count as visits. Requires the scope `files:read`. */
  downloadFile(id: string, options: CallOptions = {}): Promise<Download> {
    return this.#caller.json<Download>({
      method: "GET",
      path: `/api/files/${encodeURIComponent(id)}/download`,
      signal: options.signal,
    });
  }

  /** Get email usage and limits. Requires the scope `email:read`. */
  getEmailStats(options: CallOptions = {}): Promise<EmailStats> {
    return this.#caller.json<EmailStats>({ method: "GET", path: "/api/email/stats", signal: options.signal });
  }

  /** List suppressed addresses. Requires the scope `email:read`. */
  listSuppressions(query: ListSuppressionsQuery = {}, options: CallOptions = {}): Promise<SuppressionPage> {
    return this.#caller.json<SuppressionPage>({
      method: "GET",
      path: "/api/email/suppressions",
      query,
      signal: options.signal,
    });
  }

  /** Iterates over all items; pages are loaded on demand. */
  iterateSuppressions(query: ListSuppressionsQuery = {}, options: CallOptions = {}): AsyncGenerator<Suppression> {
    return eachOf((cursor) => this.listSuppressions({ ...query, cursor: cursor ?? query.cursor }, options));
  }

  /** Remove an address from the suppression list. Only at the recipient's request: unwanted email harms the delivery of all your emails. Requires the scope `admin`. */
  removeSuppression(address: string, options: CallOptions = {}): Promise<void> {
    return this.#caller.nothing({
      method: "DELETE",
      path: `/api/email/suppressions/${encodeURIComponent(address)}`,
      signal: options.signal,
    });
  }

  /** Get email settings. Requires the scope `email:read`. */
  getEmailSettings(options: CallOptions = {}): Promise<EmailSettings> {
    return this.#caller.json<EmailSettings>({ method: "GET", path: "/api/email/settings", signal: options.signal });
  }

  /** Update email settings. Omitted fields keep their value; null removes them. Requires the scope `admin`. */
  updateEmailSettings(body: EmailSettingsChange, options: CallOptions = {}): Promise<EmailSettings> {
    return this.#caller.json<EmailSettings>({
      method: "PATCH",
      path: "/api/email/settings",
      json: body,
      signal: options.signal,
    });
  }

  /** Rotate the webhook URL. The previous URL stops working at once. Paste the new `webhookUrl` into SendGrid's settings. Requires the scope `admin`. */
  rotateEmailWebhook(options: PostOptions = {}): Promise<EmailSettings> {
    return this.#caller.json<EmailSettings>({
      method: "POST",
      path: "/api/email/webhook/rotate",
      idempotencyKey: options.idempotencyKey,
      signal: options.signal,
    });
  }

  /** Watch clicks as they happen. A stream of server-sent events. `click`: a click, with its link, place, source and verdict. `quota`: the hits of a link that were counted this month. `more`: how many events of the last second were not shown, because at most 50 clicks and 20 limits are shown each second. `notice`: other servers' clicks are missing, or are back. A comment is sent every 15 s. The stream ends after an hour, or after `seconds`, and when the API key is revoked; a client that reads too slowly is cut. Events are not repeated: `Last-Event-ID` is ignored. Requires the scope `stats:read`. */
  watchClicks(query: WatchClicksQuery = {}, options: CallOptions = {}): Promise<Response> {
    return this.#caller.response({ method: "GET", path: "/api/live", query, signal: options.signal });
  }

  /** Share a link by email. Requires the scope `email:send`. */
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
