import { useQueryClient } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import type { Person } from "../../api/generated.ts";
import { refresh } from "../../api/queries.ts";
import { formatDate } from "../../format.ts";
import { emailTexts, accountTexts as t } from "../../texts/account.ts";
import { Avatar } from "../../ui/avatar.tsx";
import { Section } from "../../ui/card.tsx";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useForm } from "../../use-form.ts";
import { SaveActions } from "../settings/save-actions.tsx";
import { FormProblem } from "./form-problem.tsx";

export function ProfileSection({ person }: { readonly person: Person }) {
  const queries = useQueryClient();
  const toast = useToast();
  const form = useForm(
    { name: person.name },
    { name: (value) => (value.trim() === "" ? emailTexts.required : undefined) },
    `profile:${person.id}`,
  );
  const send = form.submit(async ({ name }) => {
    await call("PATCH /api/account", { body: { name } });
    await refresh(queries, "/api/account");
    form.done();
    toast({ message: t.saved });
  });
  return (
    <form onSubmit={send} noValidate>
      <Section
        title={t.profile}
        description={t.profileText}
        actions={
          <SaveActions
            isChanged={form.values.name !== person.name}
            isSaving={form.attempt.isBusy}
            onDiscard={form.discard}
          />
        }
      >
        <FormProblem form={form} />
        <div className="flex items-end gap-4">
          <Avatar name={person.name} size="lg" />
          <Field label={t.name} error={form.error("name")} className="flex-1">
            <Input autoComplete="name" {...form.input("name")} />
          </Field>
        </div>
        <p className="text-12 text-text-3">
          {t.since(formatDate(person.createdAt))}
          {person.operator && ` · ${t.operator}`}
        </p>
      </Section>
    </form>
  );
}
