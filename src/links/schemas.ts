import { fromIso, toIso } from "../base/clock.ts";
import { parseId } from "../base/ids.ts";
import { pageParams, pageSchema } from "../http/pagination.ts";
import { invalidInput } from "../http/problem.ts";
import { multiLine, problemSchema, singleLine, z } from "../http/route.ts";
import { monthName } from "../limits/window.ts";
import type { Limits } from "../tenants/tenants.ts";
import { destinationMost } from "./destination.ts";
import { type Link, type LinkFields, type LinkState, shortUrl, shownHost, stateless } from "./link.ts";
import type { LinkChange, LinkInput } from "./links.ts";
import { linkTagMost, linkTagsMost, linkTitleMost, readPlainLink, sentCodeMost } from "./plain-link.ts";
import { linkSorts } from "./read/find.ts";
import { listedStates } from "./read/listed-state.ts";
import { choiceFields, choiceFromInput, showChoice } from "./routing/choice-schema.ts";

/** Links as JSON: what may be sent, what is returned, and how both become links and back. */
const destination = z.string().max(destinationMost + 1_000, "Too long.");

const fileId = z
  .string()
  .max(100)
  .refine((text) => parseId("file", text) !== undefined, {
    message: "Must be a file ID.",
    params: { code: "unknown_file" },
  });

export const visitorPassword = z
  .string()
  .max(200)
  .refine(isLongEnough, {
    message: "Must have at least 8 characters, or at least 6 if all are digits.",
    params: { code: "too_short" },
  })
  .refine((text) => text.isWellFormed(), { message: "Must be valid Unicode.", params: { code: "bad_unicode" } })
  .nullable()
  .openapi({
    description:
      "Required of every visitor. At least 8 characters, or at least 6 if all are digits. Never returned. Null removes it; omit it to keep it.",
    minLength: 6,
  });

const fields = {
  url: destination.nullable().openapi({ description: "Destination URL: http or https, at most 2,048 characters." }),
  file: fileId.nullable().openapi({ description: "Instead of `url`: the ID of an uploaded file." }),
  permanent: z
    .boolean()
    .openapi({ description: "Redirect with 301 instead of 302. Browsers cache it for 90 seconds." }),
  status: z.enum(["active", "disabled"]),
  expiresAt: z.iso.datetime({ offset: true }).nullable().openapi({ description: "Null: never. Default: in one year." }),
  title: singleLine(linkTitleMost).nullable(),
  notes: multiLine(2_000).nullable(),
  tags: z
    .array(singleLine(linkTagMost))
    .max(linkTagsMost)
    .refine((tags) => new Set(tags).size === tags.length, {
      message: "Must not contain duplicates.",
      params: { code: "duplicate" },
    }),
  fallbackUrl: destination
    .nullable()
    .openapi({ description: "Where visitors go when the link has expired or used its hits." }),
  hitsPerMonth: z.int().min(1).max(1_000_000_000).nullable().openapi({ description: "Null: the plan's limit." }),
  clickFacts: z.boolean().openapi({
    description: "Record facts about visitors, such as country and browser, with the link's clicks. Default: true.",
  }),
  ...choiceFields,
  password: visitorPassword,
};

/**
 * Six digits are a million, which 50 attempts an hour exhaust in two years. Applies only when a password is set, never
 * to a stored one.
 */
function isLongEnough(password: string): boolean {
  return [...password.slice(0, 32)].length >= 8 || /^\d{6,7}$/.test(password);
}

const fetchTitle = z.boolean().optional().openapi({
  description:
    "If the link has no title, fetch it from the destination page shortly afterwards, if the operator allows it.",
});

const writable = { ...z.object(fields).partial().shape, fetchTitle };

interface Destined {
  readonly url?: string | null | undefined;
  readonly file?: string | null | undefined;
}

type Refine = (value: Destined, context: z.core.$RefinementCtx<Destined>) => void;

/** A link leads to a URL or to a file. */
const oneDestination: Refine = ({ url, file }, { addIssue }) => {
  if (url && file) {
    const message = "Give either url or file, not both.";
    addIssue({ code: "custom", path: ["file"], message, params: { code: "url_and_file" } });
  } else if (url == null && file == null) {
    addIssue({ code: "custom", path: ["url"], message: "Required.", params: { code: "required" } });
  }
};

/** The same for a change, which may leave both unchanged. */
const oneDestinationIfAny: Refine = (value, context) => {
  if (value.url !== undefined || value.file !== undefined) oneDestination(value, context);
};

export const createSchema = z
  .strictObject({
    ...writable,
    code: z.string().max(sentCodeMost).optional().openapi({
      description: "3 to 64 letters, digits, - and _; case-sensitive. Default: seven generated characters.",
    }),
    domain: z.string().max(300).nullable().optional().openapi({
      description: "One of your verified domains. Null: the server's domain. Default: your default domain.",
    }),
    private: z.boolean().optional().openapi({
      description: "Generate twelve random characters instead of seven, so that the code is hard to guess.",
    }),
  })
  .superRefine(oneDestination)
  .openapi("NewLink", { example: { url: "https://example.com/a/long/page" } });
export const bulkElementSchema = createSchema.refine(({ password }) => password === undefined || password === null, {
  path: ["password"],
  message: "Links with a password can only be created one at a time.",
  params: { code: "not_in_bulk" },
});
export const replaceSchema = z
  .strictObject(writable)
  .superRefine(oneDestination)
  .openapi("LinkReplacement", { example: { url: "https://example.com/new", tags: ["spring"] } });
export const patchSchema = z
  .strictObject(writable)
  .superRefine(oneDestinationIfAny)
  .openapi("LinkPatch", { example: { title: "Spring campaign" } });

const targetSchema = z
  .object({
    state: z.enum(["ok", "failing", "dead", "unchecked"]).openapi({
      description: "`dead`: failing for days. `unchecked`: not checked; see `reason`.",
    }),
    checkedAt: z.string(),
    httpStatus: z.int().nullable(),
    reason: z.string().nullable(),
    responseMs: z.int().nullable().openapi({ description: "Until the answer was read. Null: there was none." }),
    failingSince: z
      .string()
      .nullable()
      .openapi({ description: "When a failing or dead destination was first seen to fail. Null: not known." }),
  })
  .openapi("LinkTarget");

export const linkSchema = z
  .object({
    id: z.string(),
    domain: z.string(),
    code: z.string(),
    shortUrl: z.string(),
    url: z.string().nullable().openapi({ description: "Null if the link serves a file." }),
    file: z.string().nullable().openapi({ description: "Null if the link redirects to a URL." }),
    fileName: z.string().nullable().openapi({ description: "The name of `file`." }),
    permanent: z.boolean(),
    status: z.enum(["active", "disabled"]),
    expiresAt: z.string().nullable(),
    title: z.string().nullable(),
    notes: z.string().nullable(),
    tags: z.array(z.string()),
    fallbackUrl: z.string().nullable(),
    hitsPerMonth: z.int().nullable(),
    clickFacts: z.boolean(),
    ...choiceFields,
    password: z.boolean().openapi({ description: "Whether visitors need a password." }),
    // Not `nullable()`, which would make the named object nullable everywhere.
    target: z
      .union([targetSchema, z.null()])
      .openapi({ description: "Result of the last destination check. Null: not checked yet." }),
    suspended: z
      .string()
      .nullable()
      .openapi({ description: "Why the operator suspended the link; until restored, it answers 451." }),
    clicks: z
      .int()
      .openapi({ description: "Clicks that count, since the link was created. See `/api/links/{id}/stats`." }),
    lastClickAt: z.string().nullable(),
    hitsUsed: z.int().openapi({ description: "Hits of this month that count towards the limit." }),
    hitsLimit: z
      .int()
      .nullable()
      .openapi({ description: "Hits allowed a month: `hitsPerMonth` within the limit of your plan. Null: no limit." }),
    version: z.int(),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .openapi("Link");

export const linkPageSchema = pageSchema(linkSchema, "LinkPage");

const fieldNames = Object.keys(linkSchema.shape);

export const fieldsParam = z
  .string()
  .max(500)
  .transform((text) => text.split(","))
  .refine((names) => names.every((name) => fieldNames.includes(name)), {
    message: `Unknown link field. Fields: ${fieldNames.join(", ")}`,
    params: { code: "unknown_field" },
  })
  .optional()
  .openapi({
    type: "string",
    description: "Return only these fields of each link, comma separated: `id,code,url`.",
    example: "id,code,url",
  });

export const stateHelp =
  "`active`: neither expired nor disabled. `attention`: active, and suspended, or with a dead destination, or with at least 80% of the monthly hits used.";

const moment = z.iso.datetime({ offset: true }).transform(fromIso).optional();
const someTags = z.array(z.string().min(1).max(50)).max(10);

const yesOrNo = z
  .enum(["true", "false"])
  .transform((text) => text === "true")
  .optional();

/** Every filter of a list but the state. */
const filterParams = {
  tag: z
    .preprocess((given) => (typeof given === "string" ? [given] : given), someTags)
    .optional()
    .openapi({
      type: "array",
      items: { type: "string" },
      description: "Only links with this tag; repeat the parameter for several tags, at most 10.",
    }),
  match: z
    .enum(["all", "any"])
    .default("all")
    .openapi({ description: "Whether a link must have all of the tags, or any of them." }),
  status: z.enum(["active", "disabled"]).optional(),
  domain: z
    .preprocess(
      (given) => (typeof given === "string" ? [given] : given),
      z
        .array(z.string())
        .max(20)
        .refine((hosts) => hosts.every((host) => host.length <= 300), {
          message: "Too long.",
          params: { code: "too_long" },
        }),
    )
    .optional()
    .openapi({
      type: "array",
      items: { type: "string" },
      description: "One of your domains, or the server's domain; repeat the parameter for several, at most 20.",
    }),
  file: fileId.optional().openapi({ description: "Only links to this file." }),
  createdAfter: moment.openapi({ type: "string", format: "date-time" }),
  createdBefore: moment.openapi({ type: "string", format: "date-time" }),
  expiresBefore: moment.openapi({ type: "string", format: "date-time" }),
  password: yesOrNo.openapi({ type: "boolean", description: "Whether visitors need a password." }),
  hasRules: yesOrNo.openapi({ type: "boolean", description: "Whether the link has routing rules or an A/B split." }),
  search: singleLine(100).optional().openapi({
    description: "Substring of the code, URL, title, notes or tags. Case-insensitive for A to Z.",
  }),
};

export const countSchema = z.strictObject(filterParams);

export const listSchema = z.strictObject({
  ...pageParams,
  sort: z.enum(linkSorts).default("createdAt"),
  order: z.enum(["asc", "desc"]).default("desc"),
  state: z.enum(listedStates).optional().openapi({ description: stateHelp }),
  ...filterParams,
  fields: fieldsParam,
});

/** All that match, instead of a page of them. */
export const exportSchema = listSchema.omit({ limit: true, cursor: true, fields: true });

/** The filters and the order of a request, as a query without its page. */
export function toLinkQuery(
  { sort, order, state, ...filters }: z.infer<typeof exportSchema>,
  { hitsPerLinkPerMonth }: Limits,
  now: number,
  domainOf: (text: string) => string,
) {
  return {
    ...{ sort, order },
    ...toLinkFilter(filters, domainOf),
    month: sort === "hitsUsed" ? monthName(now) : undefined,
    state: state && { is: state, now, hitsAllowed: hitsPerLinkPerMonth },
  };
}

/** The filters of a request, as a query. */
export function toLinkFilter(
  { tag, domain, file, ...rest }: z.infer<typeof countSchema>,
  domainOf: (text: string) => string,
) {
  return {
    ...rest,
    tags: tag,
    domains: domain?.map(domainOf),
    file: file === undefined ? undefined : parseId("file", file),
  };
}

const bulkMost = 1_000;
export const bulkSchema = z
  .strictObject({
    links: z
      .array(z.unknown())
      .min(1)
      .max(bulkMost)
      .openapi({
        description: "1 to 1,000 elements, each as in POST /api/links, but without `password`.",
        items: { $ref: "#/components/schemas/NewLink" },
      }),
    atomic: z
      .boolean()
      .default(false)
      .openapi({ description: "All or nothing: if one element is invalid, none is created." }),
  })
  .openapi("BulkLinks", {
    example: { links: [{ url: "https://example.com/1" }, { url: "https://example.com/2" }] },
  });
export const bulkResultSchema = z
  .object({
    created: z.int(),
    failed: z.int(),
    results: z.array(z.object({ index: z.int(), link: linkSchema.optional(), problem: problemSchema.optional() })),
  })
  .openapi("BulkResult");

export const idParam = z.object({ id: z.string().openapi({ example: "lnk_01k9a0b1c2d3e4f5g6h7j8k9m0" }) });
export const ifMatch = z.object({
  "if-match": z.string().optional().openapi({ description: 'The version you read, as in the ETag: "3".' }),
});

/** A link as the API and the command line show it. */
export function showLink(
  link: Link,
  baseUrl: string,
  { target, suspended, clicks, lastClickAt, hitsUsed, hitsLimit, fileName }: LinkState = stateless,
) {
  const { tenantId: _, url, expiresAt, createdAt, updatedAt, ...rest } = link;
  return {
    ...rest,
    url: link.file === null ? url : null,
    domain: shownHost(baseUrl, link.domain),
    shortUrl: shortUrl(baseUrl, link),
    tags: [...link.tags],
    ...showChoice(link),
    expiresAt: expiresAt === null ? null : toIso(expiresAt),
    target: target && {
      ...target,
      checkedAt: toIso(target.checkedAt),
      failingSince: target.failingSince === null ? null : toIso(target.failingSince),
    },
    suspended,
    clicks,
    lastClickAt: lastClickAt === null ? null : toIso(lastClickAt),
    ...{ hitsUsed, hitsLimit, fileName },
    createdAt: toIso(createdAt),
    updatedAt: toIso(updatedAt),
  };
}

/** The same validation for callers outside HTTP. */
export function parseNewLink(sent: unknown): LinkInput {
  const plain = readPlainLink(sent);
  if (plain !== undefined) return plain;
  const parsed = createSchema.safeParse(sent);
  if (!parsed.success) throw invalidInput(parsed.error, "link");
  return toInput(parsed.data);
}

export function parseLinkChange(sent: unknown): LinkChange {
  const parsed = patchSchema.safeParse(sent);
  if (!parsed.success) throw invalidInput(parsed.error, "link");
  return toFields(parsed.data);
}

type Sent = z.infer<typeof patchSchema>;

export function toFields(sent: Sent): LinkChange {
  const { expiresAt, url, file, rules, split, utm, forwardQuery, fetchTitle: _, ...rest } = sent;
  const fields = {
    ...present(rest),
    ...destinationOf(url, file),
    ...choiceFromInput({ rules, split, utm, forwardQuery }),
  };
  return expiresAt === undefined ? fields : { ...fields, expiresAt: expiresAt === null ? null : fromIso(expiresAt) };
}

/** Without the fields that are undefined. Their names are those of the schema. */
function present(fields: Record<string, unknown>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const name in fields) if (fields[name] !== undefined) kept[name] = fields[name];
  return kept;
}

export function toInput(sent: z.infer<typeof createSchema>): LinkInput {
  const { code, domain, private: hidden, ...rest } = sent;
  return {
    ...toFields(rest),
    ...(code !== undefined && { code }),
    ...(domain !== undefined && { domain }),
    ...(hidden && { private: true }),
  };
}

/** The same, and quickly for a plain one. */
export const toNewLink = (sent: z.infer<typeof createSchema>): LinkInput => readPlainLink(sent) ?? toInput(sent);

/** Omitted fields stay; otherwise one replaces the other. */
function destinationOf(url: string | null | undefined, file: string | null | undefined): Partial<LinkFields> {
  if (url === undefined && file === undefined) return {};
  const id = file == null ? undefined : parseId("file", file);
  return id === undefined ? { url: url ?? "", file: null } : { url: "", file: id };
}
