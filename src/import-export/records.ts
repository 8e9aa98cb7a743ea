import { OperatorError } from "../base/errors.ts";
import { readCsv } from "./csv.ts";
import { damageIn } from "./decode-text.ts";
import {
  type Fields,
  type FormatName,
  type ImportFormat,
  type OwnPlaces,
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

/** JSON lines begin with a brace. CSV begins with column names. */
export async function* readRecords(text: AsyncIterable<string>, reading: ReadOptions): AsyncGenerator<Row<Fields>> {
  const pieces = text[Symbol.asyncIterator]();
  let head = "";
  while (head.trim() === "") {
    const { value, done } = await pieces.next();
    if (done) throw new OperatorError("The file is empty.");
    head += value;
  }
  const all = (async function* () {
    yield head;
    for (let next = await pieces.next(); !next.done; next = await pieces.next()) yield next.value;
  })();
  yield* head.trimStart().startsWith("{") ? fromJsonLines(all, reading) : fromCsv(all, reading);
}

async function* fromCsv(text: AsyncIterable<string>, { recognised, only }: ReadOptions): AsyncGenerator<Row<Fields>> {
  let names: readonly string[] | undefined;
  let format: ImportFormat | undefined;
  let places: OwnPlaces | undefined;
  for await (const row of readCsv(text)) {
    if (names === undefined || format === undefined) {
      if ("problem" in row) throw new OperatorError(`Line ${row.line} (column names) ${row.problem}.`);
      names = row.value.map(columnName);
      format = recognise(names, only) ?? refuse(names, only);
      const known = format.name === "quicklink" ? new Set<string>(ownColumns) : undefined;
      places = known && ownPlaces(names);
      recognised(format.name, known === undefined ? [] : names.filter((name) => !known.has(name)));
    } else if ("problem" in row) {
      yield row;
    } else {
      yield fromCells(row.line, row.value, names, format, places);
    }
  }
}

function fromCells(
  line: number,
  cells: readonly string[],
  names: readonly string[],
  format: ImportFormat,
  places: OwnPlaces | undefined,
): Row<Fields> {
  const damage = damageIn(cells.join(","));
  if (damage !== undefined) return { line, problem: damage };
  if (cells.length !== names.length) {
    return { line, problem: `has ${cells.length} cells, but there are ${names.length} columns` };
  }
  if (places !== undefined) return asLink(line, ownCells(cells, places), format);
  return asLink(line, Object.fromEntries(names.map((name, i) => [name, cells[i] ?? ""])), format);
}

async function* fromJsonLines(
  text: AsyncIterable<string>,
  { recognised, only }: ReadOptions,
): AsyncGenerator<Row<Fields>> {
  let format: ImportFormat | undefined;
  for await (const row of readJsonLines(text)) {
    if ("problem" in row) {
      yield row;
      continue;
    }
    const { line, value } = row;
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      yield { line, problem: "is not an object" };
      continue;
    }
    // In the export of a workspace, most lines are links, and those that are not say so.
    if ("record" in value && typeof value.record === "string" && value.record !== "link") continue;
    const damage = damageIn(JSON.stringify(value));
    if (damage !== undefined) {
      yield { line, problem: damage };
      continue;
    }
    if (format === undefined) {
      const names = Object.keys(value);
      format = recognise(names, only) ?? refuse(names, only);
      recognised(format.name, []);
    }
    yield asLink(line, value as Fields, format);
  }
}

function asLink(line: number, fields: Fields, { toLink }: ImportFormat): Row<Fields> {
  const link = toLink(fields);
  return typeof link === "string" ? { line, problem: link } : { line, value: link };
}

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
