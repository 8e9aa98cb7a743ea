import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call, send as sendCall } from "../../api/call.ts";
import type { Person } from "../../api/generated.ts";
import { listQuery, refresh } from "../../api/queries.ts";
import { problemText } from "../../problem-text.ts";
import { useProof } from "../../proof.tsx";
import { accountTexts, emailTexts as t } from "../../texts/account.ts";
import { Button } from "../../ui/button.tsx";
import { Section } from "../../ui/card.tsx";
import { Badge } from "../../ui/chip.tsx";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { Notice } from "../../ui/states.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useAttempt } from "../../use-attempt.ts";
import { useForm } from "../../use-form.ts";
import { FormProblem } from "./form-problem.tsx";

export function EmailSection({ person }: { readonly person: Person }) {
  const queries = useQueryClient();
  const toast = useToast();
  const withProof = useProof();
  const [sentTo, setSentTo] = useState<string>();
  const form = useForm({ email: "" }, { email: (value) => check(value, person.email) }, `email:${person.id}`);

  const send = form.submit(async ({ email: typed }) => {
    const email = typed.trim();
    let isMailed = false;
    const accepts = person.hasPassword ? (["password"] as const) : (["fresh"] as const);
    const isDone = await withProof(
      async ({ password }) => {
        const body = { email, ...(password !== undefined && { password }) };
        isMailed = (await sendCall("POST /api/account/email", { body })).status === 202;
      },
      { accepts, lead: t.proof },
    );
    if (!isDone) return;
    form.done();
    if (isMailed) setSentTo(email);
    else toast({ message: t.changed });
    await refresh(queries, "/api/account");
  });

  return (
    <form onSubmit={send} noValidate>
      <Section
        title={accountTexts.email}
        description={t.text}
        actions={
          <Button type="submit" loading={form.attempt.isBusy}>
            {t.change}
          </Button>
        }
      >
        <Current person={person} />
        {sentTo !== undefined && <Notice>{t.mailed(sentTo)}</Notice>}
        <FormProblem form={form} />
        <Field label={t.new} error={form.error("email")}>
          <Input type="email" autoComplete="email" {...form.input("email")} />
        </Field>
      </Section>
    </form>
  );
}

function check(value: string, current: string): string | undefined {
  const email = value.trim();
  if (email === "") return t.required;
  if (!/^\S+@\S+$/.test(email)) return t.invalid;
  return email === current ? t.same : undefined;
}

function Current({ person }: { readonly person: Person }) {
  const { data: options } = useQuery(listQuery("", "GET /api/auth/options"));
  const [isSent, setSent] = useState(false);
  const attempt = useAttempt();
  const confirm = () =>
    void attempt.run(async () => {
      await call("POST /api/account/verification");
      setSent(true);
    });
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-2.5 gap-y-2">
        <span className="min-w-0 font-medium">{person.email}</span>
        {person.emailVerified ? (
          <Badge tone="ok">{t.confirmed}</Badge>
        ) : (
          options?.mail && <Badge tone="warn">{t.unconfirmed}</Badge>
        )}
        {!person.emailVerified && options?.mail && !isSent && (
          <Button size="sm" loading={attempt.isBusy} onClick={confirm}>
            {t.confirm}
          </Button>
        )}
      </div>
      {isSent && <Notice>{t.confirmSent(person.email)}</Notice>}
      {attempt.error !== undefined && <Notice tone="bad">{problemText(attempt.error, attempt.waitSeconds)}</Notice>}
    </>
  );
}
