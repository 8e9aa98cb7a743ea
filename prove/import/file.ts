/**
 * A file of many links, and what each of them must be in the database. Both are written here, from the same values and
 * without the program's own code: times are written in every form that an import takes, tags as text and as JSON, and
 * every tenth link has all other fields.
 */
import { closeSync, openSync, writeSync } from "node:fs";
import type { Selectable } from "kysely";
import type { LinkTable } from "../../src/sql/schema.ts";

export type LinkRow = Omit<Selectable<LinkTable>, "id" | "tenant_id" | "password_hash" | "updated_at">;

/** What a field must be: a value, or a condition if the program chooses the value. */
type Wanted = { readonly [Field in keyof LinkRow]: LinkRow[Field] | ((value: unknown) => boolean) };

export const customDomain = "links.example.com";

const dayMs = 86_400_000;
const linesAtOnce = 10_000;
const prefix = "https://example.com/imported/";
const passwordEvery = 50_000;
const passwordAt = 25;
/** The day on which the oldest link of the file was created, and the one on which the first of them expires. */
const [createdFrom, expiresFrom] = [Date.UTC(2019, 0, 31), Date.UTC(2031, 0, 31)];
const defaultMs = 365 * dayMs;

const columns = [
  ...(["url", "code", "domain", "title", "notes", "tags", "status", "permanent", "expiresAt", "createdAt"] as const),
  ...(["fallbackUrl", "hitsPerMonth", "rules", "split", "utm", "forwardQuery", "clickFacts", "password"] as const),
];

type Cells = Partial<Record<(typeof columns)[number], string>>;

export function writeLinks(path: string, links: number): void {
  const file = openSync(path, "w");
  writeSync(file, `${columns.join(",")}\n`);
  for (let start = 0; start < links; start += linesAtOnce) {
    const lines = Array.from({ length: Math.min(linesAtOnce, links - start) }, (_, n) => lineOf(start + n));
    writeSync(file, lines.join(""));
  }
  closeSync(file);
}

/** The number of the row that has this URL. */
export function numberOf(url: string): number | undefined {
  const found = url.startsWith(prefix) ? /^(\d+)\?/.exec(url.slice(prefix.length))?.[1] : undefined;
  return found === undefined ? undefined : Number(found);
}

export const urlOf = (i: number): string => `${prefix}${i}?from=newsletter&n=${i % 7}`;

/** Few, because hashing one takes as long as importing a thousand rows. */
export const passwordOf = (i: number): string | undefined =>
  i % passwordEvery === passwordAt ? `open sesame ${i}` : undefined;

/** Whether it leads every visitor to its URL. */
export const isPlain = (i: number): boolean => !isFull(i) && passwordOf(i) === undefined;

const isFull = (i: number): boolean => i % 10 === 0;

/** How many fields of a row were compared, and those that are not as the file says. `made` is when the import ran. */
export function differences(i: number, row: LinkRow, made: Made): { compared: number; differ: string[] } {
  const fields = Object.entries(wantedOf(i, made));
  const differ = fields.filter(([field, wanted]) => {
    const value = row[field as keyof LinkRow];
    return typeof wanted === "function" ? !wanted(value) : value !== wanted;
  });
  return { compared: fields.length, differ: differ.map(([field]) => field) };
}

export interface Made {
  readonly from: number;
  readonly until: number;
}

function lineOf(i: number): string {
  const cells: Cells = {
    ...{ url: urlOf(i), code: codeOf(i) ?? "", title: cellOfTitle(i), tags: cellOfTags(i), domain: domainCell(i) },
    ...{ createdAt: createdOf(i).cell, expiresAt: expiresOf(i).cell, password: passwordOf(i) ?? "" },
    ...(isFull(i) && fullOf(i).cells),
  };
  return `${columns.map((name) => quoted(cells[name] ?? "")).join(",")}\n`;
}

const quoted = (cell: string): string => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

function wantedOf(i: number, made: Made): Wanted {
  const [created, expires] = [createdOf(i).ms, expiresOf(i).ms];
  const within = (addMs: number) => (value: unknown) =>
    typeof value === "number" && value >= made.from + addMs && value <= made.until + addMs;
  return {
    url: urlOf(i),
    code: codeOf(i) ?? isGenerated,
    domain: isFull(i) && i % 30 === 0 ? customDomain : "",
    title: titleOf(i),
    tags: (value) => value === JSON.stringify(tagsOf(i)),
    created_at: created ?? within(0),
    expires_at: expires === undefined ? within(defaultMs) : expires,
    number: isAssigned,
    ...{ made_by_kind: "command", made_by: null },
    ...plain,
    ...(isFull(i) && fullOf(i).wanted),
  };
}

const isGenerated = (value: unknown): boolean => typeof value === "string" && /^[0-9A-Za-z]{7}$/.test(value);

/** By the database. */
const isAssigned = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0;

const plain = {
  notes: null,
  status: "active",
  permanent: 0,
  file_id: null,
  fallback_url: null,
  hits_per_month: null,
  rules: null,
  split: null,
  utm: null,
  forward_query: 0,
  facts: 1,
} as const;

const codeOf = (i: number): string | undefined => (i % 2 === 0 ? `import-${i}` : undefined);

function titleOf(i: number): string | null {
  if (i % 7 === 3) return null;
  return [`Landing page, ${i}`, `"Sale" no. ${i}: 50 €, naïve 😀`, `=SUM(${i})`][i % 3] ?? null;
}

/** A text that looks like a formula has an apostrophe in the file. */
function cellOfTitle(i: number): string {
  const title = titleOf(i) ?? "";
  return title.startsWith("=") ? `'${title}` : title;
}

const tagsOf = (i: number): readonly string[] =>
  [["import", `campaign ${i % 100}`], [`a, b ${i % 100}`, "c"], []][i % 3] ?? [];

const cellOfTags = (i: number): string => [tagsOf(i).join(", "), JSON.stringify(tagsOf(i)), ""][i % 3] ?? "";

const domainCell = (i: number): string => (isFull(i) ? (i % 30 === 0 ? customDomain : "own") : "");

interface Time {
  readonly cell: string;
  /** `undefined`: the program chooses. */
  readonly ms: number | null | undefined;
}

function createdOf(i: number): Time {
  const ms = createdFrom + (i % 2_000) * dayMs;
  const precise = ms + (i % 86_399) * 1_000 + (i % 1_000);
  if (i % 4 === 0) return { cell: utc(precise), ms: precise };
  if (i % 4 === 1) return { cell: kathmandu(precise), ms: precise };
  return i % 4 === 2 ? { cell: utc(ms).slice(0, 10), ms } : { cell: "", ms: undefined };
}

function expiresOf(i: number): Time {
  const ms = expiresFrom + (i % 2_000) * dayMs;
  const precise = ms + (i % 86_397) * 1_000;
  if (i % 5 === 0) return { cell: utc(precise), ms: precise };
  if (i % 5 === 1) return { cell: utc(ms).slice(0, 10), ms };
  if (i % 10 === 2) return { cell: utc(precise).replace(".000Z", "+0000"), ms: precise };
  if (i % 10 === 7) return { cell: utc(precise).replace(".000Z", ""), ms: precise };
  return i % 5 === 3 ? { cell: "never", ms: null } : { cell: "", ms: undefined };
}

const utc = (ms: number): string => new Date(ms).toISOString();

/** The same moment, at +05:45. */
const kathmandu = (ms: number): string => utc(ms + 345 * 60_000).replace("Z", "+05:45");

/** All other fields. */
function fullOf(i: number): { cells: Cells; wanted: Partial<Wanted> } {
  const notes = `First line of ${i}\nand "a second", with a comma`;
  const disabled = i % 20 === 0;
  const rule = { when: { country: ["DE"], device: ["mobile"] }, url: `https://example.com/de/${i}` };
  const from = expiresFrom + i * 1_000;
  const split = [
    { url: `https://example.com/a/${i}`, weight: 2 },
    { url: `https://example.com/b/${i}`, weight: 1 },
  ];
  const utm = { source: "newsletter", campaign: `number ${i}` };
  return {
    cells: {
      ...{ notes, status: disabled ? "disabled" : "active", permanent: ["yes", "1", "true"][i % 3] ?? "" },
      ...{ fallbackUrl: `https://example.com/over/${i}`, hitsPerMonth: String(1_000 + i), forwardQuery: "yes" },
      rules: JSON.stringify([{ ...rule, when: { ...rule.when, from: kathmandu(from) } }]),
      ...{ split: JSON.stringify(split), utm: JSON.stringify(utm), clickFacts: disabled ? "no" : "" },
    },
    wanted: {
      ...{ notes, status: disabled ? "disabled" : "active", permanent: 1 },
      ...{ fallback_url: `https://example.com/over/${i}`, hits_per_month: 1_000 + i, forward_query: 1 },
      facts: disabled ? 0 : 1,
      rules: isJson([{ ...rule, when: { ...rule.when, from } }]),
      split: isJson(split),
      utm: isJson(utm),
    },
  };
}

const isJson =
  (wanted: unknown) =>
  (value: unknown): boolean =>
    typeof value === "string" && Bun.deepEquals(JSON.parse(value), wanted, true);
