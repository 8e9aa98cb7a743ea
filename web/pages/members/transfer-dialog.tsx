import { useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import type { Member } from "../../api/generated.ts";
import { refresh } from "../../api/queries.ts";
import { messageOf } from "../../forms.ts";
import { useProof } from "../../proof.tsx";
import { commonTexts } from "../../texts/common.ts";
import { memberTexts as t } from "../../texts/members.ts";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { useToast } from "../../ui/toast.tsx";

interface TransferProps {
  readonly member: Member;
  readonly onClose: () => void;
}

export function TransferDialog({ member: { id, name }, onClose }: TransferProps) {
  const queries = useQueryClient();
  const toast = useToast();
  const withProof = useProof();
  const transfer = useMutation({
    mutationFn: () =>
      withProof(() => call("PUT /api/workspace/owner", { body: { person: id } }), {
        accepts: ["fresh"],
        lead: t.transferText,
      }),
    async onSuccess(isDone) {
      onClose();
      if (!isDone) return;
      toast({ message: t.transferred(name) });
      await refresh(queries, "/api/members", "/api/account");
    },
  });
  return (
    <ConfirmDialog
      // The proof is asked for in a dialog of its own.
      open={!transfer.isPending}
      onClose={onClose}
      onConfirm={() => transfer.mutate()}
      title={t.transferTitle(name)}
      description={t.transferText}
      confirmLabel={t.transfer}
      cancelLabel={commonTexts.cancel}
      closeLabel={commonTexts.close}
      error={transfer.error && messageOf(transfer.error)}
    />
  );
}
