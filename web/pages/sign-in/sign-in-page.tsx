import KeyRound from "lucide-react/icons/key-round";
import { useState } from "react";
import { ApiError, call } from "../../api/call.ts";
import type { SignInOptions, SignInResult } from "../../api/generated.ts";
import { writeDraft } from "../../forms.ts";
import { browserHasPasskeys, passkeyTrouble, rememberPasskeyUse, signWithCredential } from "../../passkeys.ts";
import { signInTexts as t, visitorTexts } from "../../texts/sign-in.ts";
import { Checkbox } from "../../ui/checkbox.tsx";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { useAttempt } from "../../use-attempt.ts";
import { useForm } from "../../use-form.ts";
import { isEmail, isGiven } from "./checks.ts";
import { emailDraft } from "./email-draft.ts";
import { useOptions } from "./options.ts";
import { SecondStep } from "./second-step.tsx";
import { useSuggestedPasskey } from "./use-suggested-passkey.ts";
import { Action, Note, PasswordField, ProblemNote, textLink, VisitorPage } from "./visitor-page.tsx";
import { afterSignIn, hasEnded, keepReturn } from "./where-to.ts";

const go = () => location.assign(afterSignIn());

export function SignInPage() {
  const options = useOptions();
  const [token, setToken] = useState<string>();
  const [why, setWhy] = useState<unknown>();
  if (options === undefined) return null;
  if (token !== undefined) {
    const again = (error?: unknown) => {
      setWhy(error);
      setToken(undefined);
    };
    return <SecondStep token={token} onSignedIn={go} onAgain={again} />;
  }
  const firstStep = ({ result, token: next }: SignInResult) => (result === "signed_in" ? go() : setToken(next ?? ""));
  return <FirstStep options={options} before={why} onAnswer={firstStep} />;
}

interface FirstStepProps {
  readonly options: SignInOptions;
  /** Why the second step did not work. */
  readonly before: unknown;
  readonly onAnswer: (answer: SignInResult) => void;
}

function FirstStep({ options, before, onAnswer }: FirstStepProps) {
  const [remember, setRemember] = useState(false);
  const form = useForm({ email: emailDraft(), password: "" }, { email: isEmail, password: isGiven });
  const other = useAttempt();
  const { email } = form.values;
  const { waitSeconds } = form.attempt;
  const failure = form.problem ?? other.error ?? (form.attempt.isBusy ? undefined : before);
  const isCompany = failure instanceof ApiError && failure.code === "company_sign_in";
  const offersPasskeys = options.passkeys && browserHasPasskeys();
  const suggestion = useSuggestedPasskey(offersPasskeys, (credential) => {
    void other.run(async () => onAnswer(await call("POST /api/auth/passkey/finish", { body: { credential } })));
  });

  const send = form.submit(async (values) => {
    other.clear();
    writeDraft("sign-in-email", values.email);
    try {
      onAnswer(await call("POST /api/auth/sign-in", { body: { ...values, email: values.email.trim(), remember } }));
    } catch (error) {
      document.querySelector<HTMLInputElement>("input[name=password]")?.select();
      throw error;
    }
  });

  const withPasskey = () => {
    form.attempt.clear();
    suggestion.stop();
    void other.run(async () => {
      const credential = await signWithCredential(await call("POST /api/auth/passkey/begin"));
      rememberPasskeyUse();
      onAnswer(await call("POST /api/auth/passkey/finish", { body: { credential, remember } }));
    });
  };

  const withCompany = () => {
    form.attempt.clear();
    void other.run(async () => {
      const returnTo = afterSignIn();
      const given = email.trim();
      const { url } = await call("POST /api/auth/oidc/begin", {
        body: {
          remember,
          returnTo: returnTo.length > returnMost ? "/app/" : returnTo,
          ...(given !== "" && isEmail(given) === undefined && { email: given }),
        },
      });
      location.assign(url);
    });
  };

  return (
    <VisitorPage title={t.title}>
      {options.setUp && <Note>{[t.notSetUp]}</Note>}
      {hasEnded() && <Note>{[t.ended]}</Note>}
      <CompanyProblem />
      <form onSubmit={send} noValidate className="grid gap-5">
        <SignInProblem error={failure} waitSeconds={Math.max(waitSeconds, other.waitSeconds)} mail={options.mail} />
        {isCompany && options.company && (
          <Action type="button" busy={other.isBusy} onClick={withCompany}>
            {t.company(options.company.name)}
          </Action>
        )}
        <Field label={visitorTexts.email} error={form.error("email")}>
          <Input
            size="lg"
            type="email"
            autoComplete={offersPasskeys ? "username webauthn" : "username"}
            autoFocus={email === ""}
            {...form.input("email")}
          />
        </Field>
        <PasswordField
          error={form.error("password")}
          autoFocus={email !== ""}
          remark={
            <a
              href={keepReturn("/app/reset")}
              onClick={() => writeDraft("sign-in-email", email)}
              className={`${textLink} inline-block max-sm:mb-2`}
            >
              {t.forgot}
            </a>
          }
          {...form.input("password")}
        />
        <Checkbox label={t.remember} checked={remember} onCheckedChange={setRemember} />
        <Action type="submit" busy={form.attempt.isBusy} variant={isCompany ? "secondary" : "primary"}>
          {t.submit}
        </Action>
      </form>
      {(offersPasskeys || options.company) && (
        <div className="grid gap-2.5">
          <Divider />
          {options.company && !isCompany && (
            <Action variant="secondary" busy={other.isBusy && !offersPasskeys} onClick={withCompany}>
              {t.company(options.company.name)}
            </Action>
          )}
          {offersPasskeys && (
            <Action variant="secondary" busy={other.isBusy} onClick={withPasskey}>
              <KeyRound aria-hidden />
              {t.passkey}
            </Action>
          )}
        </div>
      )}
      <p className="text-12 text-text-3">
        {options.signUp !== "invitation" && options.mail ? (
          <>
            {t.noAccount}{" "}
            <a href={keepReturn("/app/sign-up")} className={textLink}>
              {t.signUp}
            </a>
          </>
        ) : (
          t.byInvitation
        )}
      </p>
    </VisitorPage>
  );
}

/** The API takes paths up to this length. */
const returnMost = 500;

interface SignInProblemProps {
  readonly error: unknown;
  readonly waitSeconds: number;
  readonly mail: boolean;
}

function SignInProblem({ error, waitSeconds, mail }: SignInProblemProps) {
  const trouble = passkeyTrouble(error);
  if (trouble !== undefined) {
    return <Note tone="bad">{[trouble === "cancelled" ? t.passkeyCancelled : t.passkeyFailed]}</Note>;
  }
  return (
    <ProblemNote error={error} waitSeconds={waitSeconds}>
      {waitSeconds > 0 && mail && (
        <a href={keepReturn("/app/reset")} className={textLink}>
          {t.resetInstead}
        </a>
      )}
    </ProblemNote>
  );
}

/** Why the company's provider sent the browser back here: `?company=…`. Only known words have a sentence. */
function CompanyProblem() {
  const why = new URLSearchParams(location.search).get("company");
  if (why === null) return null;
  const known: Readonly<Record<string, string>> = t.companyFailed;
  return <Note tone="bad">{[Object.hasOwn(known, why) ? (known[why] ?? "") : t.companyFailed.other]}</Note>;
}

function Divider() {
  return (
    <div className="flex items-center gap-3 text-12 text-text-3 before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
      {visitorTexts.or}
    </div>
  );
}
