import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { messageOf } from "../forms.ts";
import { isMissingScript, reloadForScript } from "../missing-script.ts";
import { errorTexts } from "../texts/errors.ts";

/** A page that could not be shown at all. Parts of a page show their own errors. */
export function PageError({ error, reset }: { readonly error: unknown; readonly reset: () => void }) {
  const isMissing = isMissingScript(error);
  useEffect(() => {
    if (isMissing) reloadForScript();
  }, [isMissing]);
  return (
    <Told title={errorTexts.failedTitle} text={isMissing ? errorTexts.offline : messageOf(error)}>
      <button type="button" className={button} onClick={isMissing ? () => location.reload() : reset}>
        {errorTexts.tryAgain}
      </button>
    </Told>
  );
}

export function NotFound() {
  return (
    <Told title={errorTexts.notFoundTitle} text={errorTexts.notFoundText}>
      <Link to="/" search={{}} className={button}>
        {errorTexts.toOverview}
      </Link>
    </Told>
  );
}

/** Without the design system: this is part of the first script. */
const button =
  "inline-flex h-8 items-center rounded-2 border border-line-strong bg-surface px-3 font-medium hover:bg-hover";

function Told({ title, text, children }: { title: string; text: string; children: React.ReactNode }) {
  return (
    <main className="grid min-h-[60dvh] place-items-center p-6">
      <div className="max-w-[420px] text-center">
        <h1 className="text-18 font-semibold">{title}</h1>
        <p className="mt-2 mb-4 text-text-2">{text}</p>
        {children}
      </div>
    </main>
  );
}
