import { useQueryClient } from "@tanstack/react-query";
import { ApiError, call } from "../../api/call.ts";
import type { Person } from "../../api/generated.ts";
import { refresh } from "../../api/queries.ts";
import { useProof } from "../../proof.tsx";
import { accountTexts, emailTexts, passwordTexts as t } from "../../texts/account.ts";
import { Button } from "../../ui/button.tsx";
import { Section } from "../../ui/card.tsx";
import { Field } from "../../ui/field.tsx";
import { PasswordInput } from "../../ui/input.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useForm } from "../../use-form.ts";
import { isLongEnough } from "../sign-in/checks.ts";
import { FormProblem } from "./form-problem.tsx";

/** People without a password, who sign in with a passkey or their company, may add one. */
export function PasswordSection({ person }: { readonly person: Person }) {
  const queries = useQueryClient();
  const toast = useToast();
  const withProof = useProof();
  const { hasPassword } = person;
  const form = useForm(
    { current: "", password: "" },
    {
      current: (value) => (hasPassword && value === "" ? emailTexts.required : undefined),
      password: isLongEnough,
    },
  );
  const isWrong = form.problem instanceof ApiError && form.problem.code === "wrong_password";
  const send = form.submit(async ({ current, password }) => {
    const body = hasPassword ? { current, password } : { password };
    const change = () => call("POST /api/account/password", { body });
    if (hasPassword) await change();
    else if (!(await withProof(change, { accepts: ["fresh"] }))) return;
    form.set({ current: "", password: "" });
    toast({ message: t.changed });
    await refresh(queries, "/api/account");
  });
  const eye = { showLabel: t.show, hideLabel: t.hide };
  return (
    <form onSubmit={send} noValidate>
      <Section
        title={accountTexts.password}
        description={hasPassword ? t.text : t.none}
        actions={
          <Button type="submit" loading={form.attempt.isBusy}>
            {hasPassword ? t.change : t.add}
          </Button>
        }
      >
        {!isWrong && <FormProblem form={form} />}
        {/* For password managers. */}
        <input type="text" autoComplete="username" value={person.email} readOnly hidden />
        {hasPassword && (
          <Field
            label={t.current}
            error={
              form.error("current") ?? (isWrong && form.problem instanceof ApiError ? form.problem.message : undefined)
            }
          >
            <PasswordInput {...eye} {...form.input("current")} />
          </Field>
        )}
        <Field label={t.new} hint={t.hint} error={form.error("password")}>
          <PasswordInput {...eye} {...form.input("password")} autoComplete="new-password" />
        </Field>
      </Section>
    </form>
  );
}
