import { OperatorError } from "../base/errors.ts";
import { readCsv } from "./csv.ts";
import { damaged, isDamaged } from "./decode-text.ts";
import {
  type Fields,
  type FormatName,
  type ImportFormat,
  type OwnPlace,
  ownCells,
  ownColumns,
  ownPlaces,
  recognise,
} from "./formats.ts";
import { readJsonLines } from "./json-lines.ts";
import type { Row } from "./row.ts";

/** The rows of a file as links, in any supported format. */
export interface ReadOptions {
  /** Called once, when the first row is read, with the format of the file and the columns that are ignored. */
  readonly recognised: (format: FormatName, passedOver: readonly string[]) => void;
  readonly only?: FormatName;
}

/** The rows of each piece of text together. JSON lines begin with a brace. CSV begins with column names. */
export async function* readRecords(text: AsyncIterable<string>, reading: ReadOptions): AsyncGenerator<Row<Fields>[]> {
  const pieces = text[Symbol.asyncIterator]();
  /** White space, up to the first piece that has more. */
  const blank: string[] = [];
  let head = "";
  while (head.trim() === "") {
    blank.push(head);
    const { value, done } = await pieces.next();
    if (done) throw new OperatorError("The file is empty.");
    head = value;
  }
  const all = (async function* () {
    yield* blank;
    yield head;
    for (let next = await pieces.next(); !next.done; next = await pieces.next()) yield next.value;
  })();
  yield* head.trimStart().startsWith("{") ? fromJsonLines(all, reading) : fromCsv(all, reading);
}

async function* fromCsv(text: AsyncIterable<string>, { recognised, only }: ReadOptions): AsyncGenerator<Row<Fields>[]> {
  let read: ((line: number, cells: readonly string[]) => Row<Fields>) | undefined;
  for await (const rows of readCsv(text)) {
    const links: Row<Fields>[] = [];
    for (const row of rows) {
      if (read !== undefined) {
        links.push("problem" in row ? row : read(row.line, row.value));
        continue;
      }
      if ("problem" in row) throw new OperatorError(`Line ${row.line} (column names) ${row.problem}.`);
      const names = row.value.map(columnName);
      const format = recognise(names, only) ?? refuse(names, only);
      const known = format.name === "quicklink" ? new Set<string>(ownColumns) : undefined;
      const places = known && ownPlaces(names);
      recognised(format.name, known === undefined ? [] : names.filter((name) => !known.has(name)));
      read = (line, cells) => fromCells(line, cells, names, format, places);
    }
    yield links;
  }
}

function fromCells(
  line: number,
  cells: readonly string[],
  names: readonly string[],
  format: ImportFormat,
  places: readonly OwnPlace[] | undefined,
): Row<Fields> {
  if (cells.some(isDamaged)) return { line, problem: damaged };
  if (cells.length !== names.length) {
    return { line, problem: `has ${cells.length} cells, but there are ${names.length} columns` };
  }
  if (places !== undefined) return asRow(line, ownCells(cells, places));
  return asLink(line, Object.fromEntries(names.map((name, i) => [name, cells[i] ?? ""])), format);
}

async function* fromJsonLines(
  text: AsyncIterable<string>,
  { recognised, only }: ReadOptions,
): AsyncGenerator<Row<Fields>[]> {
  let format: ImportFormat | undefined;
  function read(row: Row<unknown>): Row<Fields> | undefined {
    if ("problem" in row) return row;
    const { line, value } = row;
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return { line, problem: "is not an object" };
    }
    // In the export of a workspace, most lines are links, and those that are not say so.
    if ("record" in value && typeof value.record === "string" && value.record !== "link") return undefined;
    if (isDamaged(JSON.stringify(value))) return { line, problem: damaged };
    if (format === undefined) {
      const names = Object.keys(value);
      format = recognise(names, only) ?? refuse(names, only);
      recognised(format.name, []);
    }
    return asLink(line, value as Fields, format);
  }
  for await (const rows of readJsonLines(text)) yield rows.flatMap((row) => read(row) ?? []);
}

const asLink = (line: number, fields: Fields, { toLink }: ImportFormat): Row<Fields> => asRow(line, toLink(fields));

const asRow = (line: number, link: Fields | string): Row<Fields> =>
  typeof link === "string" ? { line, problem: link } : { line, value: link };

/** Our own column names in any case; those of other formats as they are. */
function columnName(cell: string): string {
  const name = cell.trim();
  return ownColumns.find((own) => own.toLowerCase() === name.toLowerCase()) ?? name;
}

function refuse(names: readonly string[], only: FormatName | undefined): never {
  const found = names.slice(0, 12).join(", ").slice(0, 300);
  const list = names.includes("links") ? "links" : names.includes("data") ? "data" : undefined;
  if (list !== undefined) {
    throw new OperatorError(
      `This is an API response with many links. Convert it to one link per line: jq -c '.${list}[]' FILE`,
    );
  }
  if (only !== undefined) throw new OperatorError(`Not an export of ${only}: it has ${found}. See docs/import.md.`);
  const one = names[0] ?? "";
  const hint = names.length === 1 && /[;\t]/.test(one) ? " Separate columns with commas." : "";
  throw new OperatorError(
    `No column with destination URLs: expected url, found ${found}.${hint} Known column names: docs/import.md`,
  );
}
