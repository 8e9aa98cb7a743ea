import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api/call.ts";
import type { EmailSettings } from "../../api/generated.ts";
import { refresh } from "../../api/queries.ts";
import { formatDate } from "../../format.ts";
import { messageOf, useEdits } from "../../forms.ts";
import { commonTexts } from "../../texts/common.ts";
import { emailTexts as t } from "../../texts/email.ts";
import { Button } from "../../ui/button.tsx";
import { Section } from "../../ui/card.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useWorkspace } from "../../workspace.ts";
import { SaveActions } from "../settings/save-actions.tsx";
import { useSave } from "../settings/use-save.ts";

export function SendgridSection({ settings }: { readonly settings: EmailSettings }) {
  const { slug } = useWorkspace();
  const edits = useEdits(`sendgrid:${slug}`, {
    ...{ sender: settings.sender ?? "", webhookKey: settings.webhookKey ?? "" },
  });
  const { sender, webhookKey } = edits.values;
  // A secret: not in a draft.
  const [key, setKey] = useState("");
  const queries = useQueryClient();
  const toast = useToast();
  const orNull = (text: string) => (text.trim() === "" ? null : text.trim());
  const { form, errors, isSaving, onSubmit } = useSave(
    () =>
      call("PATCH /api/email/settings", {
        body: {
          ...(orNull(sender) !== settings.sender && { sender: orNull(sender) }),
          ...(orNull(webhookKey) !== settings.webhookKey && { webhookKey: orNull(webhookKey) }),
          ...(key.trim() !== "" && { sendgridKey: key.trim() }),
        },
      }),
    { refreshes: ["/api/email"], edits, onSaved: () => setKey("") },
  );
  const failed = (error: unknown) => toast({ message: messageOf(error), tone: "bad" });
  const removeKey = useMutation({
    mutationFn: () => call("PATCH /api/email/settings", { body: { sendgridKey: null } }),
    onSuccess: () => refresh(queries, "/api/email"),
    onError: failed,
  });
  const rotate = useMutation({
    mutationFn: () => call("POST /api/email/webhook/rotate"),
    async onSuccess() {
      toast({ message: t.rotated });
      await refresh(queries, "/api/email");
    },
    onError: failed,
  });
  const isChanged =
    orNull(sender) !== settings.sender || orNull(webhookKey) !== settings.webhookKey || key.trim() !== "";
  return (
    <form ref={form} noValidate onSubmit={onSubmit}>
      <Section
        title={t.provider}
        description={t.providerText}
        actions={
          <SaveActions
            isChanged={isChanged}
            isSaving={isSaving}
            onDiscard={() => {
              edits.discard();
              setKey("");
            }}
          />
        }
      >
        <Field label={t.sender} hint={t.senderHint} error={errors.sender}>
          <Input value={sender} onChange={(event) => edits.set({ sender: event.target.value })} />
        </Field>
        <Field
          label={t.key}
          hint={
            settings.sendgrid ? t.keyStored(settings.sendgrid.hint, formatDate(settings.sendgrid.checkedAt)) : t.keyHint
          }
          error={errors.sendgridKey}
        >
          <Input
            type="password"
            value={key}
            onChange={(event) => setKey(event.target.value)}
            autoComplete="off"
            spellCheck={false}
          />
        </Field>
        {settings.sendgrid && (
          <p>
            <Button variant="danger" size="sm" loading={removeKey.isPending} onClick={() => removeKey.mutate()}>
              {t.keyRemove}
            </Button>
          </p>
        )}
        {settings.webhookUrl && (
          <div className="grid gap-2">
            <h3 className="font-medium">{t.webhook}</h3>
            <p className="text-12 text-text-3">{t.webhookText}</p>
            <CodeBlock
              code={settings.webhookUrl}
              label={t.webhookUrl}
              copyLabel={commonTexts.copy}
              copiedLabel={commonTexts.copied}
            />
            <p>
              <Button size="sm" loading={rotate.isPending} onClick={() => rotate.mutate()}>
                {t.rotate}
              </Button>
            </p>
            <Field label={t.webhookKey} error={errors.webhookKey}>
              <Input
                value={webhookKey}
                onChange={(event) => edits.set({ webhookKey: event.target.value })}
                spellCheck={false}
              />
            </Field>
          </div>
        )}
      </Section>
    </form>
  );
}
