import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { refresh } from "../../api/queries.ts";
import { type Edits, type FieldErrors, fieldErrorsOf, focusFirstError, messageOf } from "../../forms.ts";
import { settingsTexts as t } from "../../texts/settings.ts";
import { useToast } from "../../ui/toast.tsx";

/** A form that saves one thing: errors at their fields, a toast when it is done. */
export function useSave<Result>(
  save: () => Promise<Result>,
  options: {
    readonly refreshes: readonly string[];
    readonly edits: Pick<Edits<object>, "sent">;
    readonly onSaved?: (result: Result) => void;
  },
) {
  const queries = useQueryClient();
  const toast = useToast();
  const form = useRef<HTMLFormElement>(null);
  const mutation = useMutation({
    mutationFn: save,
    onMutate: () => options.edits.sent(),
    async onSuccess(result, _, settle) {
      toast({ message: t.saved });
      options.onSaved?.(result);
      await refresh(queries, ...options.refreshes);
      settle();
    },
    onError(error) {
      if (Object.keys(fieldErrorsOf(error)).length === 0) toast({ message: messageOf(error), tone: "bad" });
      focusFirstError(form.current);
    },
  });
  const errors: FieldErrors = fieldErrorsOf(mutation.error);
  return {
    form,
    errors,
    isSaving: mutation.isPending,
    onSubmit(event: React.FormEvent): void {
      event.preventDefault();
      if (!mutation.isPending) mutation.mutate();
    },
  };
}
