/** A row with the line on which it begins: its content, or why it cannot be read. */
export type Row<Value> =
  | { readonly line: number; readonly value: Value }
  | { readonly line: number; readonly problem: string };

/** The longest row, in characters: more than all fields of a link at their longest. */
export const rowMost = 131_072;
