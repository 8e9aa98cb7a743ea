import { fromIso } from "../base/clock.ts";
import { parseId } from "../base/ids.ts";
import { pageParams, pageSchema } from "../http/pages.ts";
import { line, lines, problemSchema, z } from "../http/route.ts";
import { destinationMost } from "./destination.ts";
import { linkSorts } from "./read/find.ts";
import { choiceFields } from "./routing/choice-schema.ts";

/** Links as JSON: what may be sent about one, and what is answered. */
const destination = z.string().max(destinationMost + 1_000, "is far too long");

const fileId = z
  .string()
  .max(100)
  .refine((text) => parseId("file", text) !== undefined, {
    message: "is no file's id",
    params: { code: "unknown_file" },
  });

const fields = {
  url: destination
    .nullable()
    .openapi({ description: "Where the link leads: http or https, at most 2,048 characters." }),
  file: fileId.nullable().openapi({ description: "Instead of `url`: the stored file that the link leads to." }),
  permanent: z
    .boolean()
    .openapi({ description: "Answer 301 instead of 302. Browsers then remember it for 90 seconds." }),
  status: z.enum(["active", "disabled"]),
  expiresAt: z.iso.datetime({ offset: true }).nullable().openapi({ description: "Null: never. Left out: in a year." }),
  title: line(200).nullable(),
  notes: lines(2_000).nullable(),
  tags: z
    .array(line(50))
    .max(20)
    .refine((tags) => new Set(tags).size === tags.length, {
      message: "has a tag twice",
      params: { code: "duplicate" },
    }),
  fallbackUrl: destination.nullable().openapi({ description: "Where visitors go when the link is expired or spent." }),
  hitsPerMonth: z.int().min(1).max(1_000_000_000).nullable().openapi({ description: "Null: what the plan gives." }),
  ...choiceFields,
  password: z
    .string()
    .max(200)
    .refine(isLongEnough, {
      message: "must have at least 8 characters, or at least 6 if all of them are digits",
      params: { code: "too_short" },
    })
    .refine((text) => text.isWellFormed(), { message: "is not valid Unicode", params: { code: "bad_unicode" } })
    .nullable()
    .openapi({
      description:
        "Asked of every visitor: at least 8 characters, or at least 6 if all of them are digits. Never shown again; null takes it away, leaving it out keeps it.",
      minLength: 6,
    }),
};

/**
 * Six digits are a million, which 50 tries an hour go through in two years. A password that is stored already is never held
 * against this: only one that is set.
 */
function isLongEnough(password: string): boolean {
  return [...password.slice(0, 32)].length >= 8 || /^\d{6,7}$/.test(password);
}

const fetchTitle = z.boolean().optional().openapi({
  description: "If it has no title, take the one of the page that it leads to: soon after, if the operator allows it.",
});

const writable = { ...z.object(fields).partial().shape, fetchTitle };

interface Destined {
  readonly url?: string | null | undefined;
  readonly file?: string | null | undefined;
}

type Refine = (value: Destined, context: z.core.$RefinementCtx<Destined>) => void;

/** A link leads to an address or to a file. */
const oneDestination: Refine = ({ url, file }, { addIssue }) => {
  if (url && file) {
    const message = "is given besides url; a link leads to one of them";
    addIssue({ code: "custom", path: ["file"], message, params: { code: "url_and_file" } });
  } else if (url == null && file == null) {
    addIssue({ code: "custom", path: ["url"], message: "This is needed.", params: { code: "required" } });
  }
};

/** The same for a change, which may leave both as they are. */
const oneDestinationIfAny: Refine = (value, context) => {
  if (value.url !== undefined || value.file !== undefined) oneDestination(value, context);
};

export const createSchema = z
  .strictObject({
    ...writable,
    code: z.string().max(100).optional().openapi({
      description: "3 to 64 letters, digits, - and _; case matters. Left out: seven characters are generated.",
    }),
    domain: z.string().max(300).nullable().optional().openapi({
      description: "One of your verified domains. Null: the server's own. Left out: your default domain.",
    }),
    private: z.boolean().optional().openapi({
      description: "Twelve characters of chance instead of seven, which nobody finds by trying.",
    }),
  })
  .superRefine(oneDestination)
  .openapi("NewLink", { example: { url: "https://example.com/a/long/page" } });
export const bulkElementSchema = createSchema.refine(({ password }) => password === undefined || password === null, {
  path: ["password"],
  message: "Links with a password are made one by one.",
  params: { code: "not_in_bulk" },
});
export const replaceSchema = z
  .strictObject(writable)
  .superRefine(oneDestination)
  .openapi("LinkReplacement", { example: { url: "https://example.com/new", tags: ["spring"] } });
export const patchSchema = z
  .strictObject(writable)
  .superRefine(oneDestinationIfAny)
  .openapi("LinkPatch", { example: { title: "The spring campaign" } });

const targetSchema = z
  .object({
    state: z.enum(["ok", "failing", "dead", "unchecked"]).openapi({
      description: "`dead`: failing for days. `unchecked`: this server does not ask there, `reason` says why.",
    }),
    checkedAt: z.string(),
    httpStatus: z.int().nullable(),
    reason: z.string().nullable(),
  })
  .openapi("LinkTarget");

export const linkSchema = z
  .object({
    id: z.string(),
    domain: z.string(),
    code: z.string(),
    shortUrl: z.string(),
    url: z.string().nullable().openapi({ description: "Null when it leads to a file." }),
    file: z.string().nullable().openapi({ description: "Null when it leads to an address." }),
    permanent: z.boolean(),
    status: z.enum(["active", "disabled"]),
    expiresAt: z.string().nullable(),
    title: z.string().nullable(),
    notes: z.string().nullable(),
    tags: z.array(z.string()),
    fallbackUrl: z.string().nullable(),
    hitsPerMonth: z.int().nullable(),
    ...choiceFields,
    password: z.boolean().openapi({ description: "Whether visitors are asked for one." }),
    // Not `nullable()`, which would make the object of that name nullable wherever it is meant.
    target: z
      .union([targetSchema, z.null()])
      .openapi({ description: "What was last found there. Null: nobody looked yet." }),
    suspended: z
      .string()
      .nullable()
      .openapi({ description: "Why the operator stopped it; it answers 451 until then." }),
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
    message: `names a field that a link does not have; there are ${fieldNames.join(", ")}`,
    params: { code: "unknown_field" },
  })
  .optional()
  .openapi({
    type: "string",
    description: "Only these fields of each link, with commas between: `id,code,url`.",
    example: "id,code,url",
  });

const moment = z.iso.datetime({ offset: true }).transform(fromIso).optional();
const someTags = z.array(z.string().min(1).max(50)).max(10);

export const listSchema = z.strictObject({
  ...pageParams,
  sort: z.enum(linkSorts).default("createdAt"),
  order: z.enum(["asc", "desc"]).default("desc"),
  tag: z
    .preprocess((given) => (typeof given === "string" ? [given] : given), someTags)
    .optional()
    .openapi({
      type: "array",
      items: { type: "string" },
      description: "Links with this tag; give it several times for several, at most 10.",
    }),
  match: z.enum(["all", "any"]).default("all").openapi({ description: "Whether a link must have all of the tags." }),
  status: z.enum(["active", "disabled"]).optional(),
  domain: z.string().max(300).optional().openapi({ description: "One of your domains, or the server's own." }),
  file: fileId.optional().openapi({ description: "Links that lead to this file." }),
  createdAfter: moment.openapi({ type: "string", format: "date-time" }),
  createdBefore: moment.openapi({ type: "string", format: "date-time" }),
  expiresBefore: moment.openapi({ type: "string", format: "date-time" }),
  search: line(100).optional().openapi({
    description: "Is in the code, address, title, notes or tags. Capital and small A to Z are the same.",
  }),
  fields: fieldsParam,
});

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
    atomic: z.boolean().default(false).openapi({ description: "All or nothing: one bad element, and none is made." }),
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
  "if-match": z.string().optional().openapi({ description: 'The version you saw, as in the ETag: "3".' }),
});
