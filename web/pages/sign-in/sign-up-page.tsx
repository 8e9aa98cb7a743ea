import { useState } from "react";
import { ApiError, call } from "../../api/call.ts";
import { signUpTexts as t, visitorTexts } from "../../texts/sign-in.ts";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { useForm } from "../../use-form.ts";
import { isEmail, isGiven, isLongEnough } from "./checks.ts";
import { emailDraft } from "./email-draft.ts";
import { useOptions } from "./options.ts";
import { SecondStep } from "./second-step.tsx";
import { Action, ActionLink, PasswordField, ProblemNote, textLink, VisitorPage } from "./visitor-page.tsx";
import { afterSignIn, keepReturn } from "./where-to.ts";

const go = () => location.assign(afterSignIn());

/** Without a token: asks for a link. With the link of the mail: creates the account. */
export function SignUpPage() {
  const options = useOptions();
  const [isClosed, setClosed] = useState(false);
  const token = location.hash.slice(1);
  if (options === undefined) return null;
  if (isClosed || (token === "" && (options.signUp === "invitation" || !options.mail))) {
    return (
      <VisitorPage title={t.closedTitle} lead={t.closedText}>
        <ActionLink href="/app/sign-in">{visitorTexts.toSignIn}</ActionLink>
      </VisitorPage>
    );
  }
  if (token === "") return <AskForLink onClosed={() => setClosed(true)} />;
  return <NewAccount token={token} onClosed={() => setClosed(true)} />;
}

function AskForLink({ onClosed }: { readonly onClosed: () => void }) {
  const [sent, setSent] = useState<string>();
  const form = useForm({ email: emailDraft() }, { email: isEmail });
  if (sent !== undefined) {
    return (
      <VisitorPage title={t.sentTitle} lead={t.sentText(sent)}>
        <ActionLink variant="secondary" href="/app/sign-in">
          {visitorTexts.toSignIn}
        </ActionLink>
      </VisitorPage>
    );
  }
  const send = form.submit(async ({ email }) => {
    try {
      await call("POST /api/auth/sign-up", { body: { email: email.trim() } });
      setSent(email.trim());
    } catch (error) {
      if (error instanceof ApiError && error.code === "sign_up_closed") return onClosed();
      throw error;
    }
  });
  return (
    <VisitorPage title={t.title} lead={t.lead}>
      <form onSubmit={send} noValidate className="grid gap-5">
        <ProblemNote error={form.problem} waitSeconds={form.attempt.waitSeconds} />
        <Field label={visitorTexts.email} error={form.error("email")}>
          <Input size="lg" type="email" autoComplete="email" autoFocus {...form.input("email")} />
        </Field>
        <Action busy={form.attempt.isBusy}>{t.submit}</Action>
      </form>
      <p className="text-12 text-text-3">
        {t.haveAccount}{" "}
        <a href={keepReturn("/app/sign-in")} className={textLink}>
          {visitorTexts.signIn}
        </a>
      </p>
    </VisitorPage>
  );
}

function NewAccount({ token, onClosed }: { readonly token: string; readonly onClosed: () => void }) {
  const [isGone, setGone] = useState(false);
  const [step, setStep] = useState<string>();
  const form = useForm({ name: "", password: "" }, { name: isGiven, password: isLongEnough });
  if (step !== undefined) {
    return <SecondStep token={step} onSignedIn={go} onAgain={() => location.assign("/app/sign-in")} />;
  }
  if (isGone) {
    return (
      <VisitorPage title={t.goneTitle} lead={t.goneText}>
        <ActionLink href="/app/sign-up">{t.newLink}</ActionLink>
      </VisitorPage>
    );
  }
  const send = form.submit(async (values) => {
    try {
      const { result, token: next } = await call("POST /api/auth/sign-up/complete", { body: { token, ...values } });
      if (result === "signed_in") go();
      else setStep(next ?? "");
    } catch (error) {
      if (error instanceof ApiError && error.code === "token_invalid") return setGone(true);
      if (error instanceof ApiError && error.code === "sign_up_closed") return onClosed();
      throw error;
    }
  });
  return (
    <VisitorPage title={t.completeTitle} lead={t.completeLead}>
      <form onSubmit={send} noValidate className="grid gap-5">
        <ProblemNote error={form.problem} waitSeconds={form.attempt.waitSeconds}>
          <a href="/app/sign-in" className={textLink}>
            {visitorTexts.toSignIn}
          </a>
        </ProblemNote>
        <Field label={visitorTexts.name} error={form.error("name")}>
          <Input size="lg" autoComplete="name" autoFocus {...form.input("name")} />
        </Field>
        <PasswordField isNew error={form.error("password")} {...form.input("password")} />
        <Action busy={form.attempt.isBusy}>{t.complete}</Action>
      </form>
    </VisitorPage>
  );
}
