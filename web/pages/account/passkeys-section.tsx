import { useQuery, useQueryClient } from "@tanstack/react-query";
import KeyRound from "lucide-react/icons/key-round";
import { useState } from "react";
import { call } from "../../api/call.ts";
import type { Passkey } from "../../api/generated.ts";
import { listQuery, refresh } from "../../api/queries.ts";
import { formatDate, formatDateTime, formatRelative } from "../../format.ts";
import { messageOf } from "../../forms.ts";
import { browserHasPasskeys, makeCredential, passkeyTrouble, rememberPasskeyUse } from "../../passkeys.ts";
import { problemText } from "../../problem-text.ts";
import { useProof } from "../../proof.tsx";
import { accountTexts, passkeyTexts as t } from "../../texts/account.ts";
import { Button } from "../../ui/button.tsx";
import { Section } from "../../ui/card.tsx";
import { ConfirmDialog, Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { Notice } from "../../ui/states.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useAttempt } from "../../use-attempt.ts";
import { useForm } from "../../use-form.ts";
import { AccountList, AccountRow } from "./account-list.tsx";
import { FormProblem } from "./form-problem.tsx";

export function PasskeysSection() {
  const queries = useQueryClient();
  const toast = useToast();
  const withProof = useProof();
  const query = useQuery(listQuery("", "GET /api/account/passkeys"));
  const attempt = useAttempt();
  const [renamed, setRenamed] = useState<Passkey>();
  const [removed, setRemoved] = useState<Passkey>();
  const changed = () => refresh(queries, "/api/account/passkeys");

  const add = () =>
    void attempt.run(async () => {
      const isDone = await withProof(async (body) => {
        const options = await call("POST /api/account/passkeys/begin", { body });
        await call("POST /api/account/passkeys", { body: { credential: await makeCredential(options) } });
      });
      if (!isDone) return;
      rememberPasskeyUse();
      toast({ message: t.added });
      await changed();
    });

  return (
    <Section
      title={accountTexts.passkeys}
      description={t.text}
      actions={
        <Button
          loading={attempt.isBusy}
          onClick={add}
          disabledReason={browserHasPasskeys() ? undefined : t.unsupported}
        >
          {t.add}
        </Button>
      }
    >
      {attempt.error !== undefined && <Notice tone="bad">{textOf(attempt.error, attempt.waitSeconds)}</Notice>}
      <AccountList label={accountTexts.passkeys} query={query} empty={t.none}>
        {(passkey: Passkey) => (
          <AccountRow
            key={passkey.id}
            mark={<KeyRound />}
            title={passkey.name}
            text={<PasskeyTimes passkey={passkey} />}
            actions={
              <>
                <Button
                  size="sm"
                  variant="quiet"
                  aria-label={t.renameLabel(passkey.name)}
                  onClick={() => setRenamed(passkey)}
                >
                  {t.rename}
                </Button>
                <Button
                  size="sm"
                  variant="danger"
                  aria-label={t.removeLabel(passkey.name)}
                  onClick={() => setRemoved(passkey)}
                >
                  {t.remove}
                </Button>
              </>
            }
          />
        )}
      </AccountList>
      {renamed && (
        <RenameDialog
          passkey={renamed}
          onClose={() => setRenamed(undefined)}
          onDone={async () => {
            setRenamed(undefined);
            await changed();
          }}
        />
      )}
      {removed && (
        <RemovePasskey
          passkey={removed}
          onClose={() => setRemoved(undefined)}
          onDone={async () => {
            toast({ message: t.removed });
            await changed();
          }}
        />
      )}
    </Section>
  );
}

function PasskeyTimes({ passkey: { createdAt, lastUsedAt } }: { readonly passkey: Passkey }) {
  return (
    <>
      {t.created(formatDate(createdAt))},{" "}
      {lastUsedAt === null ? (
        t.neverUsed
      ) : (
        <span title={formatDateTime(lastUsedAt)}>{t.used(formatRelative(lastUsedAt))}</span>
      )}
    </>
  );
}

function textOf(error: unknown, waitSeconds: number): string {
  const trouble = passkeyTrouble(error);
  if (trouble === undefined) return problemText(error, waitSeconds);
  return { cancelled: t.cancelled, known: t.known, other: t.failed }[trouble];
}

interface OfPasskey {
  readonly passkey: Passkey;
  readonly onClose: () => void;
  readonly onDone: () => Promise<void>;
}

function RenameDialog({ passkey, onClose, onDone }: OfPasskey) {
  const check = (value: string) => (value.trim() === "" ? t.required : undefined);
  const form = useForm({ name: passkey.name }, { name: check }, `passkey:${passkey.id}`);
  const send = form.submit(async (body) => {
    await call("PATCH /api/account/passkeys/{id}", { path: { id: passkey.id }, body });
    form.done();
    await onDone();
  });
  return (
    <Dialog open onClose={onClose} title={t.renameTitle} closeLabel={accountTexts.close}>
      <form onSubmit={send} noValidate className="grid gap-4 pb-4">
        <FormProblem form={form} />
        <Field label={t.name} error={form.error("name")}>
          <Input {...form.input("name")} />
        </Field>
        <div className="flex justify-end gap-2">
          <Button
            onClick={() => {
              form.discard();
              onClose();
            }}
          >
            {accountTexts.cancel}
          </Button>
          <Button type="submit" variant="primary" loading={form.attempt.isBusy}>
            {accountTexts.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function RemovePasskey({ passkey, onClose, onDone }: OfPasskey) {
  const withProof = useProof();
  const attempt = useAttempt();
  // Closed while the proof is asked for: one dialog at a time.
  const [isOpen, setOpen] = useState(true);
  const remove = async () => {
    setOpen(false);
    const isDone = await attempt.run(async () => {
      const isRemoved = await withProof(async (body) => {
        await call("DELETE /api/account/passkeys/{id}", { path: { id: passkey.id }, body });
      });
      if (isRemoved) await onDone();
    });
    if (isDone) onClose();
    else setOpen(true);
  };
  return (
    <ConfirmDialog
      open={isOpen}
      onClose={onClose}
      onConfirm={() => void remove()}
      title={t.removeTitle(passkey.name)}
      description={t.removeText}
      confirmLabel={t.remove}
      cancelLabel={accountTexts.cancel}
      closeLabel={accountTexts.close}
      error={attempt.error === undefined ? undefined : messageOf(attempt.error)}
    />
  );
}
