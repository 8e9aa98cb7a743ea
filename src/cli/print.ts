import { printable, printableLines } from "../base/printable.ts";
import { terminal } from "./terminal.ts";

/**
 * Output of commands: columns for people, tab-separated lines for programs, JSON for the rest. Everything a command
 * writes to the terminal goes through here, so that no text from outside reaches it unescaped.
 */
export interface OutputFormat {
  readonly json?: boolean;
}

type Row = Readonly<Record<string, unknown>>;

export function printRows(rows: readonly Row[], columns: readonly string[], format: OutputFormat, empty: string): void {
  const printer = printerOf(columns, format, empty);
  printer.rows(rows);
  printer.end();
}

/** Streams: only one page of a list is in memory. Columns are as wide as the first page needs. */
export async function printPages(
  pages: AsyncIterable<readonly Row[]>,
  columns: readonly string[],
  format: OutputFormat,
  empty: string,
): Promise<void> {
  const printer = printerOf(columns, format, empty);
  for await (const page of pages) printer.rows(page);
  printer.end();
}

/** Maps the pages of `pagesOf`. */
export async function* shownPages<Item>(
  pages: AsyncIterable<readonly Item[]>,
  show: (item: Item) => Row,
): AsyncGenerator<readonly Row[]> {
  for await (const page of pages) yield page.map(show);
}

function printerOf(columns: readonly string[], format: OutputFormat, empty: string): RowPrinter {
  if (format.json) return jsonRows();
  return terminal().stdout.isTTY ? tableRows(columns, empty) : tabbedRows(columns);
}

interface RowPrinter {
  rows(rows: readonly Row[]): void;
  end(): void;
}

/** The same text as `printJson` of all of them. */
function jsonRows(): RowPrinter {
  let any = false;
  return {
    rows(rows) {
      for (const row of rows) {
        const text = JSON.stringify(row, null, 2).replaceAll("\n", "\n  ");
        terminal().stdout.write(`${any ? "," : "["}\n  ${printableLines(text)}`);
        any = true;
      }
    },
    end: () => void terminal().stdout.write(any ? "\n]\n" : "[]\n"),
  };
}

function tabbedRows(columns: readonly string[]): RowPrinter {
  return {
    rows(rows) {
      for (const row of rows) say(columns.map((column) => cell(row[column])).join("\t"));
    },
    end() {},
  };
}

function tableRows(columns: readonly string[], empty: string): RowPrinter {
  let widths: readonly number[] | undefined;
  const print = (cells: readonly string[]) =>
    say(
      cells
        .map((text, i) => text.padEnd(widths?.[i] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  return {
    rows(rows) {
      if (rows.length === 0) return;
      const table = rows.map((row) => columns.map((column) => cell(row[column])));
      if (widths === undefined) {
        const titles = columns.map((column) => column.toUpperCase());
        widths = columns.map((_, i) => Math.max(...[titles, ...table].map((line) => line[i]?.length ?? 0)));
        print(titles);
      }
      for (const line of table) print(line);
    },
    end() {
      if (widths === undefined) say(empty);
    },
  };
}

export function printFields(fields: Readonly<Record<string, unknown>>, format: OutputFormat): void {
  if (format.json) {
    printJson(fields);
    return;
  }
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  for (const [name, value] of Object.entries(fields)) {
    say(terminal().stdout.isTTY ? `${name.padEnd(width)}  ${cell(value)}` : `${name}\t${cell(value)}`);
  }
}

export function printJson(value: unknown): void {
  // JSON leaves some characters unescaped; escaping them keeps the same value.
  say(JSON.stringify(value, null, 2));
}

/**
 * A sentence, or several lines of our own. A value in it that may contain line breaks must go through `printable`
 * first.
 */
export const say = (text: string): void => printDrawing(printableLines(text));

/** The same on standard error. */
export const complain = (text: string): void => {
  const { ownsProcess, stderr } = terminal();
  if (ownsProcess) console.error(printableLines(text));
  else stderr.write(`${printableLines(text)}\n`);
};

/** Help and usage errors, which commander writes itself. */
export const usageOutput = {
  writeOut: (text: string): void => void terminal().stdout.write(text),
  writeErr: (text: string): void => void terminal().stderr.write(text),
};

/** Text that we formatted ourselves, with colours. The console ignores that its reader has gone, as `head` does. */
export const printDrawing = (text: string): void => {
  const { ownsProcess, stdout } = terminal();
  if (ownsProcess) console.log(text);
  else stdout.write(`${text}\n`);
};

function cell(value: unknown): string {
  if (value === null || value === undefined || value === "") return "-";
  if (Array.isArray(value)) return value.map(cell).join(",") || "-";
  return printable(typeof value === "object" ? JSON.stringify(value) : String(value));
}
