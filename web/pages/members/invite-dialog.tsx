import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { call } from "../../api/call.ts";
import { refresh } from "../../api/queries.ts";
import { fieldErrorsOf, focusFirstError, messageOf, useEdits, useIntentKey } from "../../forms.ts";
import { commonTexts } from "../../texts/common.ts";
import { memberTexts as t } from "../../texts/members.ts";
import { Button } from "../../ui/button.tsx";
import { RadioCards } from "../../ui/checkbox.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, FieldError, FieldSet } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { Select } from "../../ui/select.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useWorkspace } from "../../workspace.ts";
import { grantable, type Role } from "./roles.ts";

interface Fields {
  readonly email: string;
  readonly role: Role;
  readonly days: number;
}

const dayChoices = [1, 7, 30];
const dayMs = 86_400_000;

/** By mail, or as a link to pass on if there is no address or the server has no mail. */
export function InviteDialog({ onClose }: { readonly onClose: () => void }) {
  const { role: ownRole, slug } = useWorkspace();
  const queries = useQueryClient();
  const toast = useToast();
  const form = useRef<HTMLFormElement>(null);
  const edits = useEdits<Fields>(`invitation:${slug}`, { email: "", role: "member", days: 7 });
  const { email, role, days } = edits.values;
  const intent = useIntentKey({ email, role, days });
  const invite = useMutation({
    mutationFn: () =>
      call("POST /api/invitations", {
        body: {
          role,
          ...(email.trim() !== "" && { email: email.trim() }),
          expiresAt: new Date(Date.now() + days * dayMs - 60_000).toISOString(),
        },
        idempotencyKey: intent.key(),
      }),
    onMutate: () => edits.sent(),
    async onSuccess(made, _, settle) {
      settle();
      await refresh(queries, "/api/invitations");
      if (made.url !== null) return;
      toast({ message: t.sent(made.email ?? "") });
      onClose();
    },
    onError: () => focusFirstError(form.current),
  });
  if (invite.data?.url) return <InvitationLink url={invite.data.url} onClose={onClose} />;
  const errors = fieldErrorsOf(invite.error);
  const general = invite.error && Object.keys(errors).length === 0 ? messageOf(invite.error) : undefined;
  return (
    <Dialog
      open
      onClose={onClose}
      size="md"
      title={t.inviteTitle}
      closeLabel={commonTexts.close}
      footer={
        <>
          <Button
            onClick={() => {
              edits.discard();
              onClose();
            }}
          >
            {commonTexts.cancel}
          </Button>
          <Button variant="primary" loading={invite.isPending} onClick={() => form.current?.requestSubmit()}>
            {t.send}
          </Button>
        </>
      }
    >
      <form
        ref={form}
        noValidate
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!invite.isPending) invite.mutate();
        }}
      >
        <Field label={t.email} hint={t.emailHint} error={errors.email ?? general}>
          <Input
            type="email"
            value={email}
            onChange={(event) => edits.set({ email: event.target.value })}
            autoComplete="off"
          />
        </Field>
        <FieldSet legend={t.role} error={errors.role}>
          <RadioCards
            value={role}
            onValueChange={(next) => edits.set({ role: next })}
            columns={2}
            options={grantable(ownRole)
              .toReversed()
              .map((value) => ({ value, label: t.roles[value], description: t.roleHints[value] }))}
          />
        </FieldSet>
        <Field label={t.validFor} error={errors.expiresAt}>
          <Select
            value={String(days)}
            onValueChange={(value) => edits.set({ days: Number(value) })}
            options={dayChoices.map((count) => ({ value: String(count), label: t.days(count) }))}
          />
        </Field>
        {general && email.trim() === "" && <FieldError>{general}</FieldError>}
      </form>
    </Dialog>
  );
}

export function InvitationLink({ url, onClose }: { readonly url: string; readonly onClose: () => void }) {
  return (
    <Dialog
      open
      onClose={onClose}
      size="md"
      title={t.linkTitle}
      description={t.linkText}
      closeLabel={commonTexts.close}
      footer={
        <Button variant="primary" onClick={onClose}>
          {t.done}
        </Button>
      }
    >
      <CodeBlock code={url} label={t.link} copyLabel={commonTexts.copy} copiedLabel={commonTexts.copied} />
    </Dialog>
  );
}
