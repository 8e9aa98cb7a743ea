import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError, call } from "../../api/call.ts";
import { accountQuery, refresh } from "../../api/queries.ts";
import { useIntentKey } from "../../forms.ts";
import { accountTexts, ownWorkspaceTexts as t } from "../../texts/account.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Input, InputGroup } from "../../ui/input.tsx";
import { useForm } from "../../use-form.ts";
import { FormProblem } from "./form-problem.tsx";
import { slugOf } from "./slug-of.ts";

interface NewWorkspaceDialogProps {
  readonly mayCreate: boolean;
  readonly onClose: () => void;
}

export function NewWorkspaceDialog({ mayCreate, onClose }: NewWorkspaceDialogProps) {
  if (!mayCreate) {
    return (
      <Dialog
        open
        onClose={onClose}
        title={t.new}
        description={t.mayNot}
        closeLabel={accountTexts.close}
        footer={<Button onClick={onClose}>{accountTexts.close}</Button>}
      />
    );
  }
  return (
    <Dialog open onClose={onClose} title={t.new} description={t.newText} closeLabel={accountTexts.close}>
      <NewWorkspace onClose={onClose} />
    </Dialog>
  );
}

const given = (value: string) => (value.trim() === "" ? t.required : undefined);

function NewWorkspace({ onClose }: { readonly onClose: () => void }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { data: account } = useQuery(accountQuery);
  const draft = `workspace:${account?.person.id ?? ""}`;
  const form = useForm({ name: "", slug: "" }, { name: given, slug: given }, draft);
  // The address follows the name until somebody changes it.
  const [isOwnSlug, setOwnSlug] = useState(() => form.values.slug !== slugOf(form.values.name));
  const intent = useIntentKey(form.values);
  const isTaken = form.problem instanceof ApiError && form.problem.code === "name_taken";
  const [name, slug] = [form.input("name"), form.input("slug")];

  const send = form.submit(async (body) => {
    const made = await call("POST /api/account/workspaces", { body, idempotencyKey: intent.key() });
    intent.done();
    form.done();
    await refresh(queries, "/api/account");
    await navigate({ to: "/w/$workspace/start", params: { workspace: made.slug }, search: {} });
  });

  return (
    <form onSubmit={send} noValidate className="grid gap-4 pb-4">
      {!isTaken && <FormProblem form={form} />}
      <Field label={t.name} error={form.error("name")}>
        <Input
          {...name}
          maxLength={100}
          onChange={(event) => {
            name.onChange(event);
            if (!isOwnSlug) form.set({ slug: slugOf(event.target.value) });
          }}
        />
      </Field>
      <Field
        label={t.slug}
        hint={t.slugHint}
        error={form.error("slug") ?? (isTaken && form.problem instanceof ApiError ? form.problem.message : undefined)}
      >
        <InputGroup prefix="/app/w/">
          <Input
            {...slug}
            maxLength={63}
            spellCheck={false}
            autoCapitalize="off"
            autoComplete="off"
            onChange={(event) => {
              slug.onChange(event);
              setOwnSlug(event.target.value !== "");
            }}
          />
        </InputGroup>
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
          {t.create}
        </Button>
      </div>
    </form>
  );
}
