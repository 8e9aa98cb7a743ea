import { type ChangeEvent, type FormEvent, useRef, useState } from "react";
import { type FieldErrors, fieldErrorsOf, focusFirstError, useEdits } from "./forms.ts";
import { type Attempt, useAttempt } from "./use-attempt.ts";

/**
 * A small form of texts: a field is checked when it is left and when the form is sent, and its error goes as soon as it is
 * fixed. What the API says about a field stands at the field. What is typed is kept as a draft of this name; a form with a secret
 * has none.
 */
export type Checks<Name extends string> = Readonly<Partial<Record<Name, (value: string) => string | undefined>>>;

export interface Form<Name extends string> {
  readonly values: Readonly<Record<Name, string>>;
  readonly attempt: Attempt;
  /** For `Field`. */
  error(name: Name): string | undefined;
  /** For the control inside. */
  input(name: Name): {
    readonly name: Name;
    readonly value: string;
    readonly onChange: (event: ChangeEvent<HTMLInputElement>) => void;
    readonly onBlur: () => void;
  };
  set(values: Partial<Record<Name, string>>): void;
  /** Back to what the fields are without a draft. */
  discard(): void;
  /** When it is stored: forgets what was sent, and keeps what was typed since. */
  done(): void;
  /** For `form`. The work is done once, however often the form is sent. */
  submit(work: (values: Readonly<Record<Name, string>>) => Promise<void>): (event: FormEvent<HTMLFormElement>) => void;
  /** What was refused for no single field. */
  readonly problem: unknown;
}

export function useForm<Name extends string>(
  initial: Readonly<Record<Name, string>>,
  checks?: Checks<Name>,
  draft?: string,
): Form<Name> {
  const [start] = useState(initial);
  const edits = useEdits<Readonly<Record<Name, string>>>(draft, draft === undefined ? start : initial);
  const { values } = edits;
  const [errors, setErrors] = useState<FieldErrors>({});
  const attempt = useAttempt();
  const settle = useRef(() => {});
  const checked = (name: Name, value: string) => checks?.[name]?.(value);
  const tell = (name: Name, error: string | undefined) =>
    setErrors(({ [name]: _, ...rest }) => (error === undefined ? rest : { ...rest, [name]: error }));
  const isKnown = (name: string) => Object.hasOwn(values, name);
  const hasFieldError = Object.keys(fieldErrorsOf(attempt.error)).some(isKnown);

  return {
    values,
    attempt,
    error: (name) => errors[name],
    input: (name) => ({
      name,
      value: values[name],
      onChange({ target: { value } }) {
        edits.set(only(name, value));
        if (errors[name] !== undefined) tell(name, checked(name, value));
      },
      onBlur() {
        if (values[name] !== "") tell(name, checked(name, values[name]));
      },
    }),
    set: edits.set,
    discard: edits.discard,
    done: () => settle.current(),
    submit: (work) => (event) => {
      event.preventDefault();
      if (attempt.waitSeconds > 0) return;
      const form = event.currentTarget;
      const found = (Object.keys(values) as Name[]).flatMap((name) => {
        const error = checked(name, values[name]);
        return error === undefined ? [] : [[name, error] as const];
      });
      setErrors(Object.fromEntries(found));
      if (found.length > 0) return focusFirstError(form);
      void attempt.run(async () => {
        settle.current = edits.sent();
        try {
          await work(values);
        } catch (error) {
          setErrors(fieldErrorsOf(error));
          focusFirstError(form);
          throw error;
        }
      });
    },
    problem: hasFieldError ? undefined : attempt.error,
  };
}

const only = <Name extends string>(name: Name, value: string) =>
  ({ [name]: value }) as Readonly<Partial<Record<Name, string>>>;
