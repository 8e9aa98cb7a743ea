/** Generated from the OpenAPI document by `npm run docs`. A test compares the two. */
import { type Asked, Caller, type CallOptions, type ClientSettings, eachOf, type PostOptions } from "./call.ts";

export interface AbuseReport {
  readonly id: string;
  /** Empty: the server's own. */
  readonly domain: string;
  readonly code: string;
  readonly reason: string;
  readonly details: string | null;
  /** Of the person who reported it. */
  readonly email: string | null;
  /** Where the link led then. */
  readonly url: string | null;
  readonly state: "open" | "dismissed" | "suspended";
  readonly createdAt: string;
  readonly closedAt: string | null;
  readonly closedBy: string | null;
}

export interface AbuseReports {
  readonly items: readonly AbuseReport[];
}

export interface Account {
  readonly person: Person;
  readonly session: Session;
  readonly workspaces: readonly {
    readonly id: string;
    readonly slug: string;
    readonly name: string;
    readonly role: "viewer" | "member" | "admin" | "owner";
    /** What your role allows: scopes of API keys, and `owner`. */
    readonly permissions: readonly string[];
    readonly chosen: boolean;
  }[];
}

export interface AccountChange {
  readonly name: string;
}

export interface AccountDeletion {
  /** This or `code` is required, unless you sign in without a password. */
  readonly password?: string | undefined;
  /** Six digits of your authenticator app, or a recovery code. */
  readonly code?: string | undefined;
  /** What becomes of API keys that you created. Required if any of them work. */
  readonly keys?: "keep" | "revoke" | undefined;
}

export interface AccountExport {
  readonly person: Person;
  readonly sessions: readonly Session[];
  readonly workspaces: readonly {
    readonly id: string;
    readonly slug: string;
    readonly name: string;
    readonly role: "viewer" | "member" | "admin" | "owner";
  }[];
  readonly keys: readonly {
    readonly workspace: string;
    readonly name: string;
    readonly hint: string;
    readonly createdAt: string;
    readonly revokedAt: string | null;
  }[];
  readonly passkeys: readonly {
    readonly name: string;
    readonly createdAt: string;
    readonly lastUsedAt: string | null;
  }[];
  readonly identities: readonly {
    readonly issuer: string;
    readonly createdAt: string;
  }[];
  readonly devices: readonly {
    readonly device: string;
    readonly createdAt: string;
    readonly expiresAt: string;
  }[];
  /** The newest 10,000. */
  readonly changesByYou: readonly {
    readonly at: string;
    readonly workspace: string | null;
    readonly action: string;
    readonly subject: string;
    readonly before?: unknown | undefined;
    readonly after?: unknown | undefined;
  }[];
  /** The newest 10,000. */
  readonly changesOfYourAccount: readonly {
    readonly at: string;
    readonly workspace: string | null;
    readonly action: string;
    readonly subject: string;
    readonly before?: unknown | undefined;
    readonly after?: unknown | undefined;
  }[];
}

export interface Annotation {
  readonly id: string;
  /** Null: about the whole workspace. */
  readonly link: string | null;
  readonly at: string;
  readonly text: string;
  readonly createdAt: string;
  /** Null: created with an API key, or the account is gone. */
  readonly createdBy: {
    readonly id: string;
    readonly name: string;
  } | null;
}

export interface AnnotationPage {
  readonly items: readonly Annotation[];
  readonly nextCursor: string | null;
}

export interface AnnotationPatch {
  readonly text?: string | undefined;
  readonly at?: string | undefined;
}

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
  /** Null: created by a command, or the account is gone. */
  readonly createdBy: {
    readonly id: string;
    readonly name: string;
  } | null;
}

export interface ApiKeyPage {
  readonly items: readonly ApiKey[];
  readonly nextCursor: string | null;
}

export interface Branding {
  readonly name: string | null;
  readonly colour: string | null;
  /** The colour as pages use it: made darker or lighter where it could not be read. */
  readonly colours: {
    readonly light: string;
    readonly dark: string;
  } | null;
  readonly logo: {
    readonly url: string;
    readonly type: string;
  } | null;
}

export interface BrandingChange {
  /** Shown at the top of pages. Null: none. */
  readonly name?: string | null | undefined;
  readonly colour?: string | null | undefined;
  /** PNG, WebP or SVG in Base64, at most 64 KB. SVG must not contain scripts, styles or references. */
  readonly logo?: string | null | undefined;
}

export interface BulkEdit {
  /** Up to 1,000 links. */
  readonly ids?: readonly string[] | undefined;
  readonly filter?: LinkFilter | undefined;
  /** With `filter`: the `nextCursor` of the response. */
  readonly cursor?: string | undefined;
  /** `delete` moves links to the trash, and `restore`, which takes `ids` only, takes them back. `move` gives them the same code on another of your domains; the old addresses answer 404. */
  readonly action?: "edit" | "delete" | "restore" | "move" | undefined;
  readonly addTags?: readonly string[] | undefined;
  readonly removeTags?: readonly string[] | undefined;
  readonly status?: "active" | "disabled" | undefined;
  /** Null: never. */
  readonly expiresAt?: string | null | undefined;
  /** Instead of everything else: the `undo` of an earlier response. */
  readonly undo?: readonly BulkUndoStep[] | undefined;
  /** With `move`: one of your verified domains. Null: the server's domain. */
  readonly domain?: string | null | undefined;
}

export interface BulkEdited {
  readonly changed: number;
  /** Links that already were as requested. */
  readonly unchanged: number;
  readonly failed: number;
  readonly results: readonly {
    readonly id: string;
    readonly state: "changed" | "unchanged" | "failed";
    readonly version?: number | undefined;
    readonly problem?: Problem | undefined;
  }[];
  /** Send it to the same route as `undo` to take everything back that this request changed. */
  readonly undo: readonly BulkUndoStep[];
  /** With `filter`: send it as `cursor` for the next links. */
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

export interface BulkUndoStep {
  readonly id: string;
  readonly undo: "edit" | "delete" | "restore" | "move";
  readonly toVersion?: number | undefined;
  readonly version?: number | undefined;
  readonly domain?: string | undefined;
}

export interface Click {
  readonly at: string;
  readonly link: {
    /** What a filter `link=` takes for this link, even if it was deleted. */
    readonly value: string;
    readonly id: string | null;
    readonly domain: string;
    readonly code: string;
  };
  readonly reason: "counted" | "bot" | "head" | "prefetch" | "preview" | "fallback" | "over_quota";
  /** The visitor's first click of the day. False if visitors are not recognised, such as bots; null if it came too late to tell, or the day had too many visitors. */
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
  /** `visitors` is the sum of daily visitors. `bots`: all clicks that do not count, those of people who were sent to a fallback too; `reasons` tells them apart. */
  readonly totals: {
    readonly clicks: number;
    readonly visitors: number;
    readonly bots: number;
  };
  /** Clicks by reason. `fallback`: after the link expired, and `over_quota`: beyond its limit; both were sent to the fallback. `unknown`: only their number is known. */
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
          /** What a filter takes for it. */
          readonly value: string;
          readonly clicks: number;
          readonly visitors: number;
          /** In the breakdown `link`. A deleted link has no `id` and no `title`; 400 days after its last click its code is not known either. */
          readonly link?:
            | {
                readonly id: string | null;
                readonly domain: string | null;
                readonly code: string | null;
                readonly title: string | null;
              }
            | undefined;
          /** In the breakdown `link`, with `compare`: its clicks in that period. Null if it is not among the links that were kept apart then, or if none of its clicks is known to match the filters and `previous.itemised` is not complete. */
          readonly previousClicks?: number | null | undefined;
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
    /** Not null if new visitors were not recognised for a time, because the workspace had too many that day: `visitors` is too low there, and clicks are complete. */
    readonly visitorsCapped:
      | readonly {
          readonly from: string;
          readonly to: string;
        }[]
      | null;
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
  /** Not null if new visitors were not recognised for a time, because the workspace had too many that day: `visitors` is too low there, and clicks are complete. */
  readonly visitorsCapped:
    | readonly {
        readonly from: string;
        readonly to: string;
      }[]
    | null;
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
  /** IANA time zone of the workspace's days. */
  readonly timeZone: string;
  /** Whether facts about visitors, such as country and browser, are recorded with clicks. */
  readonly facts: boolean;
  /** Null: as long as the plan allows. */
  readonly eventDays: number | null;
  /** For how many days single clicks are kept, by the plan and `eventDays`: at least 4. Null: for good. */
  readonly eventsKeptDays: number | null;
  /** Tags whose totals are kept as long as those of links. */
  readonly tags: readonly string[];
}

export interface ClickSettingsChange {
  /** A change begins with the next day. */
  readonly timeZone?: string | undefined;
  readonly facts?: boolean | undefined;
  /** At most what the plan allows. Clicks of the last 4 days are always kept. Null: as the plan. */
  readonly eventDays?: number | null | undefined;
  /** At most 50. Free places are taken by other tags when their links are clicked. */
  readonly tags?: readonly string[] | undefined;
}

export interface ClosedReports {
  readonly closed: number;
}

export interface CodeCheck {
  readonly code: string;
  readonly domain: string;
  readonly isFree: boolean;
  /** `yours`: one of your links has it, see `link`. `in_trash`: a deleted link of yours has it, see `trashedLink`; it can be restored. `taken`: not available. */
  readonly state: "free" | "invalid" | "reserved" | "yours" | "in_trash" | "taken";
  /** Why it cannot be used. Null: it is free. */
  readonly message: string | null;
  readonly link: string | null;
  readonly trashedLink: string | null;
  /** Up to three free codes, if this one is not free. */
  readonly suggestions: readonly string[];
}

export type CreatedApiKey = ApiKey & {
  readonly secret: string;
};

export interface DeletedWorkspace {
  readonly deleteAt: string;
}

export interface DestinationCheck {
  readonly isValid: boolean;
  /** As it would be stored; null if it is invalid. */
  readonly url: string | null;
  /** What `POST /api/links` would say about it, including the operator's blocklist. */
  readonly errors: readonly {
    readonly field: string;
    readonly code: string;
    readonly message: string;
  }[];
  /** Null if the URL is invalid, or if the operator has turned checks off. */
  readonly page: DestinationPage | null;
}

export interface DestinationPage {
  /** `unchecked`: the server did not ask, for example because the address is not public; see `reason`. */
  readonly state: "ok" | "failing" | "unchecked";
  readonly httpStatus: number | null;
  readonly reason: string | null;
  /** How long the answer took, with redirects. */
  readonly responseMs: number | null;
  /** After redirects. */
  readonly finalUrl: string | null;
  readonly title: string | null;
  readonly description: string | null;
  /** The image that social networks show. */
  readonly imageUrl: string | null;
}

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

export interface EmailChange {
  readonly email: string;
  /** This or `code` is required, unless you sign in without a password. */
  readonly password?: string | undefined;
  /** Six digits of your authenticator app, or a recovery code. */
  readonly code?: string | undefined;
}

export interface EmailConfirmation {
  readonly token: string;
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

export interface EmailSample {
  readonly name:
    | "digest"
    | "firstClick"
    | "spike"
    | "drop"
    | "deadTarget"
    | "quotaHits80"
    | "quotaHits100"
    | "quotaLinks80"
    | "quotaLinks100"
    | "quotaStorage80"
    | "quotaStorage100"
    | "share"
    | "invitation"
    | "roleChanged"
    | "roleRemoved"
    | "verifyAccount"
    | "verifyChange"
    | "verifySignUp"
    | "verifyExisting"
    | "reset"
    | "signIn"
    | "accountPassword"
    | "accountEmail"
    | "accountSecondFactorRemoved"
    | "accountSecondFactorReset"
    | "accountPasskeyAdded"
    | "accountPasskeyRemoved";
  /** Who gets it. `contact`: the contact address of the workspace. `recipient`: somebody a link is shared with. `person`: the owner of an account. */
  readonly to: "contact" | "recipient" | "person";
  readonly subject: string;
  readonly text: string;
}

export interface EmailSampleList {
  readonly items: readonly EmailSample[];
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

export interface EmailVerification {
  readonly token: string;
}

export interface EmptiedTrash {
  readonly deleted: number;
  readonly isEmpty: boolean;
}

export interface EndedSessions {
  readonly ended: number;
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

export interface Health {
  readonly status: "ready" | "degraded" | "unready";
  readonly dependencies: readonly {
    readonly name: string;
    readonly ok: boolean;
    readonly ms: number;
    readonly error: string | null;
  }[];
  readonly findings: readonly {
    readonly status: "ok" | "warn" | "fail";
    readonly check: string;
    readonly found: string;
    readonly advice: string | null;
  }[];
  /** When the findings were made: up to 10 seconds ago. */
  readonly checkedAt: string;
}

export interface HistoryEntry {
  /** Null for the creation of a link. */
  readonly id: string | null;
  readonly at: string;
  readonly action: string;
  /** Who did it. The name of a person is null once the account is gone. */
  readonly by: {
    readonly kind: "person" | "key" | "command" | "job" | "nobody";
    readonly id: string | null;
    readonly name: string | null;
  };
  readonly subject: {
    readonly kind: string;
    readonly id: string;
    readonly name: string | null;
  };
  /** Of the link, after the change. */
  readonly version: number | null;
  /** The fields that changed, as they were. */
  readonly before: Readonly<Record<string, unknown>> | null;
  /** The same fields after the change. Never a secret. */
  readonly after: Readonly<Record<string, unknown>> | null;
}

export interface HistoryPage {
  readonly items: readonly HistoryEntry[];
  readonly nextCursor: string | null;
}

export interface ImportChange {
  readonly state: "running" | "cancelled";
}

export interface ImportCounts {
  readonly rows: number;
  readonly created: number;
  /** Links that you have already, with the same code and destination. */
  readonly present: number;
  readonly rejected: number;
}

export interface ImportRow {
  readonly line: number;
  readonly problem: string;
}

export interface ImportRowPage {
  readonly items: readonly ImportRow[];
  readonly nextCursor: string | null;
}

export interface Invitation {
  readonly id: string;
  /** Null: for whoever has the link. */
  readonly email: string | null;
  readonly role: "viewer" | "member" | "admin" | "owner";
  readonly inviter: {
    readonly id: string;
    readonly name: string;
  } | null;
  readonly createdAt: string;
  readonly expiresAt: string;
}

export interface InvitationPage {
  readonly items: readonly Invitation[];
  readonly nextCursor: string | null;
}

export interface Jobs {
  readonly items: readonly {
    readonly name: string;
    readonly succeededAt: string | null;
    /** Failed runs since the last success. */
    readonly failures: number;
    readonly error: string | null;
    readonly unfinishedSince: string | null;
  }[];
}

export interface JoinResult {
  readonly result: "signed_in" | "second_factor" | "mailed";
  /** With `second_factor`: needed for the second step. */
  readonly token: string | null;
}

export interface JoinedWorkspace {
  readonly workspace: string;
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
  /** The name of `file`. */
  readonly fileName: string | null;
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
  readonly utm: (Utm & Readonly<Record<string, unknown>>) | null;
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
  /** Hits of this month that count towards the limit. */
  readonly hitsUsed: number;
  /** Hits allowed a month: `hitsPerMonth` within the limit of your plan. Null: no limit. */
  readonly hitsLimit: number | null;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface LinkCounts {
  readonly all: number;
  readonly active: number;
  readonly expired: number;
  readonly disabled: number;
  readonly suspended: number;
  /** See `state` of `GET /api/links`. */
  readonly attention: number;
  /** At least 200,000 links match; the others are not counted. */
  readonly isPartial: boolean;
}

/** Instead of `ids`: all links of this filter, 1,000 per request. Repeat it with `cursor` for the rest. */
export interface LinkFilter {
  readonly tags?: readonly string[] | undefined;
  readonly match?: "all" | "any" | undefined;
  readonly status?: "active" | "disabled" | undefined;
  /** `active`: neither expired nor disabled. `attention`: active, and suspended, or with a dead destination, or with at least 80% of the monthly hits used. */
  readonly state?: "active" | "expired" | "disabled" | "suspended" | "attention" | undefined;
  /** One of your domains, or several. */
  readonly domain?: string | readonly string[] | undefined;
  readonly file?: string | undefined;
  readonly createdAfter?: string | undefined;
  readonly createdBefore?: string | undefined;
  readonly expiresBefore?: string | undefined;
  readonly password?: boolean | undefined;
  readonly hasRules?: boolean | undefined;
  readonly search?: string | undefined;
}

export interface LinkHistoryPage {
  readonly items: readonly HistoryEntry[];
  readonly nextCursor: string | null;
}

export interface LinkImport {
  readonly id: string;
  readonly file: string;
  readonly name: string;
  readonly size: number;
  /** As it was recognised. Null: not read yet. */
  readonly format: "quicklink" | "shlink" | "yourls" | "kutt" | "bitly" | null;
  /** `checked`: it can be started. `failed` and `cancelled` ones continue where they stopped when started. */
  readonly state: "checking" | "checked" | "running" | "done" | "cancelled" | "failed";
  /** Why it failed. */
  readonly problem: string | null;
  /** What an import would do, without having written anything. */
  readonly check: ImportCounts | null;
  readonly done: ImportCounts & unknown;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface LinkImportPage {
  readonly items: readonly LinkImport[];
  readonly nextCursor: string | null;
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
  readonly utm?: (Utm & Readonly<Record<string, unknown>>) | null | undefined;
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
  readonly utm?: (Utm & Readonly<Record<string, unknown>>) | null | undefined;
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
  /** Until the answer was read. Null: there was none. */
  readonly responseMs: number | null;
  /** When a failing or dead destination was first seen to fail. Null: not known. */
  readonly failingSince: string | null;
}

export interface LinkTrend {
  readonly id: string;
  /** Clicks of people in the range. */
  readonly clicks: number;
  /** The same by day. */
  readonly series: readonly number[];
}

export interface LinkTrends {
  readonly from: string;
  readonly to: string;
  readonly zone: string;
  /** Where each day begins. */
  readonly days: readonly string[];
  readonly items: readonly LinkTrend[];
}

export type MadeInvitation = Invitation & {
  /** The link to pass on, shown only once. Null: it was sent to `email`. */
  readonly url: string | null;
};

export interface Member {
  readonly id: string;
  readonly name: string;
  /** Null unless you may manage members. */
  readonly email: string | null;
  readonly role: "viewer" | "member" | "admin" | "owner";
  readonly secondFactor: boolean;
  /** Whether the operator has disabled the account. */
  readonly disabled: boolean;
  readonly joinedAt: string;
}

export interface MemberChange {
  readonly role: "viewer" | "member" | "admin" | "owner";
}

export interface MemberPage {
  readonly items: readonly Member[];
  readonly nextCursor: string | null;
}

export interface NewAccount {
  readonly token: string;
  readonly name: string;
  readonly password: string;
}

export interface NewAnnotation {
  readonly text: string;
  /** Default: now. */
  readonly at?: string | undefined;
  /** A link's ID. Null or omitted: about the whole workspace. */
  readonly link?: string | null | undefined;
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
  /** API calls per minute for this key, within the workspace's limit. Null: the workspace's limit. */
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

export interface NewImport {
  /** The ID of an uploaded file. */
  readonly file: string;
  /** Default: recognised. */
  readonly format?: "quicklink" | "shlink" | "yourls" | "kutt" | "bitly" | null | undefined;
}

export interface NewInvitation {
  /** Whom it is for. Without it, the link works once for whoever has it. */
  readonly email?: string | null | undefined;
  readonly role: "viewer" | "member" | "admin" | "owner";
  /** At most 30 days from now. Default: in 7 days. */
  readonly expiresAt?: string | undefined;
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
  readonly utm?: (Utm & Readonly<Record<string, unknown>>) | null | undefined;
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

export interface NewMember {
  readonly name?: string | undefined;
  readonly password?: string | undefined;
  readonly email?: string | undefined;
}

export interface NewStatsShare {
  /** The ID of a link. Give either `link` or `tag`. */
  readonly link?: string | undefined;
  readonly tag?: string | undefined;
  /** Default: that of the link, or the tag. */
  readonly title?: string | null | undefined;
  /** How many days the page covers, up to now. */
  readonly days?: number | undefined;
  /** As in reports, such as `country=DE`. Only clicks that match are shown, and nobody can change that. */
  readonly filters?: readonly string[] | undefined;
  /** What the clicks are broken down by. `link` is for tags, and shows their codes and titles. */
  readonly breakdowns?:
    | readonly (
        | "link"
        | "country"
        | "region"
        | "city"
        | "device"
        | "browser"
        | "os"
        | "referrer"
        | "language"
        | "utm_source"
        | "utm_medium"
        | "utm_campaign"
        | "source"
        | "variant"
      )[]
    | undefined;
  /** Required of every visitor. At least 8 characters, or at least 6 if all are digits. Never returned. Null removes it; omit it to keep it. */
  readonly password?: string | null | undefined;
  readonly expiresAt?: string | null | undefined;
}

export interface NewUtmTemplate {
  readonly name: string;
  readonly utm: Utm;
}

export interface NewWorkspace {
  readonly name: string;
  /** 1 to 63 characters of a-z, 0-9 and -. Unique on this server. */
  readonly slug: string;
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

export interface OidcBegin {
  readonly url: string;
}

export interface OperatedWorkspace {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly plan: string;
  /** Null: no limit. */
  readonly limits: {
    readonly hitsPerLinkPerMonth: number | null;
    readonly linksPerMonth: number | null;
    readonly storageBytes: number | null;
    readonly emailsPerHourSmtp: number | null;
    readonly emailsPerHourSendgrid: number | null;
    readonly apiPerMinute: number | null;
    readonly eventDays: number | null;
  };
  /** Those that differ from the plan. */
  readonly overrides: {
    readonly hitsPerLinkPerMonth?: number | null | undefined;
    readonly linksPerMonth?: number | null | undefined;
    readonly storageBytes?: number | null | undefined;
    readonly emailsPerHourSmtp?: number | null | undefined;
    readonly emailsPerHourSendgrid?: number | null | undefined;
    readonly apiPerMinute?: number | null | undefined;
    readonly eventDays?: number | null | undefined;
  };
  /** The reason; null if not suspended. */
  readonly suspended: string | null;
  readonly deleteAt: string | null;
  readonly createdAt: string;
}

export interface OperatedWorkspaceChange {
  readonly name?: string | undefined;
  readonly plan?: string | undefined;
  /** Sets these limits for this workspace; null for none, `plan` for that of the plan. */
  readonly limits?:
    | {
        readonly hitsPerLinkPerMonth?: number | "plan" | null | undefined;
        readonly linksPerMonth?: number | "plan" | null | undefined;
        readonly storageBytes?: number | "plan" | null | undefined;
        readonly emailsPerHourSmtp?: number | "plan" | null | undefined;
        readonly emailsPerHourSendgrid?: number | "plan" | null | undefined;
        readonly apiPerMinute?: number | "plan" | null | undefined;
        readonly eventDays?: number | "plan" | null | undefined;
      }
    | undefined;
}

export type OperatedWorkspaceDetail = OperatedWorkspace & {
  readonly usage: Usage;
};

export interface OperatedWorkspacePage {
  readonly items: readonly OperatedWorkspace[];
  readonly nextCursor: string | null;
}

export interface OwnWorkspace {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly role: "viewer" | "member" | "admin" | "owner";
  readonly suspended: boolean;
  /** When it is deleted for good; null unless it was deleted. */
  readonly deleteAt: string | null;
}

export interface OwnWorkspaces {
  readonly items: readonly OwnWorkspace[];
  /** The one that this session shows. */
  readonly current: string | null;
  readonly mayCreate: boolean;
}

export interface Passkey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

export interface Passkeys {
  readonly items: readonly Passkey[];
}

export interface PasswordChange {
  /** Required if you have a password. */
  readonly current?: string | undefined;
  readonly password: string;
}

export interface PasswordReset {
  readonly token: string;
  readonly password: string;
}

export interface PasswordResetRequest {
  readonly email: string;
}

export interface Person {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly emailVerified: boolean;
  readonly operator: boolean;
  readonly hasPassword: boolean;
  readonly hasSecondFactor: boolean;
  readonly createdAt: string;
}

export type PersonAccount = Person & {
  /** Null: enabled. */
  readonly disabledAt: string | null;
};

export interface PersonChange {
  readonly disabled?: boolean | undefined;
  readonly operator?: boolean | undefined;
}

export type PersonDetail = PersonAccount & {
  readonly sessions: number;
  readonly workspaces: readonly {
    readonly id: string;
    readonly slug: string;
    readonly name: string;
    readonly role: "viewer" | "member" | "admin" | "owner";
  }[];
};

export interface PersonPage {
  readonly items: readonly PersonAccount[];
  readonly nextCursor: string | null;
}

export interface Plan {
  readonly name: string;
  readonly builtIn: boolean;
  readonly limits: {
    readonly hitsPerLinkPerMonth: number | null;
    readonly linksPerMonth: number | null;
    readonly storageBytes: number | null;
    readonly emailsPerHourSmtp: number | null;
    readonly emailsPerHourSendgrid: number | null;
    readonly apiPerMinute: number | null;
    readonly eventDays: number | null;
  };
}

export interface PlanLimits {
  readonly hitsPerLinkPerMonth: number | null;
  readonly linksPerMonth: number | null;
  readonly storageBytes: number | null;
  readonly emailsPerHourSmtp: number | null;
  readonly emailsPerHourSendgrid: number | null;
  readonly apiPerMinute: number | null;
  readonly eventDays: number | null;
}

export interface Plans {
  readonly items: readonly Plan[];
}

export interface PlatformEmails {
  /** Null: the counters are unavailable. */
  readonly used: number | null;
  readonly limit: number | null;
  /** The rest is reserved for mails about accounts. */
  readonly ordinaryLimit: number | null;
  readonly resetsAt: string | null;
  readonly kinds: readonly {
    readonly kind: string;
    readonly used: number;
  }[];
  readonly workspaces: readonly {
    readonly workspace: string;
    readonly used: number;
    readonly limit: number | null;
  }[];
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
    | "sign_in_failed"
    | "token_invalid"
    | "sign_up_closed"
    | "email_taken"
    | "set_up_already"
    | "company_sign_in"
    | "proof_required"
    | "wrong_origin"
    | "workspace_required"
    | "suspended"
    | "last_owner"
    | "last_operator"
    | "already_member"
    | "keys_undecided"
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
    | "wrong_code"
    | "passkey_refused"
    | "oidc_refused"
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
  /** With `keys_undecided`: how many API keys there are. */
  readonly keys?: number | undefined;
  /** With `code_taken`: the link in your trash that has the code. It can be restored. */
  readonly trashedLink?: string | undefined;
  readonly errors?:
    | readonly {
        readonly field: string;
        readonly code: string;
        readonly message: string;
      }[]
    | undefined;
  readonly requestId?: string | undefined;
}

/** Your password, or a code of your second factor. */
export interface Proof {
  readonly password?: string | undefined;
  /** Six digits of your authenticator app, or a recovery code. */
  readonly code?: string | undefined;
}

export interface ReceivedInvitation {
  readonly workspace: string;
  readonly inviter: string | null;
  readonly role: "viewer" | "member" | "admin" | "owner";
  /** Only the account with this address can accept it. */
  readonly email: string | null;
  readonly expiresAt: string;
}

/** Each works once instead of a code of the app. Shown only once. */
export interface RecoveryCodes {
  readonly recoveryCodes: readonly string[];
}

export interface RememberedDevice {
  readonly id: string;
  readonly device: string;
  readonly createdAt: string;
  readonly expiresAt: string;
}

export interface RememberedDevices {
  readonly items: readonly RememberedDevice[];
}

export interface ReplacementOrder {
  /** Exact text, in `url`, `fallbackUrl` and the URLs of rules and splits. */
  readonly find: string;
  readonly replace: string;
  readonly filter?: (LinkFilter & unknown) | undefined;
  readonly token: string;
}

export interface ReplacementPreview {
  /** How many links would change. */
  readonly changes: number;
  /** How many links match, but cannot have the new destination. */
  readonly invalid: number;
  readonly items: readonly {
    readonly id: string;
    readonly shortUrl: string;
    readonly title: string | null;
    readonly version: number;
    readonly fields: readonly {
      readonly field: string;
      readonly before: string;
      readonly after: string;
    }[];
    readonly problem?: (Problem & unknown) | undefined;
  }[];
  /** Send it to apply exactly what was counted here. Null: nothing would change. */
  readonly token: string | null;
}

export interface ReplacementQuestion {
  /** Exact text, in `url`, `fallbackUrl` and the URLs of rules and splits. */
  readonly find: string;
  readonly replace: string;
  readonly filter?: (LinkFilter & unknown) | undefined;
  /** How many links to list. */
  readonly limit?: number | undefined;
}

export interface ReportedSuspension {
  /** Shown to its workspace. */
  readonly reason?: string | undefined;
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

export interface SecondFactor {
  readonly enabled: boolean;
  readonly recoveryCodesLeft: number;
}

export interface Session {
  readonly id: string;
  /** According to the browser, such as `Firefox on Linux`. */
  readonly device: string;
  readonly method: string;
  readonly current: boolean;
  readonly createdAt: string;
  /** Up to some minutes old. */
  readonly lastUsedAt: string;
  readonly expiresAt: string;
}

export interface Sessions {
  readonly items: readonly Session[];
}

export interface SetUp {
  readonly token: string;
  readonly email: string;
  readonly name: string;
  readonly password: string;
}

export interface Share {
  /** One recipient address. */
  readonly to: string;
  /** Plain text. */
  readonly message?: string | null | undefined;
}

export interface SignIn {
  readonly email: string;
  readonly password: string;
  /** Stay signed in when the browser is closed. Default: false. */
  readonly remember?: boolean | undefined;
}

export interface SignInOptions {
  /** There is no operator yet: the server waits for its set-up. */
  readonly setUp: boolean;
  readonly signUp: "invitation" | "domains" | "everyone";
  /** Whether browsers allow passkeys on this address. */
  readonly passkeys: boolean;
  /** The sign-in with a company (OIDC), and what its button says. */
  readonly company: {
    readonly name: string;
  } | null;
  /** Whether links are mailed. Otherwise ask the operator for them. */
  readonly mail: boolean;
}

export interface SignInResult {
  readonly result: "signed_in" | "second_factor";
  /** With `second_factor`: needed for the second step. */
  readonly token: string | null;
}

export interface SignUp {
  readonly email: string;
}

export interface SplitTarget {
  readonly url: string;
  readonly weight: number;
}

export interface StatsShare {
  readonly id: string;
  /** The page. Add `.json` for the same as JSON. */
  readonly url: string;
  readonly link: string | null;
  readonly tag: string | null;
  readonly title: string | null;
  readonly days: number;
  readonly filters: readonly string[];
  readonly breakdowns: readonly (
    | "link"
    | "country"
    | "region"
    | "city"
    | "device"
    | "browser"
    | "os"
    | "referrer"
    | "language"
    | "utm_source"
    | "utm_medium"
    | "utm_campaign"
    | "source"
    | "variant"
    | "bot"
  )[];
  /** Whether visitors need a password. */
  readonly password: boolean;
  readonly expiresAt: string | null;
  readonly createdAt: string;
}

export interface StatsSharePage {
  readonly items: readonly StatsShare[];
  readonly nextCursor: string | null;
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

export interface Suspension {
  readonly reason: string;
}

export interface Tag {
  readonly tag: string;
  /** How many links have it. */
  readonly links: number;
}

export interface TagChanged {
  readonly changed: number;
  /** Links that already were as requested. */
  readonly unchanged: number;
  readonly failed: number;
  readonly results: readonly {
    readonly id: string;
    readonly state: "changed" | "unchanged" | "failed";
    readonly version?: number | undefined;
    readonly problem?: Problem | undefined;
  }[];
  /** Send it to the same route as `undo` to take everything back that this request changed. */
  readonly undo: readonly BulkUndoStep[];
  /** False: more than 5,000 links have the tag. Repeat the request. */
  readonly isComplete: boolean;
}

export interface TagPage {
  readonly items: readonly Tag[];
  readonly nextCursor: string | null;
}

export interface TagRename {
  readonly tag: string;
  readonly name: string;
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
  /** Days until a link expires if no expiry is given. */
  readonly linkDays: number;
  readonly createdAt: string;
}

/** `secret` for typing, `url` for a QR code. Shown only once. */
export interface TotpOffer {
  readonly secret: string;
  readonly url: string;
  readonly expiresAt: string;
}

export interface TrashPage {
  readonly items: readonly TrashedLink[];
  readonly nextCursor: string | null;
}

export interface TrashedLink {
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
  readonly utm: (Utm & Readonly<Record<string, unknown>>) | null;
  /** Pass the visitor's query parameters on to the destination, unless it already has them. */
  readonly forwardQuery: boolean;
  /** Whether visitors need a password. */
  readonly password: boolean;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly deletedAt: string;
  /** It can be restored until then. */
  readonly eraseAt: string;
}

export interface UndoLink {
  /** A `version` of the link's history. */
  readonly version: number;
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
    readonly domain: string;
    readonly code: string;
    readonly shortUrl: string;
  })[];
  /** How much the workspace has. */
  readonly contents: {
    /** Without those in the trash. */
    readonly links: number;
    readonly files: number;
    readonly domains: number;
    /** There are at least 10,000 links; the others are not counted. */
    readonly isPartial: boolean;
  };
}

export interface Utm {
  readonly source?: string | undefined;
  readonly medium?: string | undefined;
  readonly campaign?: string | undefined;
  readonly term?: string | undefined;
  readonly content?: string | undefined;
}

export interface UtmTemplate {
  readonly id: string;
  readonly name: string;
  readonly utm: Utm;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface UtmTemplatePage {
  readonly items: readonly UtmTemplate[];
  readonly nextCursor: string | null;
}

export interface UtmTemplatePatch {
  readonly name?: string | undefined;
  readonly utm?: Utm | undefined;
}

export interface Workspace {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly plan: string;
  /** Yours; null for an API key. */
  readonly role: "viewer" | "member" | "admin" | "owner" | null;
  readonly createdAt: string;
}

export interface WorkspaceChange {
  readonly name?: string | undefined;
  /** 1 to 63 characters of a-z, 0-9 and -. Unique on this server. */
  readonly slug?: string | undefined;
}

export interface WorkspaceChoice {
  /** Slug or ID. */
  readonly workspace: string;
}

export interface WorkspaceTransfer {
  readonly person: string;
  /** Yours afterwards. */
  readonly role?: "admin" | "member" | "viewer" | undefined;
}

export interface CheckCodeQuery {
  readonly code: string;
  /** One of your verified domains, or the server's. Default: your default domain. */
  readonly domain?: string | undefined;
}

export interface CheckDestinationQuery {
  readonly url: string;
}

export interface GetDestinationImageQuery {
  readonly url: string;
}

export interface CountLinksQuery {
  /** Only links with this tag; repeat the parameter for several tags, at most 10. */
  readonly tag?: readonly string[] | undefined;
  /** Whether a link must have all of the tags, or any of them. */
  readonly match?: "all" | "any" | undefined;
  readonly status?: "active" | "disabled" | undefined;
  /** One of your domains, or the server's domain; repeat the parameter for several, at most 20. */
  readonly domain?: readonly string[] | undefined;
  /** Only links to this file. */
  readonly file?: string | undefined;
  readonly createdAfter?: string | undefined;
  readonly createdBefore?: string | undefined;
  readonly expiresBefore?: string | undefined;
  /** Whether visitors need a password. */
  readonly password?: boolean | undefined;
  /** Whether the link has routing rules or an A/B split. */
  readonly hasRules?: boolean | undefined;
  /** Substring of the code, URL, title, notes or tags. Case-insensitive for A to Z. */
  readonly search?: string | undefined;
}

export interface ExportLinksQuery {
  readonly sort?: "createdAt" | "updatedAt" | "code" | "expiresAt" | "clicks" | "lastClickAt" | "hitsUsed" | undefined;
  readonly order?: "asc" | "desc" | undefined;
  /** `active`: neither expired nor disabled. `attention`: active, and suspended, or with a dead destination, or with at least 80% of the monthly hits used. */
  readonly state?: "active" | "expired" | "disabled" | "suspended" | "attention" | undefined;
  /** Only links with this tag; repeat the parameter for several tags, at most 10. */
  readonly tag?: readonly string[] | undefined;
  /** Whether a link must have all of the tags, or any of them. */
  readonly match?: "all" | "any" | undefined;
  readonly status?: "active" | "disabled" | undefined;
  /** One of your domains, or the server's domain; repeat the parameter for several, at most 20. */
  readonly domain?: readonly string[] | undefined;
  /** Only links to this file. */
  readonly file?: string | undefined;
  readonly createdAfter?: string | undefined;
  readonly createdBefore?: string | undefined;
  readonly expiresBefore?: string | undefined;
  /** Whether visitors need a password. */
  readonly password?: boolean | undefined;
  /** Whether the link has routing rules or an A/B split. */
  readonly hasRules?: boolean | undefined;
  /** Substring of the code, URL, title, notes or tags. Case-insensitive for A to Z. */
  readonly search?: string | undefined;
}

export interface GetLinkTrendsQuery {
  /** Ids of links, comma separated; at most 100. */
  readonly ids: string;
  /** As in reports; at most 100 days before `to`. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Default: the time zone of the workspace. */
  readonly zone?: string | undefined;
}

export interface ListTagsQuery {
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  /** Case-insensitive for A to Z. */
  readonly prefix?: string | undefined;
  /** The most used first, or by name. */
  readonly sort?: "links" | "tag" | undefined;
}

export interface DeleteTagQuery {
  readonly tag: string;
}

export interface ListAnnotationsQuery {
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  /** Annotations of this link and of the whole workspace. Default: all. */
  readonly link?: string | undefined;
  readonly from?: string | undefined;
  /** Exclusive. */
  readonly to?: string | undefined;
}

export interface ListUtmTemplatesQuery {
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
}

export interface ListStatsSharesQuery {
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  /** Only those of this link. */
  readonly link?: string | undefined;
}

export interface ListImportsQuery {
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
}

export interface ListImportRowsQuery {
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  readonly phase?: "check" | "import" | undefined;
}

export interface ListLinksQuery {
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  readonly sort?: "createdAt" | "updatedAt" | "code" | "expiresAt" | "clicks" | "lastClickAt" | "hitsUsed" | undefined;
  readonly order?: "asc" | "desc" | undefined;
  /** `active`: neither expired nor disabled. `attention`: active, and suspended, or with a dead destination, or with at least 80% of the monthly hits used. */
  readonly state?: "active" | "expired" | "disabled" | "suspended" | "attention" | undefined;
  /** Only links with this tag; repeat the parameter for several tags, at most 10. */
  readonly tag?: readonly string[] | undefined;
  /** Whether a link must have all of the tags, or any of them. */
  readonly match?: "all" | "any" | undefined;
  readonly status?: "active" | "disabled" | undefined;
  /** One of your domains, or the server's domain; repeat the parameter for several, at most 20. */
  readonly domain?: readonly string[] | undefined;
  /** Only links to this file. */
  readonly file?: string | undefined;
  readonly createdAfter?: string | undefined;
  readonly createdBefore?: string | undefined;
  readonly expiresBefore?: string | undefined;
  /** Whether visitors need a password. */
  readonly password?: boolean | undefined;
  /** Whether the link has routing rules or an A/B split. */
  readonly hasRules?: boolean | undefined;
  /** Substring of the code, URL, title, notes or tags. Case-insensitive for A to Z. */
  readonly search?: string | undefined;
  /** Return only these fields of each link, comma separated: `id,code,url`. */
  readonly fields?: string | undefined;
}

export interface GetLinkQuery {
  /** Return only these fields of each link, comma separated: `id,code,url`. */
  readonly fields?: string | undefined;
}

export interface ListLinkHistoryQuery {
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
}

export interface ListTrashQuery {
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
}

export interface ListHistoryQuery {
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  /** Only changes by this person or API key: its ID. */
  readonly actor?: string | undefined;
  readonly actorKind?: "person" | "key" | "command" | "job" | "nobody" | undefined;
  readonly action?: string | undefined;
  /** Only changes of this: the ID of a link, key, file or person, or a domain. */
  readonly subject?: string | undefined;
  readonly subjectKind?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** `csv` and `jsonl` are the whole log, not a page: `limit` and `cursor` do not apply. */
  readonly format?: "json" | "csv" | "jsonl" | undefined;
}

export interface GetLinkStatsQuery {
  /** A date in the zone, or a time with an offset. Default: 30 days. */
  readonly from?: string | undefined;
  /** Exclusive if it is a time; a date includes its whole day. Default: now. */
  readonly to?: string | undefined;
  /** IANA time zone. Default: the workspace's. */
  readonly zone?: string | undefined;
  /** `country=DE,AT` (is), `browser!=Chrome` (is not), `referrer~news` (contains). Repeat it for several; all must hold. Write a comma in a value as `\,`. At most 20 filters with 200 values. Fields: country, region, city, device, browser, os, referrer, language, utm_source, utm_medium, utm_campaign, source, variant, bot, link, domain, tag, reason. */
  readonly filter?: readonly string[] | undefined;
  /** Default: by the length of the range. */
  readonly interval?: "quarter" | "hour" | "day" | "week" | "month" | undefined;
  /** `people`: clicks that count. `bots`: all others, which are bots, previews and prefetches, but also people who were sent to a fallback. Default: people, or all with a filter on `bot` or `reason`. */
  readonly traffic?: "people" | "bots" | "all" | undefined;
  /** Comma separated: link, country, region, city, device, browser, os, referrer, language, utm_source, utm_medium, utm_campaign, source, variant, bot. Default: all. `link` is for reports on several links. */
  readonly breakdown?: string | undefined;
  /** Values of each breakdown. */
  readonly limit?: number | undefined;
  /** Also count the period before, the same weekdays before, or the same dates a year before. */
  readonly compare?: "previous" | "weekdays" | "year" | undefined;
  /** `csv`: the series, with `compare` both; the values of a dimension if `breakdown` names a single one. A column `visitorsCapped` or `sampleRate` is added where it applies. Or `Accept: text/csv`. */
  readonly format?: "json" | "csv" | undefined;
}

export interface GetStatsQuery {
  /** A date in the zone, or a time with an offset. Default: 30 days. */
  readonly from?: string | undefined;
  /** Exclusive if it is a time; a date includes its whole day. Default: now. */
  readonly to?: string | undefined;
  /** IANA time zone. Default: the workspace's. */
  readonly zone?: string | undefined;
  /** `country=DE,AT` (is), `browser!=Chrome` (is not), `referrer~news` (contains). Repeat it for several; all must hold. Write a comma in a value as `\,`. At most 20 filters with 200 values. Fields: country, region, city, device, browser, os, referrer, language, utm_source, utm_medium, utm_campaign, source, variant, bot, link, domain, tag, reason. */
  readonly filter?: readonly string[] | undefined;
  /** Default: by the length of the range. */
  readonly interval?: "quarter" | "hour" | "day" | "week" | "month" | undefined;
  /** `people`: clicks that count. `bots`: all others, which are bots, previews and prefetches, but also people who were sent to a fallback. Default: people, or all with a filter on `bot` or `reason`. */
  readonly traffic?: "people" | "bots" | "all" | undefined;
  /** Comma separated: link, country, region, city, device, browser, os, referrer, language, utm_source, utm_medium, utm_campaign, source, variant, bot. Default: all. `link` is for reports on several links. */
  readonly breakdown?: string | undefined;
  /** Values of each breakdown. */
  readonly limit?: number | undefined;
  /** Also count the period before, the same weekdays before, or the same dates a year before. */
  readonly compare?: "previous" | "weekdays" | "year" | undefined;
  /** `csv`: the series, with `compare` both; the values of a dimension if `breakdown` names a single one. A column `visitorsCapped` or `sampleRate` is added where it applies. Or `Accept: text/csv`. */
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
  /** IANA time zone. Default: the workspace's. */
  readonly zone?: string | undefined;
  /** `country=DE,AT` (is), `browser!=Chrome` (is not), `referrer~news` (contains). Repeat it for several; all must hold. Write a comma in a value as `\,`. At most 20 filters with 200 values. Fields: country, region, city, device, browser, os, referrer, language, utm_source, utm_medium, utm_campaign, source, variant, bot, link, domain, tag, reason. */
  readonly filter?: readonly string[] | undefined;
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  /** `csv` and `jsonl` stream all matching clicks, without a sample: `limit` and `cursor` do not apply. A download that takes more than five minutes breaks off. Clicks of a day with more than 125,000 come in no order. */
  readonly format?: "json" | "csv" | "jsonl" | undefined;
}

export interface ListClicksQuery {
  /** A date in the zone, or a time with an offset. Default: 30 days. */
  readonly from?: string | undefined;
  /** Exclusive if it is a time; a date includes its whole day. Default: now. */
  readonly to?: string | undefined;
  /** IANA time zone. Default: the workspace's. */
  readonly zone?: string | undefined;
  /** `country=DE,AT` (is), `browser!=Chrome` (is not), `referrer~news` (contains). Repeat it for several; all must hold. Write a comma in a value as `\,`. At most 20 filters with 200 values. Fields: country, region, city, device, browser, os, referrer, language, utm_source, utm_medium, utm_campaign, source, variant, bot, link, domain, tag, reason. */
  readonly filter?: readonly string[] | undefined;
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  /** `csv` and `jsonl` stream all matching clicks, without a sample: `limit` and `cursor` do not apply. A download that takes more than five minutes breaks off. Clicks of a day with more than 125,000 come in no order. */
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
  /** `true`: with the workspace's logo in the middle, and level H. SVG only. */
  readonly logo?: "true" | "false" | undefined;
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

export interface PreviewEmailTemplateQuery {
  readonly name:
    | "digest"
    | "firstClick"
    | "spike"
    | "drop"
    | "deadTarget"
    | "quotaHits80"
    | "quotaHits100"
    | "quotaLinks80"
    | "quotaLinks100"
    | "quotaStorage80"
    | "quotaStorage100"
    | "share"
    | "invitation"
    | "roleChanged"
    | "roleRemoved"
    | "verifyAccount"
    | "verifyChange"
    | "verifySignUp"
    | "verifyExisting"
    | "reset"
    | "signIn"
    | "accountPassword"
    | "accountEmail"
    | "accountSecondFactorRemoved"
    | "accountSecondFactorReset"
    | "accountPasskeyAdded"
    | "accountPasskeyRemoved";
  /** Omitted: as the reader's system says, as in a mail program. */
  readonly theme?: "light" | "dark" | undefined;
  /** For people: the workspace, by slug or ID, because a frame sends no headers. */
  readonly workspace?: string | undefined;
}

export interface WatchClicksQuery {
  /** When the stream ends. */
  readonly seconds?: number | undefined;
}

export interface ListMembersQuery {
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
}

export interface RemoveMemberQuery {
  /** What becomes of the API keys that the person created. Required if there are any that work. */
  readonly keys?: "keep" | "revoke" | undefined;
}

export interface ListInvitationsQuery {
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
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

  /** Check whether a code is free. Reserves nothing: another request may take the code before yours. Says nothing about the links of other workspaces, except that a code is taken. Requires the scope `links:write`. */
  checkCode(query: CheckCodeQuery, options: CallOptions = {}): Promise<CodeCheck> {
    return this.#caller.json<CodeCheck>({ method: "GET", path: "/api/links/check", query, signal: options.signal });
  }

  /** Check a destination, and read its title and social preview. Validates the URL as `POST /api/links` does, and requests it once, for at most five seconds. Results are kept for a minute. The server requests public addresses only. Requires the scope `links:write`. */
  checkDestination(query: CheckDestinationQuery, options: CallOptions = {}): Promise<DestinationCheck> {
    return this.#caller.json<DestinationCheck>({
      method: "GET",
      path: "/api/links/check-destination",
      query,
      signal: options.signal,
    });
  }

  /** Get the social image of a destination. The image that the page names, if it is a PNG, JPEG, WebP, GIF or AVIF of at most 2 MB. Requested as by `check-destination`. Requires the scope `links:write`. */
  getDestinationImage(query: GetDestinationImageQuery, options: CallOptions = {}): Promise<Response> {
    return this.#caller.response({
      method: "GET",
      path: "/api/links/check-destination/image",
      query,
      signal: options.signal,
    });
  }

  /** Count links by state. With the filters of `GET /api/links`. Each link is active, expired or disabled; links that need attention are also active. Requires the scope `links:read`. */
  countLinks(query: CountLinksQuery = {}, options: CallOptions = {}): Promise<LinkCounts> {
    return this.#caller.json<LinkCounts>({ method: "GET", path: "/api/links/counts", query, signal: options.signal });
  }

  /** Export all links that match as CSV. The filters and orders of `GET /api/links`. For people and spreadsheets: it has their main fields. `GET /api/workspace/export` has all of them. Requires the scope `links:read`. */
  exportLinks(query: ExportLinksQuery = {}, options: CallOptions = {}): Promise<Response> {
    return this.#caller.response({ method: "GET", path: "/api/links/export", query, signal: options.signal });
  }

  /** Get the clicks by day of up to 100 links. The default is the last 30 days. Links that do not exist are left out. Requires the scope `stats:read`. */
  getLinkTrends(query: GetLinkTrendsQuery, options: CallOptions = {}): Promise<LinkTrends> {
    return this.#caller.json<LinkTrends>({ method: "GET", path: "/api/links/trends", query, signal: options.signal });
  }

  /** Edit, delete, restore or move up to 1,000 links, and undo that. Each link is changed or refused separately, by the rules of a single edit, with its own row in the history. The response has an `undo`: sent to the same route, it takes everything back in one request. Links that were changed meanwhile are not undone. Requires the scope `links:write`. */
  editLinks(body: BulkEdit, options: CallOptions = {}): Promise<BulkEdited> {
    return this.#caller.json<BulkEdited>({
      method: "PATCH",
      path: "/api/links/bulk",
      json: body,
      signal: options.signal,
    });
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

  /** Show what find and replace would change in destinations. Changes nothing. At most 5,000 links may match. Also requires the scope `links:read`. Requires the scope `links:write`. */
  previewReplacement(body: ReplacementQuestion, options: PostOptions = {}): Promise<ReplacementPreview> {
    return this.#caller.json<ReplacementPreview>({
      method: "POST",
      path: "/api/links/replace/preview",
      json: body,
      idempotencyKey: options.idempotencyKey,
      signal: options.signal,
    });
  }

  /** Replace text in destinations, as previewed. With the parameters and the `token` of the preview. If one of the links was changed since then, nothing happens: the response is 412, and you need a new preview. Links that cannot have the new destination stay as they are. Requires the scope `links:write`. */
  replaceInLinks(body: ReplacementOrder, options: CallOptions = {}): Promise<BulkEdited> {
    return this.#caller.json<BulkEdited>({
      method: "PATCH",
      path: "/api/links/replace",
      json: body,
      signal: options.signal,
    });
  }

  /** List the tags of all links, with the number of links. The 5,000 most used ones. Use `prefix` to complete what somebody types. Requires the scope `links:read`. */
  listTags(query: ListTagsQuery = {}, options: CallOptions = {}): Promise<TagPage> {
    return this.#caller.json<TagPage>({ method: "GET", path: "/api/tags", query, signal: options.signal });
  }

  /** Iterates over all items; pages are loaded on demand. */
  iterateTags(query: ListTagsQuery = {}, options: CallOptions = {}): AsyncGenerator<Tag> {
    return eachOf((cursor) => this.listTags({ ...query, cursor: cursor ?? query.cursor }, options));
  }

  /** Rename a tag on all links, or merge it into another one. If links already have the new name, the two tags become one. Clicks keep the tag that their link had then. Up to 5,000 links per request; `undo` goes to `PATCH /api/links/bulk`. Requires the scope `links:write`. */
  renameTag(body: TagRename, options: CallOptions = {}): Promise<TagChanged> {
    return this.#caller.json<TagChanged>({ method: "PATCH", path: "/api/tags", json: body, signal: options.signal });
  }

  /** Remove a tag from all links. Up to 5,000 links per request; `undo` goes to `PATCH /api/links/bulk`. Requires the scope `links:write`. */
  deleteTag(query: DeleteTagQuery, options: CallOptions = {}): Promise<TagChanged> {
    return this.#caller.json<TagChanged>({ method: "DELETE", path: "/api/tags", query, signal: options.signal });
  }

  /** List annotations, the latest first. Requires the scope `stats:read`. */
  listAnnotations(query: ListAnnotationsQuery = {}, options: CallOptions = {}): Promise<AnnotationPage> {
    return this.#caller.json<AnnotationPage>({
      method: "GET",
      path: "/api/annotations",
      query,
      signal: options.signal,
    });
  }

  /** Iterates over all items; pages are loaded on demand. */
  iterateAnnotations(query: ListAnnotationsQuery = {}, options: CallOptions = {}): AsyncGenerator<Annotation> {
    return eachOf((cursor) => this.listAnnotations({ ...query, cursor: cursor ?? query.cursor }, options));
  }

  /** Create an annotation. At most 2,000 per workspace. Those of a link are deleted with it, for good. Requires the scope `links:write`. */
  createAnnotation(body: NewAnnotation, options: PostOptions = {}): Promise<Annotation> {
    return this.#caller.json<Annotation>({
      method: "POST",
      path: "/api/annotations",
      json: body,
      idempotencyKey: options.idempotencyKey,
      signal: options.signal,
    });
  }

  /** Update the text or time of an annotation. Requires the scope `links:write`. */
  updateAnnotation(id: string, body: AnnotationPatch, options: CallOptions = {}): Promise<Annotation> {
    return this.#caller.json<Annotation>({
      method: "PATCH",
      path: `/api/annotations/${encodeURIComponent(id)}`,
      json: body,
      signal: options.signal,
    });
  }

  /** Delete an annotation. Requires the scope `links:write`. */
  deleteAnnotation(id: string, options: CallOptions = {}): Promise<void> {
    return this.#caller.nothing({
      method: "DELETE",
      path: `/api/annotations/${encodeURIComponent(id)}`,
      signal: options.signal,
    });
  }

  /** List UTM templates by name. Requires the scope `links:read`. */
  listUtmTemplates(query: ListUtmTemplatesQuery = {}, options: CallOptions = {}): Promise<UtmTemplatePage> {
    return this.#caller.json<UtmTemplatePage>({
      method: "GET",
      path: "/api/utm-templates",
      query,
      signal: options.signal,
    });
  }

  /** Iterates over all items; pages are loaded on demand. */
  iterateUtmTemplates(query: ListUtmTemplatesQuery = {}, options: CallOptions = {}): AsyncGenerator<UtmTemplate> {
    return eachOf((cursor) => this.listUtmTemplates({ ...query, cursor: cursor ?? query.cursor }, options));
  }

  /** Create a UTM template. At most 200 per workspace. Requires the scope `links:write`. */
  createUtmTemplate(body: NewUtmTemplate, options: PostOptions = {}): Promise<UtmTemplate> {
    return this.#caller.json<UtmTemplate>({
      method: "POST",
      path: "/api/utm-templates",
      json: body,
      idempotencyKey: options.idempotencyKey,
      signal: options.signal,
    });
  }

  /** Update a UTM template. Links keep the parameters that they have. `utm` is replaced as a whole. Requires the scope `links:write`. */
  updateUtmTemplate(id: string, body: UtmTemplatePatch, options: CallOptions = {}): Promise<UtmTemplate> {
    return this.#caller.json<UtmTemplate>({
      method: "PATCH",
      path: `/api/utm-templates/${encodeURIComponent(id)}`,
      json: body,
      signal: options.signal,
    });
  }

  /** Delete a UTM template. Requires the scope `links:write`. */
  deleteUtmTemplate(id: string, options: CallOptions = {}): Promise<void> {
    return this.#caller.nothing({
      method: "DELETE",
      path: `/api/utm-templates/${encodeURIComponent(id)}`,
      signal: options.signal,
    });
  }

  /** Get name, colour and logo of the pages for visitors. Requires the scope `links:read`. */
  getBranding(options: CallOptions = {}): Promise<Branding> {
    return this.#caller.json<Branding>({ method: "GET", path: "/api/branding", signal: options.signal });
  }

  /** Set name, colour and logo of the pages for visitors. For the pages that visitors see instead of a redirect: not found, expired, over the limit, suspended, password and preview, and for public statistics. Omitted fields keep their value. Servers show a change within ten seconds. Requires the scope `admin`. */
  updateBranding(body: BrandingChange, options: CallOptions = {}): Promise<Branding> {
    return this.#caller.json<Branding>({ method: "PATCH", path: "/api/branding", json: body, signal: options.signal });
  }

  /** List public pages with statistics, newest first. Requires the scope `stats:read`. */
  listStatsShares(query: ListStatsSharesQuery = {}, options: CallOptions = {}): Promise<StatsSharePage> {
    return this.#caller.json<StatsSharePage>({
      method: "GET",
      path: "/api/stats/shares",
      query,
      signal: options.signal,
    });
  }

  /** Iterates over all items; pages are loaded on demand. */
  iterateStatsShares(query: ListStatsSharesQuery = {}, options: CallOptions = {}): AsyncGenerator<StatsShare> {
    return eachOf((cursor) => this.listStatsShares({ ...query, cursor: cursor ?? query.cursor }, options));
  }

  /** Publish the statistics of a link or a tag. Whoever has the `url` sees the figures, in a page that needs no script. At most 500 per workspace. Also requires the scope `stats:read`. Requires the scope `links:write`. */
  createStatsShare(body: NewStatsShare, options: PostOptions = {}): Promise<StatsShare> {
    return this.#caller.json<StatsShare>({
      method: "POST",
      path: "/api/stats/shares",
      json: body,
      idempotencyKey: options.idempotencyKey,
      signal: options.signal,
    });
  }

  /** Stop publishing statistics. The page answers 404 at once, on all servers. Requires the scope `links:write`. */
  revokeStatsShare(id: string, options: CallOptions = {}): Promise<void> {
    return this.#caller.nothing({
      method: "DELETE",
      path: `/api/stats/shares/${encodeURIComponent(id)}`,
      signal: options.signal,
    });
  }

  /** List imports, newest first. Requires the scope `links:read`. */
  listImports(query: ListImportsQuery = {}, options: CallOptions = {}): Promise<LinkImportPage> {
    return this.#caller.json<LinkImportPage>({ method: "GET", path: "/api/imports", query, signal: options.signal });
  }

  /** Iterates over all items; pages are loaded on demand. */
  iterateImports(query: ListImportsQuery = {}, options: CallOptions = {}): AsyncGenerator<LinkImport> {
    return eachOf((cursor) => this.listImports({ ...query, cursor: cursor ?? query.cursor }, options));
  }

  /** Check an uploaded file for import. Upload the file first: `POST /api/files`. CSV and JSON lines of QuickLink, Shlink, YOURLS, Kutt and Bitly are recognised. Every row is checked, and nothing is written until you start the import. At most 50 MB, and 100 imports are kept. Requires the scope `links:write`. */
  createImport(body: NewImport, options: PostOptions = {}): Promise<LinkImport> {
    return this.#caller.json<LinkImport>({
      method: "POST",
      path: "/api/imports",
      json: body,
      idempotencyKey: options.idempotencyKey,
      signal: options.signal,
    });
  }

  /** Get an import and its progress. Requires the scope `links:read`. */
  getImport(id: string, options: CallOptions = {}): Promise<LinkImport> {
    return this.#caller.json<LinkImport>({
      method: "GET",
      path: `/api/imports/${encodeURIComponent(id)}`,
      signal: options.signal,
    });
  }

  /** Start or cancel an import. Start it with `running`, once it is checked; one that failed or was cancelled continues where it stopped. Its links count towards your plan, and it stops when the month's links are used. What is imported stays when it is cancelled. Requires the scope `links:write`. */
  updateImport(id: string, body: ImportChange, options: CallOptions = {}): Promise<LinkImport> {
    return this.#caller.json<LinkImport>({
      method: "PATCH",
      path: `/api/imports/${encodeURIComponent(id)}`,
      json: body,
      signal: options.signal,
    });
  }

  /** Delete the record of an import that is not running. The links and the uploaded file stay. Requires the scope `links:write`. */
  deleteImport(id: string, options: CallOptions = {}): Promise<void> {
    return this.#caller.nothing({
      method: "DELETE",
      path: `/api/imports/${encodeURIComponent(id)}`,
      signal: options.signal,
    });
  }

  /** List the rejected rows of an import. By line. The first 1,000 of the check and of the import are kept. Requires the scope `links:read`. */
  listImportRows(id: string, query: ListImportRowsQuery = {}, options: CallOptions = {}): Promise<ImportRowPage> {
    return this.#caller.json<ImportRowPage>({
      method: "GET",
      path: `/api/imports/${encodeURIComponent(id)}/rows`,
      query,
      signal: options.signal,
    });
  }

  /** Iterates over all items; pages are loaded on demand. */
  iterateImportRows(id: string, query: ListImportRowsQuery = {}, options: CallOptions = {}): AsyncGenerator<ImportRow> {
    return eachOf((cursor) => this.listImportRows(id, { ...query, cursor: cursor ?? query.cursor }, options));
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

  /** List, filter, search and sort links. Newest first by default. Any other order, and any filter, may read all links of the workspace. Requires the scope `links:read`. */
  listLinks(query: ListLinksQuery = {}, options: CallOptions = {}): Promise<LinkPage> {
    return this.#caller.json<LinkPage>({ method: "GET", path: "/api/links", query, signal: options.signal });
  }

  /** Iterates over all items; pages are loaded on demand. */
  iterateLinks(query: ListLinksQuery = {}, options: CallOptions = {}): AsyncGenerator<Link> {
    return eachOf((cursor) => this.listLinks({ ...query, cursor: cursor ?? query.cursor }, options));
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

  /** Delete a link. It moves to the trash, and its code answers 404. It can be restored for 30 days; its code stays taken. See `/api/trash`. Requires the scope `links:write`. */
  deleteLink(id: string, options: CallOptions & { readonly ifMatch?: string | undefined } = {}): Promise<void> {
    return this.#caller.nothing({
      method: "DELETE",
      path: `/api/links/${encodeURIComponent(id)}`,
      headers: { "if-match": options.ifMatch },
      signal: options.signal,
    });
  }

  /** List the changes of a link, newest first; its creation is the last. Also of a link in the trash. Requires the scope `links:read`. */
  listLinkHistory(id: string, query: ListLinkHistoryQuery = {}, options: CallOptions = {}): Promise<LinkHistoryPage> {
    return this.#caller.json<LinkHistoryPage>({
      method: "GET",
      path: `/api/links/${encodeURIComponent(id)}/history`,
      query,
      signal: options.signal,
    });
  }

  /** Iterates over all items; pages are loaded on demand. */
  iterateLinkHistory(
    id: string,
    query: ListLinkHistoryQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<HistoryEntry> {
    return eachOf((cursor) => this.listLinkHistory(id, { ...query, cursor: cursor ?? query.cursor }, options));
  }

  /** Set a link back to an older version. All fields get the values that they had at that version, by the rules of an edit; the password stays as it is. Undoing is itself a change that can be undone. A link that already has these values is not changed. Requires the scope `links:write`. */
  undoLink(
    id: string,
    body: UndoLink,
    options: PostOptions & { readonly ifMatch?: string | undefined } = {},
  ): Promise<Link> {
    return this.#caller.json<Link>({
      method: "POST",
      path: `/api/links/${encodeURIComponent(id)}/undo`,
      headers: { "if-match": options.ifMatch },
      json: body,
      idempotencyKey: options.idempotencyKey,
      signal: options.signal,
    });
  }

  /** List deleted links, those deleted last first. Requires the scope `links:read`. */
  listTrash(query: ListTrashQuery = {}, options: CallOptions = {}): Promise<TrashPage> {
    return this.#caller.json<TrashPage>({ method: "GET", path: "/api/trash", query, signal: options.signal });
  }

  /** Iterates over all items; pages are loaded on demand. */
  iterateTrash(query: ListTrashQuery = {}, options: CallOptions = {}): AsyncGenerator<TrashedLink> {
    return eachOf((cursor) => this.listTrash({ ...query, cursor: cursor ?? query.cursor }, options));
  }

  /** Delete the links in the trash for good, up to 5,000 at a time. Repeat the request while `isEmpty` is false. Requires the scope `admin`. */
  emptyTrash(options: CallOptions = {}): Promise<EmptiedTrash> {
    return this.#caller.json<EmptiedTrash>({ method: "DELETE", path: "/api/trash", signal: options.signal });
  }

  /** Restore a deleted link. With everything it had, its clicks included. Its destinations, file and domain must be acceptable today. A suspended link stays suspended. Requires the scope `links:write`. */
  restoreLink(id: string, options: PostOptions = {}): Promise<Link> {
    return this.#caller.json<Link>({
      method: "POST",
      path: `/api/trash/${encodeURIComponent(id)}/restore`,
      idempotencyKey: options.idempotencyKey,
      signal: options.signal,
    });
  }

  /** Delete a link for good. It cannot be restored. Only you can use its code again. Requires the scope `links:write`. */
  eraseLink(id: string, options: CallOptions = {}): Promise<void> {
    return this.#caller.nothing({
      method: "DELETE",
      path: `/api/trash/${encodeURIComponent(id)}`,
      signal: options.signal,
    });
  }

  /** List what was changed in the workspace, by whom and when. Newest first. A page may have fewer entries than `limit`, or none, and still be followed by others: continue until `nextCursor` is null. Requires the scope `admin`. */
  listHistory(query: ListHistoryQuery = {}, options: CallOptions = {}): Promise<Response> {
    return this.#caller.response({ method: "GET", path: "/api/history", query, signal: options.signal });
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

  /** Get the workspace of this key and its limits. Requires the scope `links:read`. */
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

  /** Revoke an API key. It stops working at once, on all servers within the time of an edit. Requires the scope `admin`. */
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

  /** Remove a domain. Only possible when the domain has no links. Afterwards another workspace can verify it. Requires the scope `admin`. */
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

  /** Get click settings. Requires the scope `stats:read`. */
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

  /** Start an upload. Reserves the file's bytes from the workspace's storage. Send the file with `upload.method` to `upload.url` with exactly `upload.headers` before `upload.expiresAt`, then complete the upload. Requires the scope `files:write`. */
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

  /** List all emails with sample values. The workspace, its time zone and the server are real. Links, people and numbers are samples. Requires the scope `email:read`. */
  listEmailTemplates(options: CallOptions = {}): Promise<EmailSampleList> {
    return this.#caller.json<EmailSampleList>({ method: "GET", path: "/api/email/templates", signal: options.signal });
  }

  /** Show an email with sample values. The HTML of the email, for a frame of a page of this server. Its links do nothing. Requires the scope `email:read`. */
  previewEmailTemplate(query: PreviewEmailTemplateQuery, options: CallOptions = {}): Promise<Response> {
    return this.#caller.response({
      method: "GET",
      path: "/api/email/templates/preview",
      query,
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

  /** Get the workspace of this call. Requires the scope `links:read`. */
  getWorkspace(options: CallOptions = {}): Promise<Workspace> {
    return this.#caller.json<Workspace>({ method: "GET", path: "/api/workspace", signal: options.signal });
  }

  /** Rename the workspace. Requires the scope `admin`. */
  changeWorkspace(body: WorkspaceChange, options: CallOptions = {}): Promise<Workspace> {
    return this.#caller.json<Workspace>({
      method: "PATCH",
      path: "/api/workspace",
      json: body,
      signal: options.signal,
    });
  }

  /** Export the whole workspace. JSON lines; `record` says what each is: `workspace` with its settings, `member`, `domain`, `file` (its name, not its bytes), `link` with all fields, `trashed_link`, `clicks` of a day, and `end` as the last line of a complete export. `quicklink import` reads the links again. Secrets are not in it. Requires the scope `admin`. */
  exportWorkspace(options: CallOptions = {}): Promise<Response> {
    return this.#caller.response({ method: "GET", path: "/api/workspace/export", signal: options.signal });
  }

  /** List the members of the workspace. Requires the scope `links:read`. */
  listMembers(query: ListMembersQuery = {}, options: CallOptions = {}): Promise<MemberPage> {
    return this.#caller.json<MemberPage>({ method: "GET", path: "/api/members", query, signal: options.signal });
  }

  /** Iterates over all items; pages are loaded on demand. */
  iterateMembers(query: ListMembersQuery = {}, options: CallOptions = {}): AsyncGenerator<Member> {
    return eachOf((cursor) => this.listMembers({ ...query, cursor: cursor ?? query.cursor }, options));
  }

  /** Change the role of a member. Only owners make and unmake owners. An owner always remains. Requires the scope `admin`. */
  changeMember(person: string, body: MemberChange, options: CallOptions = {}): Promise<Member> {
    return this.#caller.json<Member>({
      method: "PATCH",
      path: `/api/members/${encodeURIComponent(person)}`,
      json: body,
      signal: options.signal,
    });
  }

  /** Remove a person from the workspace. Invitations that they made are revoked. Requires the scope `admin`. */
  removeMember(person: string, query: RemoveMemberQuery = {}, options: CallOptions = {}): Promise<void> {
    return this.#caller.nothing({
      method: "DELETE",
      path: `/api/members/${encodeURIComponent(person)}`,
      query,
      signal: options.signal,
    });
  }

  /** List open invitations, newest first. Requires the scope `admin`. */
  listInvitations(query: ListInvitationsQuery = {}, options: CallOptions = {}): Promise<InvitationPage> {
    return this.#caller.json<InvitationPage>({
      method: "GET",
      path: "/api/invitations",
      query,
      signal: options.signal,
    });
  }

  /** Iterates over all items; pages are loaded on demand. */
  iterateInvitations(query: ListInvitationsQuery = {}, options: CallOptions = {}): AsyncGenerator<Invitation> {
    return eachOf((cursor) => this.listInvitations({ ...query, cursor: cursor ?? query.cursor }, options));
  }

  /** Invite somebody to the workspace. A second invitation for the same address replaces the first. Requires the scope `admin`. */
  createInvitation(body: NewInvitation, options: PostOptions = {}): Promise<MadeInvitation> {
    return this.#caller.json<MadeInvitation>({
      method: "POST",
      path: "/api/invitations",
      json: body,
      idempotencyKey: options.idempotencyKey,
      signal: options.signal,
    });
  }

  /** Send an invitation again. With a new link and as much time as at first; the old link no longer works. Requires the scope `admin`. */
  resendInvitation(id: string, options: PostOptions = {}): Promise<MadeInvitation> {
    return this.#caller.json<MadeInvitation>({
      method: "POST",
      path: `/api/invitations/${encodeURIComponent(id)}/resend`,
      idempotencyKey: options.idempotencyKey,
      signal: options.signal,
    });
  }

  /** Revoke an invitation. Requires the scope `admin`. */
  revokeInvitation(id: string, options: CallOptions = {}): Promise<void> {
    return this.#caller.nothing({
      method: "DELETE",
      path: `/api/invitations/${encodeURIComponent(id)}`,
      signal: options.signal,
    });
  }
}
