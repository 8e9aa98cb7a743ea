/** What commands print: columns for people, tab separated for programs that read lines, JSON for the rest. */
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
    for (const row of rows) console.log(columns.map((column) => cell(row[column])).join("\t"));
    return;
  }
  if (rows.length === 0) {
    console.log(empty);
    return;
  }
  const table = [
    columns.map((column) => column.toUpperCase()),
    ...rows.map((row) => columns.map((column) => cell(row[column]))),
  ];
  const widths = columns.map((_, i) => Math.max(...table.map((line) => line[i]?.length ?? 0)));
  for (const line of table)
    console.log(
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
    console.log(process.stdout.isTTY ? `${name.padEnd(width)}  ${cell(value)}` : `${name}\t${cell(value)}`);
  }
}

export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2));
}

function cell(value: unknown): string {
  if (value === null || value === undefined || value === "") return "-";
  if (Array.isArray(value)) return value.map(cell).join(",") || "-";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
