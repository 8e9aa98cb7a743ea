import { problemText } from "../../problem-text.ts";
import { Notice } from "../../ui/states.tsx";
import type { Form } from "../../use-form.ts";

/** What the API refused for no single field. */
export function FormProblem<Name extends string>({ form }: { readonly form: Form<Name> }) {
  if (form.problem === undefined) return null;
  return <Notice tone="bad">{problemText(form.problem, form.attempt.waitSeconds)}</Notice>;
}
