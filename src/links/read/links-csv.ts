import { writeCsv } from "../../import-export/csv.ts";

/** Links as a table for people and spreadsheets, as the API shows them. To move links, use `quicklink export`. */
const columns = [
  ...(["shortUrl", "url", "fileName", "title", "tags", "status", "expiresAt", "hitsPerMonth"] as const),
  ...(["clicks", "lastClickAt", "createdAt", "notes", "id"] as const),
] as const;

export type CsvLink = Readonly<Record<(typeof columns)[number], unknown>>;

export const linksCsvTitle = (): string => writeCsv(columns);

export const linkCsv = (link: CsvLink): string => writeCsv(columns.map((name) => cell(link[name])));

const cell = (value: unknown): string => (Array.isArray(value) ? value.join(", ") : String(value ?? ""));
