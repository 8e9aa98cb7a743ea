import { fromIso, toIso } from "../base/clock.ts";
import { undisarm } from "./csv.ts";

/**
 * Detects the format of a file by the names of its columns or fields, and turns its rows into links. The formats of
 * other shorteners were checked against their sources; docs/import.md says where, and what was left out.
 *
 * Links from other shorteners do not expire unless the file says so: a year is our default for new links, and these are
 * in use.
 */
export interface ImportFormat {
  readonly name: FormatName;
  /** A file has this format if it has all of these columns. */
  readonly needs: readonly string[];
  /** The fields as the API takes them, plus `createdAt`, or the reason why the row cannot be imported. */
  readonly toLink: (fields: Fields) => Fields | string;
}

export const formatNames = ["quicklink", "shlink", "yourls", "kutt", "bitly"] as const;
export type FormatName = (typeof formatNames)[number];

/** A symbol, so that no column of a file has this name. */
export const pastClicks: unique symbol = Symbol("clicks in another shortener");

/** As the file has it. */
export interface PastClicks {
  readonly source: FormatName;
  readonly field: string;
  readonly clicks: unknown;
}

export type Fields = Readonly<Record<string, unknown>> & { readonly [pastClicks]?: PastClicks };

/** The columns of our own format. */
export const ownColumns = [
  ...(["domain", "code", "url", "file", "title", "notes", "tags", "status", "permanent"] as const),
  ...(["expiresAt", "fallbackUrl", "hitsPerMonth", "rules", "split", "utm", "forwardQuery"] as const),
  ...(["clickFacts", "password", "createdAt"] as const),
] as const;

/** The keyword for the server's own domain, whatever its name. An empty cell means the tenant's default domain. */
export const ownDomainWord = "own";

const shlink: ImportFormat = {
  name: "shlink",
  needs: ["longUrl", "shortCode"],
  toLink: ({ longUrl, shortCode, title, tags, createdAt, visits }) => ({
    ...given({ url: longUrl, code: shortCode, title, tags: split(tags, "|"), createdAt, expiresAt: null }),
    ...counted("shlink", "visits", visits),
  }),
};

/** Written by the plugin YOURLS-Import-Export. */
const yourlsPlugin: ImportFormat = {
  name: "yourls",
  needs: ["source", "target"],
  toLink: ({ source, target, hits }) => ({
    ...given({ url: target, code: String(source).replaceAll("/", ""), expiresAt: null }),
    ...counted("yourls", "hits", hits),
  }),
};

/** The table `yourls_url` itself. Its times have no time zone. */
const yourlsTable: ImportFormat = {
  name: "yourls",
  needs: ["keyword", "url"],
  toLink: ({ keyword, url, title, timestamp, clicks }) => ({
    ...given({
      url,
      code: keyword,
      title,
      createdAt: typeof timestamp === "string" && timestamp !== "" ? `${timestamp.replace(" ", "T")}Z` : undefined,
      expiresAt: null,
    }),
    ...counted("yourls", "clicks", clicks),
  }),
};

const kutt: ImportFormat = {
  name: "kutt",
  needs: ["address", "target"],
  toLink({ address, target, description, expire_in: expiresAt, created_at: createdAt, banned, password, visit_count }) {
    if (password === true) return "has a password, which Kutt does not export: create this link by hand";
    return {
      ...given({
        url: target,
        code: address,
        notes: description,
        createdAt,
        status: banned === true ? "disabled" : "active",
        expiresAt: expiresAt ?? null,
      }),
      ...counted("kutt", "visit_count", visit_count),
    };
  },
};

const bitly: ImportFormat = {
  name: "bitly",
  needs: ["long_url", "link"],
  toLink({ long_url: url, link, custom_bitlinks: custom, title, tags, created_at: createdAt }) {
    const spread = Array.isArray(custom) && typeof custom[0] === "string" ? custom[0] : link;
    return given({ url, code: lastPart(spread), title, tags, createdAt, expiresAt: null });
  },
};

/** Checked before our own format, which needs only `url` or `file`. */
export const formats: readonly ImportFormat[] = [
  shlink,
  yourlsPlugin,
  yourlsTable,
  kutt,
  bitly,
  { name: "quicklink", needs: ["url"], toLink: own },
  { name: "quicklink", needs: ["file"], toLink: own },
];

export function recognise(names: readonly string[], only?: FormatName): ImportFormat | undefined {
  return formats.find(
    (format) => (only === undefined || format.name === only) && format.needs.every((name) => names.includes(name)),
  );
}

export type OwnColumn = (typeof ownColumns)[number];

/** Where a file in our own format has a column, and how its cells are read. Undefined: as they are. */
export interface OwnPlace {
  readonly name: OwnColumn;
  readonly place: number;
  readonly read: ((text: string) => unknown) | undefined;
}

export const ownPlaces = (names: readonly string[]): OwnPlace[] =>
  ownColumns
    .map((name) => ({
      name,
      place: names.lastIndexOf(name),
      read: name === "tags" ? remembering(toTags) : cellReaders[name],
    }))
    .filter(({ place }) => place >= 0);

/** A CSV row in our own columns, as `own` returns it. Cells are text, and an empty cell counts as missing. */
export function ownCells(cells: readonly string[], places: readonly OwnPlace[]): Fields | string {
  const fields: Partial<Record<OwnColumn, unknown>> = {};
  for (const { name, place, read } of places) {
    const cell = cells[place] ?? "";
    if (cell === "") continue;
    const text = undisarm(cell);
    const value = read === undefined ? text : read(text);
    if (name === "password" && typeof value === "boolean") {
      if (value) return lostPassword;
    } else if (value !== undefined && value !== "") {
      fields[name] = value;
    }
  }
  return fields as Fields;
}

const toTags = (text: string) => (text.startsWith("[") ? fromJson(text) : split(text, ","));

/** Each keeps the piece of the file in memory that it is a part of. */
const rememberedMost = 100;

/** Many links of a file have the same tags, and reading those takes longer than the rest of a row. */
function remembering<Read>(read: (text: string) => Read): (text: string) => Read {
  const known = new Map<string, Read>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const now = read(text);
    if (known.size < rememberedMost) known.set(text, now);
    return now;
  };
}

const toFlag = (text: string) => flags[text.toLowerCase()] ?? text;

/** One function for each column, and not one for all: whatever runs often is compiled, and the time of that grows with its length. */
const cellReaders: { readonly [Name in OwnColumn]?: (text: string) => unknown } = {
  ...{ permanent: toFlag, forwardQuery: toFlag, clickFacts: toFlag },
  ...{ rules: fromJson, split: fromJson, utm: fromJson },
  hitsPerMonth: Number,
  expiresAt: (text) => (text === "never" ? null : toTime(text)),
  createdAt: toTime,
  domain: (text) => (text.trim().toLowerCase() === ownDomainWord ? null : text),
  // The mark that an export writes. Any other text is the password itself.
  password: (text) => (text === "true" || text === "false" ? text === "true" : text),
};

/** How often the link was clicked there. Our own format has no such field. */
const counted = (source: FormatName, field: string, clicks: unknown): Fields =>
  clicks === undefined || clicks === null || clicks === "" ? {} : { [pastClicks]: { source, field, clicks } };

const flags: Readonly<Record<string, boolean>> = {
  true: true,
  false: false,
  "1": true,
  "0": false,
  yes: true,
  no: false,
};

/** Fields that an export contains and an import cannot set. */
const passedOver = new Set([
  ...["record", "id", "shortUrl", "version", "updatedAt", "target", "suspended", "clicks", "lastClickAt"],
]);

function own(fields: Fields): Fields | string {
  // Without a password the link would be open to everyone.
  if (fields.password === true) return lostPassword;
  const { password, ...rest } = fields;
  return given(password === false ? rest : fields, passedOver);
}

const lostPassword =
  'password: Exports do not contain passwords. Replace "true" with a new password, or clear it to remove the protection.';

/**
 * Drops missing fields. Times are converted to one format. An invalid time is left as it is, and refused with the name
 * of its field.
 */
function given(fields: Fields, without: ReadonlySet<string> = nothing): Fields {
  const there: [string, unknown][] = [];
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (value === undefined || value === "" || without.has(name)) continue;
    there.push([name, typeof value === "string" && name.endsWith("At") ? toTime(value) : value]);
  }
  return Object.fromEntries(there);
}

const nothing: ReadonlySet<string> = new Set();

function toTime(text: string): string {
  // Some write "+0000" for "+00:00". A date alone means its first moment, and a time without an offset is in UTC,
  // whatever the time zone of this machine.
  const offset = /\d:\d\d(?::\d\d(?:\.\d+)?)?$/.test(text) && !/[+-]\d\d:\d\d$/.test(text) ? "Z" : "";
  const time = fromIso(text.replace(/([+-]\d\d)(\d\d)$/, "$1:$2") + offset);
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
