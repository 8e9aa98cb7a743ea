/** A row of a file that is read, by the line it begins on: what is in it, or why it cannot be read. */
export type Row<Value> =
  | { readonly line: number; readonly value: Value }
  | { readonly line: number; readonly problem: string };

/** A row may have this many characters: more than all fields of a link at their longest. */
export const rowMost = 131_072;
