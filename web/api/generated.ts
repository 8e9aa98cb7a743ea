/** Generated from the OpenAPI document by `npm run docs`. A test compares the two. */
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

/** For each route: the parameters of its path and query, the body, and the answer. */
export interface Routes {
  /** Check whether a code is free. */
  "GET /api/links/check": {
    readonly path: undefined;
    readonly query: {
      readonly code: string;
      /** One of your verified domains, or the server's. Default: your default domain. */
      readonly domain?: string | undefined;
    };
    readonly body: undefined;
    readonly result: CodeCheck;
  };
  /** Check a destination, and read its title and social preview. */
  "GET /api/links/check-destination": {
    readonly path: undefined;
    readonly query: {
      readonly url: string;
    };
    readonly body: undefined;
    readonly result: DestinationCheck;
  };
  /** Get the social image of a destination. */
  "GET /api/links/check-destination/image": {
    readonly path: undefined;
    readonly query: {
      readonly url: string;
    };
    readonly body: undefined;
    readonly result: Response;
  };
  /** Count links by state. */
  "GET /api/links/counts": {
    readonly path: undefined;
    readonly query: {
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
    };
    readonly body: undefined;
    readonly result: LinkCounts;
  };
  /** Export all links that match as CSV. */
  "GET /api/links/export": {
    readonly path: undefined;
    readonly query: {
      readonly sort?:
        | "createdAt"
        | "updatedAt"
        | "code"
        | "expiresAt"
        | "clicks"
        | "lastClickAt"
        | "hitsUsed"
        | undefined;
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
    };
    readonly body: undefined;
    readonly result: Response;
  };
  /** Get the clicks by day of up to 100 links. */
  "GET /api/links/trends": {
    readonly path: undefined;
    readonly query: {
      /** Ids of links, comma separated; at most 100. */
      readonly ids: string;
      /** As in reports; at most 100 days before `to`. */
      readonly from?: string | undefined;
      readonly to?: string | undefined;
      /** Default: the time zone of the workspace. */
      readonly zone?: string | undefined;
    };
    readonly body: undefined;
    readonly result: LinkTrends;
  };
  /** Edit, delete, restore or move up to 1,000 links, and undo that. */
  "PATCH /api/links/bulk": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: BulkEdit;
    readonly result: BulkEdited;
  };
  /** Create up to 1,000 links. */
  "POST /api/links/bulk": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: BulkLinks;
    readonly result: BulkResult;
  };
  /** Show what find and replace would change in destinations. */
  "POST /api/links/replace/preview": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: ReplacementQuestion;
    readonly result: ReplacementPreview;
  };
  /** Replace text in destinations, as previewed. */
  "PATCH /api/links/replace": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: ReplacementOrder;
    readonly result: BulkEdited;
  };
  /** List the tags of all links, with the number of links. */
  "GET /api/tags": {
    readonly path: undefined;
    readonly query: {
      readonly limit?: number | undefined;
      /** The `nextCursor` of the previous page. */
      readonly cursor?: string | undefined;
      /** Case-insensitive for A to Z. */
      readonly prefix?: string | undefined;
      /** The most used first, or by name. */
      readonly sort?: "links" | "tag" | undefined;
    };
    readonly body: undefined;
    readonly result: TagPage;
  };
  /** Rename a tag on all links, or merge it into another one. */
  "PATCH /api/tags": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: TagRename;
    readonly result: TagChanged;
  };
  /** Remove a tag from all links. */
  "DELETE /api/tags": {
    readonly path: undefined;
    readonly query: {
      readonly tag: string;
    };
    readonly body: undefined;
    readonly result: TagChanged;
  };
  /** List annotations, the latest first. */
  "GET /api/annotations": {
    readonly path: undefined;
    readonly query: {
      readonly limit?: number | undefined;
      /** The `nextCursor` of the previous page. */
      readonly cursor?: string | undefined;
      /** Annotations of this link and of the whole workspace. Default: all. */
      readonly link?: string | undefined;
      readonly from?: string | undefined;
      /** Exclusive. */
      readonly to?: string | undefined;
    };
    readonly body: undefined;
    readonly result: AnnotationPage;
  };
  /** Create an annotation. */
  "POST /api/annotations": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: NewAnnotation;
    readonly result: Annotation;
  };
  /** Update the text or time of an annotation. */
  "PATCH /api/annotations/{id}": {
    readonly path: { readonly id: string };
    readonly query: undefined;
    readonly body: AnnotationPatch;
    readonly result: Annotation;
  };
  /** Delete an annotation. */
  "DELETE /api/annotations/{id}": {
    readonly path: { readonly id: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: undefined;
  };
  /** List UTM templates by name. */
  "GET /api/utm-templates": {
    readonly path: undefined;
    readonly query: {
      readonly limit?: number | undefined;
      /** The `nextCursor` of the previous page. */
      readonly cursor?: string | undefined;
    };
    readonly body: undefined;
    readonly result: UtmTemplatePage;
  };
  /** Create a UTM template. */
  "POST /api/utm-templates": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: NewUtmTemplate;
    readonly result: UtmTemplate;
  };
  /** Update a UTM template. */
  "PATCH /api/utm-templates/{id}": {
    readonly path: { readonly id: string };
    readonly query: undefined;
    readonly body: UtmTemplatePatch;
    readonly result: UtmTemplate;
  };
  /** Delete a UTM template. */
  "DELETE /api/utm-templates/{id}": {
    readonly path: { readonly id: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: undefined;
  };
  /** Get name, colour and logo of the pages for visitors. */
  "GET /api/branding": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: Branding;
  };
  /** Set name, colour and logo of the pages for visitors. */
  "PATCH /api/branding": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: BrandingChange;
    readonly result: Branding;
  };
  /** List public pages with statistics, newest first. */
  "GET /api/stats/shares": {
    readonly path: undefined;
    readonly query: {
      readonly limit?: number | undefined;
      /** The `nextCursor` of the previous page. */
      readonly cursor?: string | undefined;
      /** Only those of this link. */
      readonly link?: string | undefined;
    };
    readonly body: undefined;
    readonly result: StatsSharePage;
  };
  /** Publish the statistics of a link or a tag. */
  "POST /api/stats/shares": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: NewStatsShare;
    readonly result: StatsShare;
  };
  /** Stop publishing statistics. */
  "DELETE /api/stats/shares/{id}": {
    readonly path: { readonly id: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: undefined;
  };
  /** List imports, newest first. */
  "GET /api/imports": {
    readonly path: undefined;
    readonly query: {
      readonly limit?: number | undefined;
      /** The `nextCursor` of the previous page. */
      readonly cursor?: string | undefined;
    };
    readonly body: undefined;
    readonly result: LinkImportPage;
  };
  /** Check an uploaded file for import. */
  "POST /api/imports": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: NewImport;
    readonly result: LinkImport;
  };
  /** Get an import and its progress. */
  "GET /api/imports/{id}": {
    readonly path: { readonly id: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: LinkImport;
  };
  /** Start or cancel an import. */
  "PATCH /api/imports/{id}": {
    readonly path: { readonly id: string };
    readonly query: undefined;
    readonly body: ImportChange;
    readonly result: LinkImport;
  };
  /** Delete the record of an import that is not running. */
  "DELETE /api/imports/{id}": {
    readonly path: { readonly id: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: undefined;
  };
  /** List the rejected rows of an import. */
  "GET /api/imports/{id}/rows": {
    readonly path: { readonly id: string };
    readonly query: {
      readonly limit?: number | undefined;
      /** The `nextCursor` of the previous page. */
      readonly cursor?: string | undefined;
      readonly phase?: "check" | "import" | undefined;
    };
    readonly body: undefined;
    readonly result: ImportRowPage;
  };
  /** Create a link. */
  "POST /api/links": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: NewLink;
    readonly result: Link;
  };
  /** List, filter, search and sort links. */
  "GET /api/links": {
    readonly path: undefined;
    readonly query: {
      readonly limit?: number | undefined;
      /** The `nextCursor` of the previous page. */
      readonly cursor?: string | undefined;
      readonly sort?:
        | "createdAt"
        | "updatedAt"
        | "code"
        | "expiresAt"
        | "clicks"
        | "lastClickAt"
        | "hitsUsed"
        | undefined;
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
    };
    readonly body: undefined;
    readonly result: LinkPage;
  };
  /** Get a link. */
  "GET /api/links/{id}": {
    readonly path: { readonly id: string };
    readonly query: {
      /** Return only these fields of each link, comma separated: `id,code,url`. */
      readonly fields?: string | undefined;
    };
    readonly body: undefined;
    readonly result: Link;
  };
  /** Update some fields of a link. */
  "PATCH /api/links/{id}": {
    readonly path: { readonly id: string };
    readonly query: undefined;
    readonly body: LinkPatch;
    readonly result: Link;
  };
  /** Replace all fields of a link. */
  "PUT /api/links/{id}": {
    readonly path: { readonly id: string };
    readonly query: undefined;
    readonly body: LinkReplacement;
    readonly result: Link;
  };
  /** Delete a link. */
  "DELETE /api/links/{id}": {
    readonly path: { readonly id: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: undefined;
  };
  /** List the changes of a link, newest first; its creation is the last. */
  "GET /api/links/{id}/history": {
    readonly path: { readonly id: string };
    readonly query: {
      readonly limit?: number | undefined;
      /** The `nextCursor` of the previous page. */
      readonly cursor?: string | undefined;
    };
    readonly body: undefined;
    readonly result: LinkHistoryPage;
  };
  /** Set a link back to an older version. */
  "POST /api/links/{id}/undo": {
    readonly path: { readonly id: string };
    readonly query: undefined;
    readonly body: UndoLink;
    readonly result: Link;
  };
  /** List deleted links, those deleted last first. */
  "GET /api/trash": {
    readonly path: undefined;
    readonly query: {
      readonly limit?: number | undefined;
      /** The `nextCursor` of the previous page. */
      readonly cursor?: string | undefined;
    };
    readonly body: undefined;
    readonly result: TrashPage;
  };
  /** Delete the links in the trash for good, up to 5,000 at a time. */
  "DELETE /api/trash": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: EmptiedTrash;
  };
  /** Restore a deleted link. */
  "POST /api/trash/{id}/restore": {
    readonly path: { readonly id: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: Link;
  };
  /** Delete a link for good. */
  "DELETE /api/trash/{id}": {
    readonly path: { readonly id: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: undefined;
  };
  /** List what was changed in the workspace, by whom and when. */
  "GET /api/history": {
    readonly path: undefined;
    readonly query: {
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
    };
    readonly body: undefined;
    readonly result: Response;
  };
  /** List what was changed outside of workspaces: sign-ins, refusals, plans, reports. */
  "GET /api/operator/history": {
    readonly path: undefined;
    readonly query: {
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
    };
    readonly body: undefined;
    readonly result: Response;
  };
  /** Get a report on a link's clicks. */
  "GET /api/links/{id}/stats": {
    readonly path: { readonly id: string };
    readonly query: {
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
    };
    readonly body: undefined;
    readonly result: Response;
  };
  /** Get a report on all clicks, or those of a domain or tag. */
  "GET /api/stats": {
    readonly path: undefined;
    readonly query: {
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
    };
    readonly body: undefined;
    readonly result: Response;
  };
  /** List a link's clicks, newest first. */
  "GET /api/links/{id}/clicks": {
    readonly path: { readonly id: string };
    readonly query: {
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
    };
    readonly body: undefined;
    readonly result: Response;
  };
  /** List all clicks, newest first. */
  "GET /api/clicks": {
    readonly path: undefined;
    readonly query: {
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
    };
    readonly body: undefined;
    readonly result: Response;
  };
  /** Get a link's QR code. */
  "GET /api/links/{id}/qr": {
    readonly path: { readonly id: string };
    readonly query: {
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
    };
    readonly body: undefined;
    readonly result: Response;
  };
  /** Get the workspace of this key and its limits. */
  "GET /api/tenant": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: Tenant;
  };
  /** List API keys, newest first. */
  "GET /api/keys": {
    readonly path: undefined;
    readonly query: {
      readonly limit?: number | undefined;
      /** The `nextCursor` of the previous page. */
      readonly cursor?: string | undefined;
    };
    readonly body: undefined;
    readonly result: ApiKeyPage;
  };
  /** Create an API key. */
  "POST /api/keys": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: NewApiKey;
    readonly result: CreatedApiKey;
  };
  /** Revoke an API key. */
  "DELETE /api/keys/{id}": {
    readonly path: { readonly id: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: undefined;
  };
  /** List domains, oldest first. */
  "GET /api/domains": {
    readonly path: undefined;
    readonly query: {
      readonly limit?: number | undefined;
      /** The `nextCursor` of the previous page. */
      readonly cursor?: string | undefined;
    };
    readonly body: undefined;
    readonly result: DomainPage;
  };
  /** Add a custom domain. */
  "POST /api/domains": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: NewDomain;
    readonly result: Domain;
  };
  /** Get a domain. */
  "GET /api/domains/{host}": {
    readonly path: { readonly host: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: Domain;
  };
  /** Update a domain. */
  "PATCH /api/domains/{host}": {
    readonly path: { readonly host: string };
    readonly query: undefined;
    readonly body: DomainChange;
    readonly result: Domain;
  };
  /** Remove a domain. */
  "DELETE /api/domains/{host}": {
    readonly path: { readonly host: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: undefined;
  };
  /** Verify a domain. */
  "POST /api/domains/{host}/verify": {
    readonly path: { readonly host: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: Domain;
  };
  /** Get all limits and their usage. */
  "GET /api/usage": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: Usage;
  };
  /** Get click settings. */
  "GET /api/stats/settings": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: ClickSettings;
  };
  /** Update click settings. */
  "PATCH /api/stats/settings": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: ClickSettingsChange;
    readonly result: ClickSettings;
  };
  /** Start an upload. */
  "POST /api/files": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: NewFile;
    readonly result: Upload;
  };
  /** List files, newest first. */
  "GET /api/files": {
    readonly path: undefined;
    readonly query: {
      readonly limit?: number | undefined;
      /** The `nextCursor` of the previous page. */
      readonly cursor?: string | undefined;
    };
    readonly body: undefined;
    readonly result: FilePage;
  };
  /** Complete an upload. */
  "POST /api/files/{id}/complete": {
    readonly path: { readonly id: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: File;
  };
  /** Get a file. */
  "GET /api/files/{id}": {
    readonly path: { readonly id: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: File;
  };
  /** Delete a file, or cancel its upload. */
  "DELETE /api/files/{id}": {
    readonly path: { readonly id: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: undefined;
  };
  /** Get a download URL. */
  "GET /api/files/{id}/download": {
    readonly path: { readonly id: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: Download;
  };
  /** Get email usage and limits. */
  "GET /api/email/stats": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: EmailStats;
  };
  /** List suppressed addresses. */
  "GET /api/email/suppressions": {
    readonly path: undefined;
    readonly query: {
      readonly limit?: number | undefined;
      /** The `nextCursor` of the previous page. */
      readonly cursor?: string | undefined;
    };
    readonly body: undefined;
    readonly result: SuppressionPage;
  };
  /** Remove an address from the suppression list. */
  "DELETE /api/email/suppressions/{address}": {
    readonly path: { readonly address: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: undefined;
  };
  /** List all emails with sample values. */
  "GET /api/email/templates": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: EmailSampleList;
  };
  /** Show an email with sample values. */
  "GET /api/email/templates/preview": {
    readonly path: undefined;
    readonly query: {
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
    };
    readonly body: undefined;
    readonly result: Response;
  };
  /** Get email settings. */
  "GET /api/email/settings": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: EmailSettings;
  };
  /** Update email settings. */
  "PATCH /api/email/settings": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: EmailSettingsChange;
    readonly result: EmailSettings;
  };
  /** Rotate the webhook URL. */
  "POST /api/email/webhook/rotate": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: EmailSettings;
  };
  /** Watch clicks as they happen. */
  "GET /api/live": {
    readonly path: undefined;
    readonly query: {
      /** When the stream ends. */
      readonly seconds?: number | undefined;
    };
    readonly body: undefined;
    readonly result: Response;
  };
  /** What this server offers to people who are not signed in. */
  "GET /api/auth/options": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: SignInOptions;
  };
  /** Sign in with email and password. */
  "POST /api/auth/sign-in": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: SignIn;
    readonly result: SignInResult;
  };
  /** Create the first person of this server. */
  "POST /api/auth/setup": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: SetUp;
    readonly result: SignInResult;
  };
  /** Request a link to create an account. */
  "POST /api/auth/sign-up": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: SignUp;
    readonly result: undefined;
  };
  /** Create the account with the link from the email. */
  "POST /api/auth/sign-up/complete": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: NewAccount;
    readonly result: SignInResult;
  };
  /** Request a link to choose a new password. */
  "POST /api/auth/reset": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: PasswordResetRequest;
    readonly result: undefined;
  };
  /** Choose a new password with the link. */
  "POST /api/auth/reset/complete": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: PasswordReset;
    readonly result: SignInResult;
  };
  /** Confirm the email address of an account with the link. */
  "POST /api/auth/verify": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: EmailVerification;
    readonly result: undefined;
  };
  /** Get your account, session and workspaces. */
  "GET /api/account": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: Account;
  };
  /** Change your name. */
  "PATCH /api/account": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: AccountChange;
    readonly result: Person;
  };
  /** Delete your account. */
  "DELETE /api/account": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: AccountDeletion;
    readonly result: undefined;
  };
  /** Change your password. */
  "POST /api/account/password": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: PasswordChange;
    readonly result: undefined;
  };
  /** Change your email address. */
  "POST /api/account/email": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: EmailChange;
    readonly result: undefined;
  };
  /** Confirm your new email address with the link. */
  "POST /api/account/email/confirm": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: EmailConfirmation;
    readonly result: Person;
  };
  /** Request a link to confirm your email address. */
  "POST /api/account/verification": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: undefined;
  };
  /** Sign out. */
  "DELETE /api/account/session": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: undefined;
  };
  /** List your sessions, newest first. */
  "GET /api/account/sessions": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: Sessions;
  };
  /** End all your other sessions. */
  "DELETE /api/account/sessions": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: EndedSessions;
  };
  /** End one of your sessions. */
  "DELETE /api/account/sessions/{id}": {
    readonly path: { readonly id: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: undefined;
  };
  /** Get your second factor. */
  "GET /api/account/totp": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: SecondFactor;
  };
  /** Begin to set up an authenticator app. */
  "POST /api/account/totp": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: Proof;
    readonly result: TotpOffer;
  };
  /** Confirm an authenticator app with a code of it. */
  "POST /api/account/totp/confirm": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: {
      /** Six digits of your authenticator app, or a recovery code. */
      readonly code: string;
    };
    readonly result: RecoveryCodes;
  };
  /** Remove your authenticator app. */
  "POST /api/account/totp/remove": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: Proof;
    readonly result: undefined;
  };
  /** Get new recovery codes. */
  "POST /api/account/recovery-codes": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: Proof;
    readonly result: RecoveryCodes;
  };
  /** List the browsers that are asked for no code, newest first. */
  "GET /api/account/devices": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: RememberedDevices;
  };
  /** Ask all browsers for codes again. */
  "DELETE /api/account/devices": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: undefined;
  };
  /** Ask a browser for codes again. */
  "DELETE /api/account/devices/{id}": {
    readonly path: { readonly id: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: undefined;
  };
  /** List your passkeys. */
  "GET /api/account/passkeys": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: Passkeys;
  };
  /** Create a passkey from the browser's answer. */
  "POST /api/account/passkeys": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: {
      readonly credential: {
        readonly id: string;
        readonly rawId: string;
        readonly type: "public-key";
        readonly authenticatorAttachment?: string | null | undefined;
        readonly clientExtensionResults: Readonly<Record<string, unknown>>;
        readonly response: {
          readonly clientDataJSON: string;
          readonly attestationObject: string;
          readonly transports?: readonly string[] | undefined;
        };
      };
      readonly name?: string | undefined;
    };
    readonly result: Passkey;
  };
  /** Begin to create a passkey. */
  "POST /api/account/passkeys/begin": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: {
      readonly password?: string | undefined;
      /** Six digits of your authenticator app, or a recovery code. */
      readonly code?: string | undefined;
    };
    readonly result: Readonly<Record<string, unknown>>;
  };
  /** Rename a passkey. */
  "PATCH /api/account/passkeys/{id}": {
    readonly path: { readonly id: string };
    readonly query: undefined;
    readonly body: {
      readonly name: string;
    };
    readonly result: Passkey;
  };
  /** Remove a passkey. */
  "DELETE /api/account/passkeys/{id}": {
    readonly path: { readonly id: string };
    readonly query: undefined;
    readonly body: {
      readonly password?: string | undefined;
      /** Six digits of your authenticator app, or a recovery code. */
      readonly code?: string | undefined;
    };
    readonly result: undefined;
  };
  /** Begin to sign in with a passkey. */
  "POST /api/auth/passkey/begin": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: Readonly<Record<string, unknown>>;
  };
  /** Sign in with a passkey. */
  "POST /api/auth/passkey/finish": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: {
      readonly credential: {
        readonly id: string;
        readonly rawId: string;
        readonly type: "public-key";
        readonly authenticatorAttachment?: string | null | undefined;
        readonly clientExtensionResults: Readonly<Record<string, unknown>>;
        readonly response: {
          readonly clientDataJSON: string;
          readonly authenticatorData: string;
          readonly signature: string;
          readonly userHandle?: string | null | undefined;
        };
      };
      readonly remember?: boolean | undefined;
    };
    readonly result: SignInResult;
  };
  /** Complete a sign-in with a code of the second factor. */
  "POST /api/auth/second-factor": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: {
      readonly token: string;
      /** Six digits of your authenticator app, or a recovery code. */
      readonly code: string;
      /** Asks for no code here for 30 days. */
      readonly rememberDevice?: boolean | undefined;
    };
    readonly result: SignInResult;
  };
  /** Begin to sign in with your company. */
  "POST /api/auth/oidc/begin": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: {
      /** Fills in the provider's form. */
      readonly email?: string | undefined;
      readonly remember?: boolean | undefined;
      /** A path of this server to go to afterwards. */
      readonly returnTo?: string | undefined;
    };
    readonly result: OidcBegin;
  };
  /** Where the company's provider sends the browser back to. */
  "GET /api/auth/oidc/callback": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: undefined;
  };
  /** Share a link by email. */
  "POST /api/links/{id}/share": {
    readonly path: { readonly id: string };
    readonly query: undefined;
    readonly body: Share;
    readonly result: {
      readonly id: string;
      readonly state: "queued";
    };
  };
  /** Get the workspace of this call. */
  "GET /api/workspace": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: Workspace;
  };
  /** Rename the workspace. */
  "PATCH /api/workspace": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: WorkspaceChange;
    readonly result: Workspace;
  };
  /** Delete the workspace. */
  "DELETE /api/workspace": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: DeletedWorkspace;
  };
  /** Hand the workspace over to another member. */
  "PUT /api/workspace/owner": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: WorkspaceTransfer;
    readonly result: undefined;
  };
  /** Export the whole workspace. */
  "GET /api/workspace/export": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: Response;
  };
  /** List the members of the workspace. */
  "GET /api/members": {
    readonly path: undefined;
    readonly query: {
      readonly limit?: number | undefined;
      /** The `nextCursor` of the previous page. */
      readonly cursor?: string | undefined;
    };
    readonly body: undefined;
    readonly result: MemberPage;
  };
  /** Change the role of a member. */
  "PATCH /api/members/{person}": {
    readonly path: { readonly person: string };
    readonly query: undefined;
    readonly body: MemberChange;
    readonly result: Member;
  };
  /** Remove a person from the workspace. */
  "DELETE /api/members/{person}": {
    readonly path: { readonly person: string };
    readonly query: {
      /** What becomes of the API keys that the person created. Required if there are any that work. */
      readonly keys?: "keep" | "revoke" | undefined;
    };
    readonly body: undefined;
    readonly result: undefined;
  };
  /** List open invitations, newest first. */
  "GET /api/invitations": {
    readonly path: undefined;
    readonly query: {
      readonly limit?: number | undefined;
      /** The `nextCursor` of the previous page. */
      readonly cursor?: string | undefined;
    };
    readonly body: undefined;
    readonly result: InvitationPage;
  };
  /** Invite somebody to the workspace. */
  "POST /api/invitations": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: NewInvitation;
    readonly result: MadeInvitation;
  };
  /** Send an invitation again. */
  "POST /api/invitations/{id}/resend": {
    readonly path: { readonly id: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: MadeInvitation;
  };
  /** Revoke an invitation. */
  "DELETE /api/invitations/{id}": {
    readonly path: { readonly id: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: undefined;
  };
  /** What an invitation is for. */
  "GET /api/auth/invitations/{token}": {
    readonly path: { readonly token: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: ReceivedInvitation;
  };
  /** Accept an invitation with a new account. */
  "POST /api/auth/invitations/{token}/accept": {
    readonly path: { readonly token: string };
    readonly query: undefined;
    readonly body: NewMember;
    readonly result: JoinResult;
  };
  /** Accept an invitation. */
  "POST /api/account/invitations/{token}/accept": {
    readonly path: { readonly token: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: JoinedWorkspace;
  };
  /** Export everything that is stored about you. */
  "GET /api/account/export": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: AccountExport;
  };
  /** List your workspaces. */
  "GET /api/account/workspaces": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: OwnWorkspaces;
  };
  /** Create a workspace. */
  "POST /api/account/workspaces": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: NewWorkspace;
    readonly result: OwnWorkspace;
  };
  /** Switch to a workspace. */
  "PUT /api/account/workspace": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: WorkspaceChoice;
    readonly result: OwnWorkspace;
  };
  /** Leave a workspace. */
  "DELETE /api/account/workspaces/{workspace}": {
    readonly path: { readonly workspace: string };
    readonly query: {
      /** What becomes of the API keys that the person created. Required if there are any that work. */
      readonly keys?: "keep" | "revoke" | undefined;
    };
    readonly body: undefined;
    readonly result: undefined;
  };
  /** Restore a workspace that you deleted. */
  "POST /api/account/workspaces/{workspace}/restore": {
    readonly path: { readonly workspace: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: OwnWorkspace;
  };
  /** List and search people. */
  "GET /api/operator/people": {
    readonly path: undefined;
    readonly query: {
      readonly limit?: number | undefined;
      /** The `nextCursor` of the previous page. */
      readonly cursor?: string | undefined;
      /** Text that a name or address contains. */
      readonly search?: string | undefined;
    };
    readonly body: undefined;
    readonly result: PersonPage;
  };
  /** Get a person and their workspaces. */
  "GET /api/operator/people/{person}": {
    readonly path: { readonly person: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: PersonDetail;
  };
  /** Disable or enable an account, make or unmake an operator. */
  "PATCH /api/operator/people/{person}": {
    readonly path: { readonly person: string };
    readonly query: undefined;
    readonly body: PersonChange;
    readonly result: PersonAccount;
  };
  /** List and search workspaces. */
  "GET /api/operator/workspaces": {
    readonly path: undefined;
    readonly query: {
      readonly limit?: number | undefined;
      /** The `nextCursor` of the previous page. */
      readonly cursor?: string | undefined;
      /** Text that a name or address contains. */
      readonly search?: string | undefined;
    };
    readonly body: undefined;
    readonly result: OperatedWorkspacePage;
  };
  /** Get a workspace and what it uses. */
  "GET /api/operator/workspaces/{workspace}": {
    readonly path: { readonly workspace: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: OperatedWorkspaceDetail;
  };
  /** Change the plan, limits or name of a workspace. */
  "PATCH /api/operator/workspaces/{workspace}": {
    readonly path: { readonly workspace: string };
    readonly query: undefined;
    readonly body: OperatedWorkspaceChange;
    readonly result: OperatedWorkspace;
  };
  /** Delete a workspace. */
  "DELETE /api/operator/workspaces/{workspace}": {
    readonly path: { readonly workspace: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: OperatedWorkspace;
  };
  /** Suspend a workspace. */
  "PUT /api/operator/workspaces/{workspace}/suspension": {
    readonly path: { readonly workspace: string };
    readonly query: undefined;
    readonly body: Suspension;
    readonly result: OperatedWorkspace;
  };
  /** Resume a suspended workspace. */
  "DELETE /api/operator/workspaces/{workspace}/suspension": {
    readonly path: { readonly workspace: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: OperatedWorkspace;
  };
  /** Restore a deleted workspace. */
  "POST /api/operator/workspaces/{workspace}/restore": {
    readonly path: { readonly workspace: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: OperatedWorkspace;
  };
  /** List plans. */
  "GET /api/operator/plans": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: Plans;
  };
  /** Create or change a plan. */
  "PUT /api/operator/plans/{name}": {
    readonly path: { readonly name: string };
    readonly query: undefined;
    readonly body: PlanLimits;
    readonly result: Plan;
  };
  /** List reports of abuse, oldest first. */
  "GET /api/operator/abuse": {
    readonly path: undefined;
    readonly query: {
      readonly state?: "open" | "dismissed" | "suspended" | undefined;
    };
    readonly body: undefined;
    readonly result: AbuseReports;
  };
  /** Close a report without touching the link. */
  "POST /api/operator/abuse/{id}/dismiss": {
    readonly path: { readonly id: string };
    readonly query: undefined;
    readonly body: undefined;
    readonly result: undefined;
  };
  /** Suspend the reported link, and close all reports about it. */
  "POST /api/operator/abuse/{id}/suspend": {
    readonly path: { readonly id: string };
    readonly query: undefined;
    readonly body: ReportedSuspension;
    readonly result: ClosedReports;
  };
  /** Emails of all workspaces through the platform's mail server in the last hour. */
  "GET /api/operator/email": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: PlatformEmails;
  };
  /** Jobs that one server runs for all. */
  "GET /api/operator/jobs": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: Jobs;
  };
  /** What `quicklink doctor` and `/readyz` know. */
  "GET /api/operator/health": {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly result: Health;
  };
}
