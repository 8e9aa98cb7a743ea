import CircleAlert from "lucide-react/icons/circle-alert";
import LoaderCircle from "lucide-react/icons/loader-circle";
import { type ReactNode, useEffect } from "react";
import { problemText } from "../../problem-text.ts";
import { visitorTexts as t } from "../../texts/sign-in.ts";
import { buttonClass } from "../../ui/button-class.ts";
import { cx } from "../../ui/class-names.ts";
import { Field } from "../../ui/field.tsx";
import { PasswordInput } from "../../ui/input.tsx";
import { Logo } from "../../ui/logo.tsx";

interface VisitorPageProps {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly children?: ReactNode;
}

/** The frame of all pages for people who are not signed in: one column in the middle. */
export function VisitorPage({ title, lead, children }: VisitorPageProps) {
  useEffect(() => {
    document.title = `${title} · ${t.product}`;
  }, [title]);
  return (
    <div className="grid min-h-dvh grid-rows-[64px_1fr_56px] px-8 max-sm:px-4">
      <header className="flex items-center">
        <Logo name={t.product} />
      </header>
      <main className="grid w-full max-w-[380px] content-start gap-5 self-center justify-self-center py-6">
        <div>
          <h1 className="text-24 font-semibold tracking-[-.02em]">{title}</h1>
          {lead && <p className="mt-1.5 text-14 text-text-2">{lead}</p>}
        </div>
        {children}
      </main>
      <footer className="flex items-center justify-end text-12 text-text-3">
        <a href="/docs" className="touch rounded-1 py-3 hover:text-text">
          {t.documentation}
        </a>
      </footer>
    </div>
  );
}

interface ActionProps extends React.ComponentProps<"button"> {
  readonly busy?: boolean | undefined;
  readonly variant?: "primary" | "secondary" | "quiet" | undefined;
}

/** As wide as the column, 40 px high. */
const action = "h-10! max-sm:h-11! text-14!";

export function Action({ busy, variant = "primary", children, className, ...rest }: ActionProps) {
  return (
    <button
      type={variant === "primary" ? "submit" : "button"}
      {...rest}
      aria-busy={busy || undefined}
      className={buttonClass({ variant, block: true, className: cx(action, className) })}
    >
      <span className={cx("inline-flex items-center gap-1.5 truncate", busy && "invisible")}>{children}</span>
      {busy && (
        <span className="absolute inset-0 grid place-items-center">
          <LoaderCircle className="animate-spin motion-reduce:animate-none" />
        </span>
      )}
    </button>
  );
}

interface ActionLinkProps {
  readonly href: string;
  readonly variant?: "primary" | "secondary" | undefined;
  readonly children: ReactNode;
}

export function ActionLink({ href, variant = "primary", children }: ActionLinkProps) {
  return (
    <a href={href} className={buttonClass({ variant, block: true, className: action })}>
      {children}
    </a>
  );
}

/** A quiet link inside a sentence. */
export const textLink = "touch rounded-1 text-accent-text underline underline-offset-2";

interface ProblemProps {
  readonly error: unknown;
  readonly waitSeconds?: number | undefined;
  /** What to do instead. */
  readonly children?: ReactNode;
}

/** What was refused for no single field, in the API's words; limits count down. */
export function ProblemNote({ error, waitSeconds = 0, children }: ProblemProps) {
  if (error === undefined) return null;
  return <Note tone="bad">{[problemText(error, waitSeconds), children]}</Note>;
}

interface NoteProps {
  readonly tone?: "quiet" | "bad" | undefined;
  readonly children: readonly [sentence: string, more?: ReactNode];
}

export function Note({ tone = "quiet", children: [sentence, more] }: NoteProps) {
  return (
    <div
      role={tone === "bad" ? "alert" : undefined}
      className={cx(
        "flex items-start gap-2.5 rounded-2 px-3 py-2.5",
        tone === "bad" ? "bg-bad-soft [&>svg]:text-bad" : "bg-sunken [&>svg]:text-text-3",
      )}
    >
      <CircleAlert className="mt-0.5" />
      <div className="grid min-w-0 flex-1 justify-items-start gap-2">
        <span>{sentence}</span>
        {more}
      </div>
    </div>
  );
}

/** A command for the terminal. */
export function Command({ label, children }: { readonly label: string; readonly children: string }) {
  return (
    <section aria-label={label} className="rounded-2 border border-line bg-sunken px-3 py-2">
      <pre className="font-mono text-12 leading-[18px] whitespace-pre-wrap">{children}</pre>
    </section>
  );
}

interface PasswordFieldProps extends Omit<React.ComponentProps<"input">, "size" | "prefix" | "className"> {
  readonly label?: string | undefined;
  readonly remark?: ReactNode;
  readonly error?: string | undefined;
  /** A new one: shows the rules, and password managers offer to make one. */
  readonly isNew?: boolean | undefined;
}

export function PasswordField({ label = t.password, remark, error, isNew = false, ...rest }: PasswordFieldProps) {
  return (
    <Field label={label} remark={remark} error={error} hint={isNew ? t.passwordHint : undefined}>
      <PasswordInput
        size="lg"
        showLabel={t.showPassword}
        hideLabel={t.hidePassword}
        autoComplete={isNew ? "new-password" : "current-password"}
        {...rest}
      />
    </Field>
  );
}

/** For a page that does something by itself first. Nothing is shown for 200 ms. */
export function Working({ label }: { readonly label: string }) {
  return (
    <p role="status" className="grid min-h-dvh animate-appear place-items-center text-text-3">
      {label}
    </p>
  );
}
