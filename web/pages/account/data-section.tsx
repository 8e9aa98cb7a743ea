import { useState } from "react";
import { ApiError, call, send } from "../../api/call.ts";
import type { Person } from "../../api/generated.ts";
import { messageOf } from "../../forms.ts";
import { problemText } from "../../problem-text.ts";
import { useProof } from "../../proof.tsx";
import { saveFile } from "../../save-file.ts";
import { accountTexts, accountDataTexts as t } from "../../texts/account.ts";
import { Button } from "../../ui/button.tsx";
import { Section } from "../../ui/card.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { Notice } from "../../ui/states.tsx";
import { useAttempt } from "../../use-attempt.ts";
import { type KeysChoice, KeysChoiceField } from "./keys-choice.tsx";

export function ExportSection() {
  const attempt = useAttempt();
  const download = () =>
    void attempt.run(async () => {
      const answer = await send("GET /api/account/export");
      saveFile(t.fileName, await answer.blob());
    });
  return (
    <Section
      title={t.exportTitle}
      description={t.exportText}
      actions={
        <Button loading={attempt.isBusy} onClick={download}>
          {t.export}
        </Button>
      }
    >
      {attempt.error !== undefined && <Notice tone="bad">{problemText(attempt.error, attempt.waitSeconds)}</Notice>}
    </Section>
  );
}

export function DeleteSection({ person }: { readonly person: Person }) {
  const withProof = useProof();
  const attempt = useAttempt();
  const [isOpen, setOpen] = useState(false);
  const [keys, setKeys] = useState<KeysChoice>();

  const remove = async () => {
    // One dialog at a time: the proof is asked for in its own.
    setOpen(false);
    const isDone = await attempt.run(async () => {
      const accepts = person.hasPassword ? (["password", "code"] as const) : (["code", "fresh"] as const);
      const isDeleted = await withProof(
        async (proof) => {
          const body = { ...proof, ...(keys !== undefined && { keys }) };
          await call("DELETE /api/account", { body });
        },
        { accepts, lead: t.proofLead },
      );
      if (isDeleted) location.assign("/app/sign-in");
    });
    if (!isDone) setOpen(true);
  };
  const isUndecided = attempt.error instanceof ApiError && attempt.error.code === "keys_undecided";
  const asksKeys = keys !== undefined || isUndecided;

  return (
    <Section
      title={t.deleteTitle}
      description={t.deleteText}
      danger
      actions={
        <Button variant="danger" loading={attempt.isBusy} onClick={() => setOpen(true)}>
          {t.delete}
        </Button>
      }
    >
      <ConfirmDialog
        open={isOpen}
        onClose={() => {
          attempt.clear();
          setOpen(false);
        }}
        onConfirm={() => void remove()}
        title={t.deleteDialog}
        description={t.deleteDialogText}
        confirmLabel={t.delete}
        cancelLabel={accountTexts.cancel}
        closeLabel={accountTexts.close}
        typeToConfirm={{ text: person.email, label: t.typeEmail(person.email), mismatch: t.mismatch }}
        error={attempt.error === undefined ? undefined : messageOf(attempt.error)}
      >
        {asksKeys && <KeysChoiceField value={keys} onValueChange={setKeys} />}
      </ConfirmDialog>
    </Section>
  );
}
