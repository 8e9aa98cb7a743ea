import type { Link, LinkPatch } from "../../api/generated.ts";
import { sayValue } from "./field-values.ts";
import { formOf, type LinkForm, patchOf } from "./link-form.ts";

/** Which form fields stand behind a field of the API. */
const formFields: Readonly<Record<string, readonly (keyof LinkForm)[]>> = {
  url: ["kind", "url", "file"],
  expiresAt: ["expires"],
  hitsPerMonth: ["hits"],
};

export type Side = "mine" | "theirs";

export interface Difference {
  readonly field: string;
  readonly mine: readonly string[];
  readonly theirs: readonly string[];
  readonly isByBoth: boolean;
  readonly first: Side;
}

/** Every field in which the two versions differ. What only one side changed is chosen already. */
export function differencesOf(base: Link, form: LinkForm, theirs: Link): Difference[] {
  const [before, mine, other] = [patchOf(formOf(base)), patchOf(form), patchOf(formOf(theirs))];
  const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
  const fields = [...new Set(Object.keys({ ...mine, ...other }))].filter((field) => field !== "file");
  return fields.flatMap((field): Difference[] => {
    const pick = (patch: LinkPatch): unknown =>
      field === "url" ? (patch.file ?? patch.url) : patch[field as keyof LinkPatch];
    const [was, my, their] = [pick(before), pick(mine), pick(other)];
    if (same(my, their)) return [];
    const isMine = !same(my, was);
    const isTheirs = !same(their, was);
    return [
      {
        field,
        mine: sayValue(field === "url" && mine.file ? "file" : field, my),
        theirs: sayValue(field === "url" && other.file ? "file" : field, their),
        isByBoth: isMine && isTheirs,
        first: isMine ? "mine" : "theirs",
      },
    ];
  });
}

/** Their version, with these fields of mine. */
export function merged(form: LinkForm, theirs: Link, mine: readonly string[]): LinkForm {
  const keys = mine.flatMap((field) => formFields[field] ?? [field as keyof LinkForm]);
  return { ...formOf(theirs), ...Object.fromEntries(keys.map((key) => [key, form[key]])) };
}
