import { fromIso, toIso } from "../base/clock.ts";
import { undisarm } from "./csv.ts";

/**
 * Whose file it is, by the names of its columns or fields, and what its rows are as links. What others export was looked
 * up in their sources; docs/import.md says where, and what was left out.
 *
 * Links of others never expire unless they say so: a year is our default for new ones, and these are in use.
 */
export interface Format {
  readonly name: FormatName;
  /** The file is one of these if it has all of these names. */
  readonly needs: readonly string[];
  /** As they are sent to the API, with `createdAt`; or a sentence about why not. */
  readonly toLink: (fields: Fields) => Fields | string;
}

export const formatNames = ["quicklink", "shlink", "yourls", "kutt", "bitly"] as const;
export type FormatName = (typeof formatNames)[number];

export type Fields = Readonly<Record<string, unknown>>;

/** What a row of our own may have. */
export const ownColumns = [
  ...(["domain", "code", "url", "file", "title", "notes", "tags", "status", "permanent"] as const),
  ...(["expiresAt", "fallbackUrl", "hitsPerMonth", "rules", "split", "utm", "forwardQuery"] as const),
  ...(["password", "createdAt"] as const),
] as const;

/** In a cell: the server's own domain, whatever it is called. No cell at all is the tenant's default. */
export const ownDomainWord = "own";

const shlink: Format = {
  name: "shlink",
  needs: ["longUrl", "shortCode"],
  toLink: ({ longUrl, shortCode, title, tags, createdAt }) =>
    given({ url: longUrl, code: shortCode, title, tags: split(tags, "|"), createdAt, expiresAt: null }),
};

/** By the plugin YOURLS-Import-Export. */
const yourlsPlugin: Format = {
  name: "yourls",
  needs: ["source", "target"],
  toLink: ({ source, target }) => given({ url: target, code: String(source).replaceAll("/", ""), expiresAt: null }),
};

/** The table itself, `yourls_url`. Its times have no zone. */
const yourlsTable: Format = {
  name: "yourls",
  needs: ["keyword", "url"],
  toLink: ({ keyword, url, title, timestamp }) =>
    given({
      url,
      code: keyword,
      title,
      createdAt: typeof timestamp === "string" && timestamp !== "" ? `${timestamp.replace(" ", "T")}Z` : undefined,
      expiresAt: null,
    }),
};

const kutt: Format = {
  name: "kutt",
  needs: ["address", "target"],
  toLink({ address, target, description, expire_in: expiresAt, created_at: createdAt, banned, password }) {
    if (password === true) return "has a password, which Kutt does not export: create this link by hand";
    return given({
      url: target,
      code: address,
      notes: description,
      createdAt,
      status: banned === true ? "disabled" : "active",
      expiresAt: expiresAt ?? null,
    });
  },
};

const bitly: Format = {
  name: "bitly",
  needs: ["long_url", "link"],
  toLink({ long_url: url, link, custom_bitlinks: custom, title, tags, created_at: createdAt }) {
    const spread = Array.isArray(custom) && typeof custom[0] === "string" ? custom[0] : link;
    return given({ url, code: lastPart(spread), title, tags, createdAt, expiresAt: null });
  },
};

/** Told apart from ours first: ours only needs `url`, or `file`. */
export const formats: readonly Format[] = [
  shlink,
  yourlsPlugin,
  yourlsTable,
  kutt,
  bitly,
  { name: "quicklink", needs: ["url"], toLink: own },
  { name: "quicklink", needs: ["file"], toLink: own },
];

export function recognise(names: readonly string[], only?: FormatName): Format | undefined {
  return formats.find(
    (format) => (only === undefined || format.name === only) && format.needs.every((name) => names.includes(name)),
  );
}

/** A row of CSV in our own columns: cells are text, and an empty one is as good as none. */
export function ownCells(cells: Fields): Fields {
  const { tags, hitsPerMonth, expiresAt, domain, ...texts } = Object.fromEntries(
    ownColumns.map((name) => [name, undisarm(String(cells[name] ?? ""))]),
  );
  const flag = (text = ""): unknown => flags[text.toLowerCase()] ?? text;
  return given({
    ...texts,
    tags: tags?.startsWith("[") ? fromJson(tags) : split(tags, ","),
    permanent: flag(texts.permanent),
    forwardQuery: flag(texts.forwardQuery),
    hitsPerMonth: hitsPerMonth === "" ? undefined : Number(hitsPerMonth),
    expiresAt: expiresAt === "never" ? null : expiresAt,
    domain: domain?.trim().toLowerCase() === ownDomainWord ? null : domain,
    ...Object.fromEntries(inJson.map((name) => [name, texts[name] === "" ? undefined : fromJson(texts[name] ?? "")])),
    // As an export marks it; any other text is a password itself.
    password: ({ true: true, false: false } as Fields)[texts.password ?? ""] ?? texts.password,
  });
}

const inJson = ["rules", "split", "utm"] as const;

const flags: Readonly<Record<string, boolean>> = {
  true: true,
  false: false,
  "1": true,
  "0": false,
  yes: true,
  no: false,
};

/** What a link of ours says besides, which nobody can choose for another. */
const passedOver = new Set(["id", "shortUrl", "version", "updatedAt", "target", "suspended"]);

function own({ domain, password, ...fields }: Fields): Fields | string {
  // Without it the link would be open to all.
  if (password === true) return lostPassword;
  return {
    ...given(Object.fromEntries(Object.entries(fields).filter(([name]) => !passedOver.has(name)))),
    ...(password !== false && given({ password })),
    ...(domain === null ? { domain } : given({ domain })),
  };
}

const lostPassword =
  'password: Exports do not contain passwords. Replace "true" with a new password, or clear it to remove the protection.';

/** Without what is not there. Times are brought to one form; what is none stays as it is, and is refused by name. */
function given(fields: Fields): Fields {
  const there = Object.entries(fields).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(
    there.map(([name, value]) => [name, name.endsWith("At") && typeof value === "string" ? toTime(value) : value]),
  );
}

function toTime(text: string): string {
  // "+0000" is how some write "+00:00"; a day alone is its beginning.
  const time = fromIso(text.replace(/([+-]\d\d)(\d\d)$/, "$1:$2"));
  return Number.isNaN(time) || !/^\d{4}-/.test(text) ? text : toIso(time);
}

function split(text: unknown, by: string): string[] | undefined {
  const parts = typeof text === "string" ? text.split(by).map((part) => part.trim()) : [];
  const some = [...new Set(parts.filter((part) => part !== ""))];
  return some.length > 0 ? some : undefined;
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

const lastPart = (address: unknown): string =>
  typeof address === "string" ? (address.split(/[?#]/)[0]?.split("/").at(-1) ?? "") : "";
