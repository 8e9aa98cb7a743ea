import { printable, printableLines } from "../base/printable.ts";

/**
 * What commands print: columns for people, tab separated for programs that read lines, JSON for the rest. Everything that
 * a command writes to the terminal goes through here, so that no text from outside reaches it as it is.
 */
export interface Format {
  readonly json?: boolean;
}

export function printRows(
  rows: readonly Readonly<Record<string, unknown>>[],
  columns: readonly string[],
  format: Format,
  empty: string,
): void {
  if (format.json) {
    printJson(rows);
    return;
  }
  if (!process.stdout.isTTY) {
    for (const row of rows) say(columns.map((column) => cell(row[column])).join("\t"));
    return;
  }
  if (rows.length === 0) {
    say(empty);
    return;
  }
  const table = [
    columns.map((column) => column.toUpperCase()),
    ...rows.map((row) => columns.map((column) => cell(row[column]))),
  ];
  const widths = columns.map((_, i) => Math.max(...table.map((line) => line[i]?.length ?? 0)));
  for (const line of table)
    say(
      line
        .map((text, i) => text.padEnd(widths[i] ?? 0))
        .join("  ")
        .trimEnd(),
    );
}

export function printFields(fields: Readonly<Record<string, unknown>>, format: Format): void {
  if (format.json) {
    printJson(fields);
    return;
  }
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  for (const [name, value] of Object.entries(fields)) {
    say(process.stdout.isTTY ? `${name.padEnd(width)}  ${cell(value)}` : `${name}\t${cell(value)}`);
  }
}

export function printJson(value: unknown): void {
  // JSON itself leaves some of them as they are; by their numbers they are the same text.
  draw(printableLines(JSON.stringify(value, null, 2)));
}

/** A sentence, or several lines of our own. A value in it that may have lines of its own goes through `printable` first. */
export const say = (text: string): void => draw(printableLines(text));

/** The same, beside what a program reads. */
export const complain = (text: string): void => console.error(printableLines(text));

/** What we have drawn ourselves, colours and all. */
export const draw = (text: string): void => console.log(text);

function cell(value: unknown): string {
  if (value === null || value === undefined || value === "") return "-";
  if (Array.isArray(value)) return value.map(cell).join(",") || "-";
  return printable(typeof value === "object" ? JSON.stringify(value) : String(value));
}
