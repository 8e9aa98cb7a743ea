import { useMutation } from "@tanstack/react-query";
import Download from "lucide-react/icons/download";
import { useState } from "react";
import { addressOf, call } from "../../api/call.ts";
import type { Workspace } from "../../api/generated.ts";
import { messageOf } from "../../forms.ts";
import { useProof } from "../../proof.tsx";
import { commonTexts } from "../../texts/common.ts";
import { settingsTexts as t } from "../../texts/settings.ts";
import { Button } from "../../ui/button.tsx";
import { Section } from "../../ui/card.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { useWorkspace } from "../../workspace.ts";
import { download } from "../report/download.ts";

/** Export first, then delete. */
export function DangerSection({ workspace }: { readonly workspace: Workspace }) {
  const { can } = useWorkspace();
  const withProof = useProof();
  const [isDeleting, setIsDeleting] = useState(false);
  const [error, setError] = useState<string>();
  const saving = useMutation({
    mutationFn: () => download(addressOf("GET /api/workspace/export"), `${workspace.slug}.jsonl`),
    onError: (failure) => setError(messageOf(failure)),
  });
  const remove = useMutation({
    mutationFn: () => withProof(() => call("DELETE /api/workspace"), { accepts: ["fresh"], lead: t.deleteText }),
    onSuccess: (isDone) => (isDone ? location.assign("/app/account#workspaces") : setIsDeleting(false)),
  });
  return (
    <Section title={t.danger} description={t.dangerText} danger>
      <div className="flex flex-wrap gap-2">
        <Button icon={Download} loading={saving.isPending} onClick={() => saving.mutate()}>
          {t.export}
        </Button>
        {can("owner") && (
          <Button variant="danger" onClick={() => setIsDeleting(true)}>
            {t.delete}
          </Button>
        )}
      </div>
      {error && (
        <p role="alert" className="text-12 text-bad">
          {error}
        </p>
      )}
      <ConfirmDialog
        // The proof is asked for in a dialog of its own.
        open={isDeleting && !remove.isPending}
        onClose={() => setIsDeleting(false)}
        onConfirm={() => remove.mutate()}
        title={t.deleteTitle(workspace.name)}
        description={t.deleteText}
        confirmLabel={t.delete}
        cancelLabel={commonTexts.cancel}
        closeLabel={commonTexts.close}
        error={remove.error && messageOf(remove.error)}
        typeToConfirm={{ text: workspace.slug, label: t.deleteConfirm(workspace.slug), mismatch: t.deleteMismatch }}
      />
    </Section>
  );
}
