import { useState } from "react";
import { ApiError, call } from "../../api/call.ts";
import { resetTexts as t, visitorTexts } from "../../texts/sign-in.ts";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { useForm } from "../../use-form.ts";
import { isEmail, isLongEnough } from "./checks.ts";
import { emailDraft } from "./email-draft.ts";
import { useOptions } from "./options.ts";
import { SecondStep } from "./second-step.tsx";
import { Action, ActionLink, Command, PasswordField, ProblemNote, VisitorPage } from "./visitor-page.tsx";
import { afterSignIn, keepReturn } from "./where-to.ts";

const go = () => location.assign(afterSignIn());

/** Without a token: asks for a link. With the link: a new password. */
export function ResetPage() {
  const options = useOptions();
  const token = location.hash.slice(1);
  if (options === undefined) return null;
  if (token !== "") return <NewPassword token={token} mail={options.mail} />;
  return options.mail ? <AskForReset /> : <AskOperator />;
}

function Back() {
  return (
    <ActionLink variant="secondary" href={keepReturn("/app/sign-in")}>
      {t.back}
    </ActionLink>
  );
}

function AskOperator() {
  const email = emailDraft();
  return (
    <VisitorPage title={t.noMailTitle} lead={t.noMailText}>
      <Command label={t.command}>{`quicklink user reset-password ${email === "" ? "EMAIL" : email}`}</Command>
      <Back />
    </VisitorPage>
  );
}

function AskForReset() {
  const [sent, setSent] = useState<string>();
  const form = useForm({ email: emailDraft() }, { email: isEmail });
  if (sent !== undefined) {
    return (
      <VisitorPage title={t.sentTitle} lead={t.sentText(sent)}>
        <Back />
      </VisitorPage>
    );
  }
  const send = form.submit(async ({ email }) => {
    await call("POST /api/auth/reset", { body: { email: email.trim() } });
    setSent(email.trim());
  });
  return (
    <VisitorPage title={t.title} lead={t.lead}>
      <form onSubmit={send} noValidate className="grid gap-5">
        <ProblemNote error={form.problem} waitSeconds={form.attempt.waitSeconds} />
        <Field label={visitorTexts.email} error={form.error("email")}>
          <Input size="lg" type="email" autoComplete="username" autoFocus {...form.input("email")} />
        </Field>
        <Action busy={form.attempt.isBusy}>{t.submit}</Action>
      </form>
      <Back />
    </VisitorPage>
  );
}

function NewPassword({ token, mail }: { readonly token: string; readonly mail: boolean }) {
  const [isGone, setGone] = useState(false);
  const [step, setStep] = useState<string>();
  const form = useForm({ password: "" }, { password: isLongEnough });
  if (step !== undefined) {
    return <SecondStep token={step} onSignedIn={go} onAgain={() => location.assign("/app/sign-in")} />;
  }
  if (isGone) {
    return (
      <VisitorPage title={t.goneTitle} lead={mail ? t.goneText : `${t.goneText} ${t.goneAsk}`}>
        <ActionLink href={mail ? "/app/reset" : "/app/sign-in"}>{mail ? t.newLink : t.back}</ActionLink>
      </VisitorPage>
    );
  }
  const send = form.submit(async ({ password }) => {
    try {
      const { result, token: next } = await call("POST /api/auth/reset/complete", { body: { token, password } });
      if (result === "signed_in") go();
      else setStep(next ?? "");
    } catch (error) {
      if (error instanceof ApiError && error.code === "token_invalid") return setGone(true);
      throw error;
    }
  });
  return (
    <VisitorPage title={t.completeTitle} lead={t.completeLead}>
      <form onSubmit={send} noValidate className="grid gap-5">
        <ProblemNote error={form.problem} waitSeconds={form.attempt.waitSeconds} />
        <PasswordField
          label={visitorTexts.newPassword}
          isNew
          autoFocus
          error={form.error("password")}
          {...form.input("password")}
        />
        <Action busy={form.attempt.isBusy}>{t.complete}</Action>
      </form>
    </VisitorPage>
  );
}
