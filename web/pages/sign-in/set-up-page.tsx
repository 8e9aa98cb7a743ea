import Check from "lucide-react/icons/check";
import Minus from "lucide-react/icons/minus";
import { useState } from "react";
import { ApiError, call } from "../../api/call.ts";
import type { SignInOptions } from "../../api/generated.ts";
import { setUpTexts as t, visitorTexts } from "../../texts/sign-in.ts";
import { cx } from "../../ui/class-names.ts";
import { Field } from "../../ui/field.tsx";
import { Input } from "../../ui/input.tsx";
import { useForm } from "../../use-form.ts";
import { isEmail, isGiven, isLongEnough } from "./checks.ts";
import { useOnce, useOptions } from "./options.ts";
import { Action, ActionLink, Command, PasswordField, ProblemNote, VisitorPage } from "./visitor-page.tsx";

const setUpCommand = "quicklink setup";

/** The first account of a server. The address that `quicklink setup` prints leads here. */
export function SetUpPage() {
  const options = useOptions();
  const [gone, setGone] = useState<"used" | "already">();
  const token = location.hash.slice(1);
  if (options === undefined) return null;
  if (!options.setUp || gone === "already") {
    return (
      <VisitorPage title={t.alreadyTitle} lead={t.alreadyText}>
        <ActionLink href="/app/sign-in">{visitorTexts.toSignIn}</ActionLink>
      </VisitorPage>
    );
  }
  if (token === "" || gone === "used") {
    return (
      <VisitorPage
        title={gone === "used" ? t.goneTitle : t.noTokenTitle}
        lead={gone === "used" ? t.goneText : t.noTokenText}
      >
        <Command label={t.command}>{setUpCommand}</Command>
      </VisitorPage>
    );
  }
  return <NewServer token={token} options={options} onGone={setGone} />;
}

interface NewServerProps {
  readonly token: string;
  readonly options: SignInOptions;
  readonly onGone: (why: "used" | "already") => void;
}

function NewServer({ token, options, onGone }: NewServerProps) {
  const checks = { name: isGiven, email: isEmail, password: isLongEnough };
  const form = useForm({ name: "", email: "", password: "" }, checks);

  const send = form.submit(async (values) => {
    try {
      await call("POST /api/auth/setup", { body: { token, ...values } });
    } catch (error) {
      if (error instanceof ApiError && error.code === "token_invalid") return onGone("used");
      if (error instanceof ApiError && error.code === "set_up_already") return onGone("already");
      throw error;
    }
    const { workspaces } = await call("GET /api/account");
    location.assign(workspaces[0] === undefined ? "/app/" : `/app/w/${workspaces[0].slug}/start`);
  });

  return (
    <VisitorPage title={t.title} lead={t.lead}>
      <form onSubmit={send} noValidate className="grid gap-5">
        <ProblemNote error={form.problem} waitSeconds={form.attempt.waitSeconds} />
        <Field label={visitorTexts.name} error={form.error("name")}>
          <Input size="lg" autoComplete="name" autoFocus {...form.input("name")} />
        </Field>
        <Field label={visitorTexts.email} error={form.error("email")}>
          <Input size="lg" type="email" autoComplete="username" {...form.input("email")} />
        </Field>
        <PasswordField isNew error={form.error("password")} {...form.input("password")} />
        <Action busy={form.attempt.isBusy}>{t.submit}</Action>
      </form>
      <Facts options={options} />
    </VisitorPage>
  );
}

/** What the server says about itself before anybody has signed in. */
function Facts({ options: { mail, passkeys } }: { readonly options: SignInOptions }) {
  const ready = useOnce(async () => (await fetch("/readyz")).ok);
  const facts: readonly (readonly [good: boolean, text: string])[] = [
    ...(ready.kind === "loading"
      ? []
      : [ready.kind === "loaded" && ready.value ? ([true, t.ready] as const) : ([false, t.notReady] as const)]),
    [true, t.shortLinks(location.host)],
    mail ? [true, t.mail] : [false, t.noMail],
    passkeys ? [true, t.passkeys] : [false, t.noPasskeys],
  ];
  return (
    <ul className="grid gap-1.5 text-12 text-text-3">
      {facts.map(([good, text]) => {
        const Mark = good ? Check : Minus;
        return (
          <li key={text} className="flex items-start gap-2">
            <Mark className={cx("mt-px size-3.5", good ? "text-ok" : "text-text-3")} aria-hidden />
            {text}
          </li>
        );
      })}
    </ul>
  );
}
