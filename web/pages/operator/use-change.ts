import { useMutation, useQueryClient } from "@tanstack/react-query";
import { refresh } from "../../api/queries.ts";
import { messageOf } from "../../forms.ts";
import { useProof } from "../../proof.tsx";
import { operatorTexts as t } from "../../texts/operator.ts";
import { useToast } from "../../ui/toast.tsx";

/**
 * A change by the operator: says that it is done, or why not, and reads the lists again. Some need a sign-in of just now,
 * which is asked for.
 */
export function useChange<Given = void>(
  change: (given: Given) => Promise<unknown>,
  options: { readonly done?: (result: unknown) => string; readonly onDone?: () => void } = {},
) {
  const queries = useQueryClient();
  const toast = useToast();
  const withProof = useProof();
  return useMutation({
    async mutationFn(given: Given) {
      let result: unknown;
      const work = async () => {
        result = await change(given);
      };
      return { isDone: await withProof(work, { accepts: ["fresh"] }), result };
    },
    async onSuccess({ isDone, result }) {
      // The proof was cancelled: what was typed stays open.
      if (!isDone) return;
      options.onDone?.();
      toast({ message: options.done?.(result) ?? t.done });
      await refresh(queries, "/api/operator");
    },
    onError: (error) => toast({ message: messageOf(error), tone: "bad" }),
  });
}
