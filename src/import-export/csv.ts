import { type Row, rowMost } from "./row.ts";

/**
 * CSV as in RFC 4180, with any line ending: \n, \r\n, \r, or a mix.
 *
 * We use our own reader, because a broken row must not affect other rows. After a quote that is never closed or closed
 * too early, or after an endless cell, the available parsers lose every row that follows. Here a broken row ends at the
 * end of its first line, and reading continues from there: text that an open quote swallowed is read again.
 */
export async function* readCsv(text: AsyncIterable<string>): AsyncGenerator<Row<string[]>> {
  let rest = "";
  let line = 1;
  let skipping = false;

  function* take(ended: boolean): Generator<Row<string[]>> {
    let at = 0;
    while (at < rest.length) {
      if (skipping) {
        const next = lineEnd(rest, at, ended);
        if (next === undefined) {
          rest = rest.endsWith("\r") ? "\r" : "";
          return;
        }
        skipping = false;
        at = next;
        line++;
        continue;
      }
      const found = readRow(rest, at, ended);
      if (found.kind === "more" && rest.length - at <= rowMost) break;
      if (found.kind === "row" && found.next - at <= rowMost) {
        if (found.cells.length > 1 || found.cells[0] !== "") yield { line, value: found.cells };
        line += found.lines;
        at = found.next;
      } else {
        yield { line, problem: found.kind === "broken" ? found.why : endless };
        skipping = true;
      }
    }
    rest = rest.slice(at);
  }

  for await (const piece of text) {
    rest += piece;
    yield* take(false);
  }
  yield* take(true);
}

type Found =
  | { readonly kind: "row"; readonly cells: string[]; readonly next: number; readonly lines: number }
  | { readonly kind: "more" }
  | { readonly kind: "broken"; readonly why: string };

const endless = `has more than ${rowMost} characters, or a quote that is never closed`;
const more: Found = { kind: "more" };
const special = /[",\r\n]/g;

function readRow(text: string, start: number, ended: boolean): Found {
  const cells: string[] = [];
  let lines = 1;
  for (let at = start; ; ) {
    if (text[at] === '"') {
      const cell = readQuoted(text, at, ended);
      if (cell.kind !== "cell") return cell;
      cells.push(cell.text);
      lines += cell.lines;
      at = cell.next;
      if (at < text.length && !",\r\n".includes(text[at] ?? "")) {
        return {
          kind: "broken",
          why: "has text after a closing quote; write a quote inside a cell twice",
        };
      }
    } else {
      special.lastIndex = at;
      const end = special.exec(text)?.index ?? text.length;
      if (text[end] === '"') {
        return { kind: "broken", why: "has a quote in an unquoted cell" };
      }
      cells.push(text.slice(at, end));
      at = end;
    }
    if (text[at] === ",") {
      at++;
      continue;
    }
    if (at === text.length) return ended ? { kind: "row", cells, next: at, lines } : more;
    const next = lineEnd(text, at, ended);
    return next === undefined ? more : { kind: "row", cells, next, lines };
  }
}

type Quoted =
  | { readonly kind: "cell"; readonly text: string; readonly next: number; readonly lines: number }
  | Exclude<Found, { kind: "row" }>;

function readQuoted(text: string, start: number, ended: boolean): Quoted {
  let cell = "";
  for (let from = start + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote === -1) return ended ? { kind: "broken", why: "has a quote that is never closed" } : { kind: "more" };
    if (quote + 1 === text.length && !ended) return { kind: "more" };
    const doubled = text[quote + 1] === '"';
    cell += text.slice(from, doubled ? quote + 1 : quote);
    from = quote + (doubled ? 2 : 1);
    if (!doubled) return { kind: "cell", text: cell, next: from, lines: cell.match(/\r\n|\r|\n/g)?.length ?? 0 };
  }
}

/** Where the next line begins. Undefined while more input is needed to tell. */
function lineEnd(text: string, from: number, ended: boolean): number | undefined {
  const end = text.slice(from).search(/[\r\n]/);
  if (end === -1) return ended ? text.length : undefined;
  const at = from + end;
  if (text[at] === "\n") return at + 1;
  if (at + 1 === text.length && !ended) return undefined; // a \n may follow
  return text[at + 1] === "\n" ? at + 2 : at + 1;
}

/**
 * Spreadsheets run a cell that begins like this as a formula. Writing adds one apostrophe in front, and reading removes
 * it.
 */
const formula = /^'*[=+\-@\t\r]/;
const disarmed = /^'+[=+\-@\t\r]/;

export const undisarm = (cell: string): string => (disarmed.test(cell) ? cell.slice(1) : cell);

export function writeCsv(cells: readonly string[]): string {
  const written = cells.map((cell) => {
    const safe = formula.test(cell) ? `'${cell}` : cell;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  });
  return `${written.join(",")}\r\n`;
}
