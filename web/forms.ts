import { useCallback, useEffect, useRef, useState } from "react";
import { ApiError } from "./api/call.ts";
import { randomId } from "./random-id.ts";
import { errorTexts } from "./texts/errors.ts";

/** What to tell about a failed call: the API's own words, or that there was no answer. */
export function messageOf(error: unknown): string {
  if (!(error instanceof ApiError)) return errorTexts.unexpected;
  if (error.code === "offline") return errorTexts.offline;
  if (error.code === "disconnected") return errorTexts.disconnected;
  if (error.code === "no_workspace") return errorTexts.noWorkspace;
  return error.message === "" ? errorTexts.unexpected : error.message;
}

export type FieldErrors = Readonly<Record<string, string>>;

/** The API's messages by the field that they are about. `rules.0.url` also counts for `rules`. */
export function fieldErrorsOf(error: unknown): FieldErrors {
  if (!(error instanceof ApiError)) return {};
  const found: Record<string, string> = {};
  for (const { field, message } of error.errors) {
    found[field] ??= message;
    const [first = field] = field.split(".");
    found[first] ??= message;
  }
  return found;
}

/** One key for one intent: sending a form twice makes one thing. A new one after success, or when the values changed. */
export function useIntentKey(values: unknown): { readonly key: () => string; readonly done: () => void } {
  const text = JSON.stringify(values);
  const current = useRef({ text: "", key: "" });
  const key = useCallback(() => {
    if (current.current.text !== text) current.current = { text, key: randomId() };
    return current.current.key;
  }, [text]);
  const done = useCallback(() => {
    current.current = { text: "", key: "" };
  }, []);
  return { key, done };
}

/** What was typed, kept for this tab until it is sent: a lost connection or an expired session loses nothing. */
export function useDraft<Value>(name: string, initial: Value): [Value, (next: Value) => void, () => void] {
  const [value, setValue] = useState<Value>(() => readDraft(name) ?? initial);
  const set = useCallback(
    (next: Value) => {
      setValue(next);
      writeDraft(name, next);
    },
    [name],
  );
  const clear = useCallback(() => writeDraft(name, undefined), [name]);
  return [value, set, clear];
}

/**
 * The fields of a form over what they are without a draft, such as what is stored. Only what was changed is kept for this tab, until
 * it is sent: untouched fields follow what is stored. A secret is no field of a draft; without a name, nothing is kept.
 */
export interface Edits<Values extends object> {
  readonly values: Values;
  /** Some of them were changed on an earlier visit. */
  readonly isBack: boolean;
  readonly set: (change: Partial<Values>) => void;
  readonly discard: () => void;
  /** Called when it is sent; what it returns, when it is stored: forgets what was not changed again meanwhile. */
  readonly sent: () => () => void;
}

export function useEdits<Values extends object>(name: string | undefined, initial: Values): Edits<Values> {
  const [edits, setEdits] = useState<Partial<Values>>(() => (name && readDraft(name)) || {});
  const latest = useRef(edits);
  const [wasThere] = useState(Object.keys(edits).length > 0);
  const keep = (next: Partial<Values>) => {
    latest.current = next;
    setEdits(next);
    if (name !== undefined) writeDraft(name, Object.keys(next).length === 0 ? undefined : next);
  };
  const keepOnly = (isKept: (key: keyof Values, value: unknown) => boolean, all: Partial<Values>) =>
    keep(
      Object.fromEntries(
        Object.entries(all).filter(([key, value]) => isKept(key as keyof Values, value)),
      ) as Partial<Values>,
    );
  return {
    values: { ...initial, ...edits },
    isBack: wasThere && Object.keys(edits).length > 0,
    set: (change) => keepOnly((key, value) => !isSame(value, initial[key]), { ...latest.current, ...change }),
    discard: () => keep({}),
    sent() {
      const before = latest.current;
      return () => keepOnly((key, value) => !isSame(value, before[key]), latest.current);
    },
  };
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const draftKey = (name: string): string => `quicklink-draft:${name}`;

export function readDraft<Value>(name: string): Value | undefined {
  try {
    const text = sessionStorage.getItem(draftKey(name));
    return text === null ? undefined : (JSON.parse(text) as Value);
  } catch {
    return undefined;
  }
}

export function writeDraft(name: string, value: unknown): void {
  try {
    if (value === undefined) sessionStorage.removeItem(draftKey(name));
    else sessionStorage.setItem(draftKey(name), JSON.stringify(value));
  } catch {
    // Without storage there are no drafts.
  }
}

/** Of everything, when somebody signs out. */
export function forgetDrafts(): void {
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(draftKey(""))) sessionStorage.removeItem(key);
  } catch {
    // Without storage there are no drafts.
  }
}

/** The value after it has not changed for a while: for checks while somebody types. */
export function useSettled<Value>(value: Value, afterMs = 300): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), afterMs);
    return () => clearTimeout(timer);
  }, [value, afterMs]);
  return settled;
}

/** Moves the focus to the first field with an error, inside of `form`. */
export function focusFirstError(form: HTMLElement | null): void {
  requestAnimationFrame(() => form?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
}
