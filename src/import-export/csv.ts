import { type Row, rowMost } from "./row.ts";

/**
 * CSV as in RFC 4180, with any line ending: \n, \r\n, \r, or a mix. Yields the rows of each piece of text together: a
 * step of a generator for each row would take longer than reading it.
 *
 * We use our own reader, because a broken row must not affect other rows. After a quote that is never closed or closed
 * too early, or after an endless cell, the available parsers lose every row that follows. Here a broken row ends at the
 * end of its first line, and reading continues from there: text that an open quote swallowed is read again.
 */
export async function* readCsv(text: AsyncIterable<string>): AsyncGenerator<Row<string[]>[]> {
  let rest = "";
  let line = 1;
  let skipping = false;

  function take(ended: boolean): Row<string[]>[] {
    const rows: Row<string[]>[] = [];
    let at = 0;
    while (at < rest.length) {
      if (skipping) {
        const next = lineEnd(rest, at, ended);
        if (next === undefined) {
          rest = rest.endsWith("\r") ? "\r" : "";
          return rows;
        }
        skipping = false;
        at = next;
        line++;
        continue;
      }
      const found = readRow(rest, at, ended);
      if (found.kind === "more" && rest.length - at <= rowMost) break;
      if (found.kind === "row" && found.next - at <= rowMost) {
        if (found.cells.length > 1 || found.cells[0] !== "") rows.push({ line, value: found.cells });
        line += found.lines;
        at = found.next;
      } else {
        rows.push({ line, problem: found.kind === "broken" ? found.why : endless });
        skipping = true;
      }
    }
    rest = rest.slice(at);
    return rows;
  }

  for await (const piece of text) {
    rest += piece;
    yield take(false);
  }
  yield take(true);
}

type Found =
  | { readonly kind: "row"; readonly cells: string[]; readonly next: number; readonly lines: number }
  | { readonly kind: "more" }
  | { readonly kind: "broken"; readonly why: string };

const endless = `has more than ${rowMost} characters, or a quote that is never closed`;
const more: Found = { kind: "more" };
const [quote, comma, newLine, carriageReturn] = [34, 44, 10, 13];

function readRow(text: string, start: number, ended: boolean): Found {
  const cells: string[] = [];
  let lines = 1;
  for (let at = start; ; ) {
    if (text.charCodeAt(at) === quote) {
      const cell = readQuoted(text, at, ended);
      if (cell.kind !== "cell") return cell;
      cells.push(cell.text);
      lines += cell.lines;
      at = cell.next;
      if (at < text.length && !isCellEnd(text.charCodeAt(at))) {
        return {
          kind: "broken",
          why: "has text after a closing quote; write a quote inside a cell twice",
        };
      }
    } else {
      let end = at;
      while (end < text.length && !isSpecial(text.charCodeAt(end))) end++;
      if (text.charCodeAt(end) === quote) {
        return { kind: "broken", why: "has a quote in an unquoted cell" };
      }
      cells.push(text.slice(at, end));
      at = end;
    }
    if (text.charCodeAt(at) === comma) {
      at++;
      continue;
    }
    if (at === text.length) return ended ? { kind: "row", cells, next: at, lines } : more;
    const next = lineEnd(text, at, ended);
    return next === undefined ? more : { kind: "row", cells, next, lines };
  }
}

const isCellEnd = (code: number): boolean => code === comma || code === newLine || code === carriageReturn;
const isSpecial = (code: number): boolean => code <= comma && (code === quote || isCellEnd(code));

type Quoted =
  | { readonly kind: "cell"; readonly text: string; readonly next: number; readonly lines: number }
  | Exclude<Found, { kind: "row" }>;

function readQuoted(text: string, start: number, ended: boolean): Quoted {
  let cell = "";
  for (let from = start + 1; ; ) {
    const end = text.indexOf('"', from);
    if (end === -1) return ended ? { kind: "broken", why: "has a quote that is never closed" } : { kind: "more" };
    if (end + 1 === text.length && !ended) return { kind: "more" };
    const doubled = text.charCodeAt(end + 1) === quote;
    cell += text.slice(from, doubled ? end + 1 : end);
    from = end + (doubled ? 2 : 1);
    if (!doubled) return { kind: "cell", text: cell, next: from, lines: lineEndsIn(cell) };
  }
}

function lineEndsIn(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === newLine || (code === carriageReturn && text.charCodeAt(at + 1) !== newLine)) count++;
  }
  return count;
}

/** Where the next line begins. Undefined while more input is needed to tell. */
function lineEnd(text: string, from: number, ended: boolean): number | undefined {
  let at = from;
  while (at < text.length && text.charCodeAt(at) !== newLine && text.charCodeAt(at) !== carriageReturn) at++;
  if (at === text.length) return ended ? at : undefined;
  if (text.charCodeAt(at) === newLine) return at + 1;
  if (at + 1 === text.length && !ended) return undefined; // a \n may follow
  return text.charCodeAt(at + 1) === newLine ? at + 2 : at + 1;
}

/**
 * Spreadsheets run a cell that begins like this as a formula. Writing adds one apostrophe in front, and reading removes
 * it.
 */
const formula = /^'*[=+\-@\t\r]/;
const disarmed = /^'+[=+\-@\t\r]/;

const apostrophe = 39;

export const undisarm = (cell: string): string =>
  cell.charCodeAt(0) === apostrophe && disarmed.test(cell) ? cell.slice(1) : cell;

export function writeCsv(cells: readonly string[]): string {
  const written = cells.map((cell) => {
    const safe = formula.test(cell) ? `'${cell}` : cell;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  });
  return `${written.join(",")}\r\n`;
}
