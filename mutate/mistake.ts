/**
 * A planted mistake: a small edit of the source that a programmer could make, and the tests that are meant to catch it.
 * `npm run mutate` makes each of them in a copy of the project and runs its tests: if they pass, nothing protects that
 * line.
 */
export interface Mistake {
  /** From `src/`, or of the dashboard: `web/format.ts`. */
  readonly file: string;
  /** Must occur exactly once in the file. */
  readonly from: string;
  readonly to: string;
  /** Test files, from the root. */
  readonly tests: readonly string[];
  /** Only the tests whose full name matches, to save time. */
  readonly only?: string;
}

/** The mistakes of one room of `src/`, or of the dashboard, by name. */
export type Mistakes = Readonly<Record<string, Mistake>>;

/** Where the file is, from the root. */
export const sourceOf = ({ file }: Pick<Mistake, "file">): string => (file.startsWith("web/") ? file : `src/${file}`);

/** The file with the mistake in it; throws if the place is missing or not unique. */
export function plant({ file, from, to }: Pick<Mistake, "file" | "from" | "to">, text: string): string {
  const parts = text.split(from);
  if (parts.length !== 2)
    throw new Error(`${sourceOf({ file })} has ${parts.length - 1} places like this, not one:\n${from}`);
  return parts.join(to);
}
