import { useState } from "react";
import { ApiError, call } from "../../api/call.ts";
import type { SignInOptions } from "../../api/generated.ts";
import { writeDraft } from "../../forms.ts";
import { signInTexts, invitationTexts as t, visitorTexts } from "../../texts/sign-in.ts";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { useAttempt } from "../../use-attempt.ts";
import { useForm } from "../../use-form.ts";
import { isEmail, isGiven, isLongEnough } from "./checks.ts";
import { invitationLead, isInvalid, type OpenedInvitation } from "./opened-invitation.ts";
import { SecondStep } from "./second-step.tsx";
import { Action, PasswordField, ProblemNote, textLink, VisitorPage } from "./visitor-page.tsx";
import { forgetToken, signInFor } from "./where-to.ts";

interface JoinAsNewPersonProps {
  readonly opened: OpenedInvitation;
  readonly options: SignInOptions;
  readonly onGone: () => void;
}

function joined(): void {
  forgetToken("invitation");
  location.assign("/app/");
}

/** Not signed in: a new account, the one that somebody has, or the company's. */
export function JoinAsNewPerson({ opened: { token, invitation }, options, onGone }: JoinAsNewPersonProps) {
  // With a mail server, a link for anybody asks the mailbox first.
  const asksMailbox = options.mail && invitation.email === null;
  const [step, setStep] = useState<string>();
  const [sent, setSent] = useState<string>();
  const company = useAttempt();
  const form = useForm(
    { email: invitation.email ?? "", name: "", password: "" },
    { email: isEmail, ...(!asksMailbox && { name: isGiven, password: isLongEnough }) },
  );
  const isTaken = form.problem instanceof ApiError && form.problem.code === "email_taken";
  const signIn = () => {
    if (form.values.email !== "") writeDraft("sign-in-email", form.values.email);
    signInFor("invitation", token);
  };

  if (step !== undefined) {
    return <SecondStep token={step} onSignedIn={joined} onAgain={() => location.assign("/app/sign-in")} />;
  }
  if (sent !== undefined) return <VisitorPage title={t.sentTitle} lead={t.sentText(sent)} />;

  const send = form.submit(async ({ email, name, password }) => {
    const given = invitation.email === null ? { email: email.trim() } : {};
    try {
      const { result, token: next } = await call("POST /api/auth/invitations/{token}/accept", {
        path: { token },
        body: asksMailbox ? given : { ...given, name, password },
      });
      if (result === "mailed") setSent(email.trim());
      else if (result === "signed_in") joined();
      else setStep(next ?? "");
    } catch (error) {
      if (isInvalid(error)) return onGone();
      throw error;
    }
  });

  const withCompany = () =>
    void company.run(async () => {
      writeDraft("token:invitation", token);
      const email = invitation.email === null ? {} : { email: invitation.email };
      const { url } = await call("POST /api/auth/oidc/begin", { body: { returnTo: "/app/invitation", ...email } });
      location.assign(url);
    });

  return (
    <VisitorPage title={t.title(invitation.workspace)} lead={invitationLead(invitation)}>
      <form onSubmit={send} noValidate className="grid gap-5">
        <ProblemNote
          error={isTaken ? undefined : (form.problem ?? company.error)}
          waitSeconds={Math.max(form.attempt.waitSeconds, company.waitSeconds)}
        />
        <Field
          label={visitorTexts.email}
          error={isTaken ? t.taken : form.error("email")}
          hint={asksMailbox ? t.emailLead : undefined}
        >
          <Input
            size="lg"
            type="email"
            autoComplete="username"
            readOnly={invitation.email !== null}
            className={invitation.email === null ? undefined : "bg-sunken!"}
            autoFocus={invitation.email === null}
            {...form.input("email")}
          />
        </Field>
        {!asksMailbox && (
          <>
            <Field label={visitorTexts.name} error={form.error("name")}>
              <Input size="lg" autoComplete="name" autoFocus={invitation.email !== null} {...form.input("name")} />
            </Field>
            <PasswordField isNew error={form.error("password")} {...form.input("password")} />
          </>
        )}
        <Action busy={form.attempt.isBusy}>{asksMailbox ? t.sendLink : t.create}</Action>
        {options.company && (
          <Action variant="secondary" busy={company.isBusy} onClick={withCompany}>
            {signInTexts.company(options.company.name)}
          </Action>
        )}
      </form>
      <p className="text-12 text-text-3">
        {t.haveAccount}{" "}
        <button type="button" onClick={signIn} className={textLink}>
          {visitorTexts.signIn}
        </button>
      </p>
    </VisitorPage>
  );
}
