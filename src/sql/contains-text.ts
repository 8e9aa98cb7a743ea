import { type RawBuilder, sql as raw } from "kysely";
import type { Sql } from "./sql.ts";

/** Whether one of the columns contains the text. ASCII letters are the same in both cases. For tables that are read whole. */
export function containsText(
  { lowerAscii }: Pick<Sql, "lowerAscii">,
  columns: readonly string[],
  text: string,
): RawBuilder<boolean> {
  const folded = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const pattern = `%${folded.replace(/[\\%_]/g, "\\$&")}%`;
  const found = columns.map((column) => raw<boolean>`${lowerAscii(column)} like ${pattern} escape '\\'`);
  return raw<boolean>`(${raw.join(found, raw` or `)})`;
}
