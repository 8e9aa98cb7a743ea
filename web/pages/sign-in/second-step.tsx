import { useRef, useState } from "react";
import { ApiError, call } from "../../api/call.ts";
import { secondStepTexts as t } from "../../texts/sign-in.ts";
import { Checkbox } from "../../ui/checkbox.tsx";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { useForm } from "../../use-form.ts";
import { isGiven } from "./checks.ts";
import { Action, ProblemNote, VisitorPage } from "./visitor-page.tsx";

interface SecondStepProps {
  /** Of the first step. */
  readonly token: string;
  readonly onSignedIn: () => void;
  /** It took too long, or somebody wants to begin again. */
  readonly onAgain: (why?: unknown) => void;
}

const digits = 6;

/** The code of the authenticator app, or a recovery code instead. */
export function SecondStep({ token, onSignedIn, onAgain }: SecondStepProps) {
  const [isRecovery, setRecovery] = useState(false);
  const [rememberDevice, setRemember] = useState(false);
  const form = useForm({ code: "" }, { code: isGiven });
  const element = useRef<HTMLFormElement>(null);
  const input = form.input("code");

  const send = form.submit(async ({ code }) => {
    try {
      await call("POST /api/auth/second-factor", { body: { token, code: code.trim(), rememberDevice } });
      onSignedIn();
    } catch (error) {
      if (error instanceof ApiError && error.code === "token_invalid") return onAgain(error);
      form.set({ code: "" });
      throw error;
    }
  });

  return (
    <VisitorPage title={isRecovery ? t.recoveryTitle : t.title} lead={isRecovery ? t.recoveryLead : t.lead}>
      <form ref={element} onSubmit={send} noValidate className="grid gap-4">
        <ProblemNote error={form.problem} waitSeconds={form.attempt.waitSeconds} />
        <Field label={isRecovery ? t.recoveryCode : t.code} error={form.error("code")}>
          <Input
            key={String(isRecovery)}
            size="lg"
            {...input}
            onChange={(event) => {
              input.onChange(event);
              // The sixth digit sends the form: nothing else can be wanted.
              if (isRecovery || event.target.value.replace(/\s/g, "").length !== digits) return;
              setTimeout(() => element.current?.requestSubmit(), 0);
            }}
            autoFocus
            autoComplete={isRecovery ? "off" : "one-time-code"}
            inputMode={isRecovery ? "text" : "numeric"}
            spellCheck={false}
            autoCapitalize="off"
            maxLength={isRecovery ? 60 : digits + 1}
            mono
          />
        </Field>
        <Checkbox label={t.remember} checked={rememberDevice} onCheckedChange={setRemember} />
        <Action busy={form.attempt.isBusy}>{t.submit}</Action>
        <div className="grid gap-1">
          <Action
            variant="quiet"
            onClick={() => {
              form.set({ code: "" });
              form.attempt.clear();
              setRecovery(!isRecovery);
            }}
          >
            {isRecovery ? t.useApp : t.useRecovery}
          </Action>
          <Action variant="quiet" onClick={() => onAgain()}>
            {t.again}
          </Action>
        </div>
        {isRecovery && <p className="text-12 text-text-3">{t.lost}</p>}
      </form>
    </VisitorPage>
  );
}
