import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, call } from "../../api/call.ts";
import type { Member } from "../../api/generated.ts";
import { refresh } from "../../api/queries.ts";
import { messageOf } from "../../forms.ts";
import { commonTexts } from "../../texts/common.ts";
import { memberTexts as t } from "../../texts/members.ts";
import { RadioCards } from "../../ui/checkbox.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useWorkspace } from "../../workspace.ts";

interface RemoveProps {
  readonly member: Member;
  readonly isMe: boolean;
  readonly onClose: () => void;
}

/** Asks what becomes of the person's API keys, if the API says that there are some. */
export function RemoveMember({ member: { id, name }, isMe, onClose }: RemoveProps) {
  const { slug } = useWorkspace();
  const queries = useQueryClient();
  const toast = useToast();
  const [keys, setKeys] = useState<"keep" | "revoke">();
  const query = keys === undefined ? {} : { keys };
  const remove = useMutation({
    mutationFn: () =>
      isMe
        ? call("DELETE /api/account/workspaces/{workspace}", { path: { workspace: slug }, query })
        : call("DELETE /api/members/{person}", { path: { person: id }, query }),
    async onSuccess() {
      if (isMe) return location.assign("/app");
      toast({ message: t.removed(name) });
      onClose();
      await refresh(queries, "/api/members", "/api/keys", "/api/invitations");
    },
  });
  const undecided =
    remove.error instanceof ApiError && remove.error.code === "keys_undecided" ? remove.error : undefined;
  const isAsked = undecided !== undefined || keys !== undefined;
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      onConfirm={() => remove.mutate()}
      title={isMe ? t.leaveTitle : t.removeTitle(name)}
      description={isMe ? t.leaveText : t.removeText}
      confirmLabel={isMe ? t.leave : commonTexts.remove}
      cancelLabel={commonTexts.cancel}
      closeLabel={commonTexts.close}
      loading={remove.isPending}
      error={remove.error && undecided === undefined ? messageOf(remove.error) : undefined}
    >
      {isAsked && (
        <div className="grid gap-2">
          <p>{t.keysTitle(undecided?.problem?.keys ?? 1)}</p>
          <RadioCards
            label={t.keysTitle(undecided?.problem?.keys ?? 1)}
            value={keys}
            onValueChange={setKeys}
            options={[
              { value: "keep", label: t.keysKeep, description: t.keysKeepHint },
              { value: "revoke", label: t.keysRevoke, description: t.keysRevokeHint },
            ]}
          />
        </div>
      )}
    </ConfirmDialog>
  );
}
