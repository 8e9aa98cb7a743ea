import { useCallback, useMemo, useState } from "react";
import { ApiError } from "../../api/call.ts";
import type { Link } from "../../api/generated.ts";
import { readDraft, writeDraft } from "../../forms.ts";
import { changesOf, formOf, type LinkForm } from "./link-form.ts";

/** What is typed, what was typed before, and what the API said about it. */
export interface Editor {
  readonly form: LinkForm;
  readonly set: (change: Partial<LinkForm>) => void;
  /** The API's words about a field, such as `rules.1.url`. */
  readonly errorOf: (field: string) => string | undefined;
  /** About the field and everything below it, except one field. */
  readonly errorsBelow: (field: string, except?: string) => readonly string[];
  /** About the field or anything below it. */
  readonly hasError: (...fields: readonly string[]) => boolean;
}

export interface EditorState extends Editor {
  /** The link as it was when editing began; undefined for a new one. */
  readonly base: Link | undefined;
  readonly isChanged: boolean;
  /** Came back from an earlier visit. */
  readonly isFromDraft: boolean;
  readonly setErrors: (error: unknown) => void;
  /** The server said meanwhile how long new links last: an expiry that nobody touched follows. */
  readonly follow: (initial: LinkForm) => void;
  /** Starts again from here, and forgets the draft. */
  readonly reset: (form: LinkForm, base: Link | undefined) => void;
  /** Goes on with the same texts, compared with another version of the link. */
  readonly rebase: (form: LinkForm, base: Link) => void;
}

interface Draft {
  readonly form: LinkForm;
  readonly base: Link | undefined;
}

type Errors = Readonly<Record<string, string>>;

/**
 * The draft is stored with each change, in this tab only, and forgotten when it is sent or equals what is stored already. A
 * password is not stored, but that there is one is: the link comes back with an empty password, which is refused, and never open to
 * everybody.
 */
export function useEditor(draftName: string, initial: LinkForm, link: Link | undefined): EditorState {
  const [start] = useState(() => readDraft<Draft>(draftName));
  const [{ form, base }, setDraft] = useState<Draft>(() => start ?? { form: initial, base: link });
  const [origin, setOrigin] = useState<LinkForm>(() => (start?.base ? formOf(start.base) : initial));
  const [isFromDraft, setFromDraft] = useState(start !== undefined);
  const [errors, setErrorMap] = useState<Errors>({});
  const isChanged = useMemo(() => differs(origin, form), [origin, form]);

  const set = useCallback(
    (change: Partial<LinkForm>) => {
      setDraft((before) => {
        const next = { ...before, form: { ...before.form, ...change } };
        writeDraft(draftName, differs(origin, next.form) ? withoutPassword(next) : undefined);
        return next;
      });
      setErrorMap((before) => withoutFixed(before, form, change));
    },
    [draftName, origin, form],
  );
  const errorOf = useCallback((field: string) => errors[field], [errors]);
  const hasError = useCallback(
    (...fields: readonly string[]) =>
      Object.keys(errors).some((name) => fields.some((field) => name === field || name.startsWith(`${field}.`))),
    [errors],
  );
  const errorsBelow = useCallback(
    (field: string, except?: string) =>
      Object.entries(errors).flatMap(([name, message]) =>
        name !== except && (name === field || name.startsWith(`${field}.`)) ? [message] : [],
      ),
    [errors],
  );
  const setErrors = useCallback((error: unknown) => setErrorMap(errorMap(error)), []);
  const reset = useCallback(
    (next: LinkForm, nextBase: Link | undefined) => {
      setDraft({ form: next, base: nextBase });
      setOrigin(next);
      setErrorMap({});
      setFromDraft(false);
      writeDraft(draftName, undefined);
    },
    [draftName],
  );
  const follow = ({ expires }: LinkForm) => {
    if (expires === origin.expires) return;
    setOrigin({ ...origin, expires });
    if (form.expires === origin.expires) setDraft({ base, form: { ...form, expires } });
  };
  const rebase = useCallback(
    (next: LinkForm, nextBase: Link) => {
      setDraft({ form: next, base: nextBase });
      setOrigin(formOf(nextBase));
      writeDraft(draftName, withoutPassword({ form: next, base: nextBase }));
    },
    [draftName],
  );
  return { form, base, set, errorOf, errorsBelow, hasError, isChanged, isFromDraft, setErrors, follow, reset, rebase };
}

const withoutPassword = ({ form, base }: Draft): Draft => ({
  ...{ base, form: { ...form, password: { ...form.password, text: "" } } },
});

const differs = (before: LinkForm, after: LinkForm): boolean =>
  before.code !== after.code ||
  before.domain !== after.domain ||
  before.isPrivate !== after.isPrivate ||
  before.kind !== after.kind ||
  Object.keys(changesOf(before, after)).length > 0;

function errorMap(error: unknown): Errors {
  if (!(error instanceof ApiError)) return {};
  const found: Record<string, string> = {};
  for (const { field, message } of error.errors) found[field] ??= message;
  return found;
}

const fieldNames: Readonly<Partial<Record<keyof LinkForm, string>>> = {
  expires: "expiresAt",
  hits: "hitsPerMonth",
  isPrivate: "private",
};

/** An error goes as soon as its field is changed; in a list, that of the changed row. */
function withoutFixed(errors: Errors, before: LinkForm, change: Partial<LinkForm>): Errors {
  const gone: string[] = [];
  for (const key of Object.keys(change) as (keyof LinkForm)[]) {
    if (key === "rules" || key === "split") gone.push(...changedRows(key, before[key], change[key] ?? []));
    else if (key === "kind") gone.push("url", "file");
    else gone.push(fieldNames[key] ?? key);
  }
  const isGone = (name: string) => gone.some((field) => name === field || name.startsWith(`${field}.`));
  const kept = Object.entries(errors).filter(([name]) => !isGone(name));
  return kept.length === Object.keys(errors).length ? errors : Object.fromEntries(kept);
}

interface Row {
  readonly key: string;
}

function changedRows(name: string, before: readonly Row[], after: readonly Row[]): string[] {
  const isSameOrder = before.length === after.length && before.every(({ key }, at) => key === after[at]?.key);
  if (!isSameOrder) return [name];
  return after.flatMap((row, at) => (row === before[at] ? [] : [`${name}.${at}`]));
}
